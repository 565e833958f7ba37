import { nameProblem } from '../../../engine/tool/tool.ts'
import { shortHash } from './short-hash.ts'

/** What the name of an operation is made from. */
interface NamedOperation {
  /** The HTTP method. */
  readonly method: string
  /** The path template. */
  readonly path: string
  /** The name in the document, if it has one. */
  readonly operationId: unknown
}

/** Model providers refuse longer names. */
const MAX_LENGTH = 64

/** Characters of an operationId or a path that are looked at. A longer one gets a hash. */
const MAX_SOURCE = 200

/**
 * A tool name for each operation, valid and unique. Operations whose names collide all get a hash of method and path, so
 * that the name of an operation does not depend on the order of the document.
 */
export function chooseOperationNames<T extends NamedOperation>(operations: readonly T[]): Map<T, string> {
  const names = new Map(operations.map((operation) => [operation, chooseName(operation)] as const))
  const counts = new Map<string, number>()
  for (const name of names.values()) counts.set(name, (counts.get(name) ?? 0) + 1)
  const taken = new Set([...counts].filter(([, count]) => count === 1).map(([name]) => name))
  const clashing = operations.filter((operation) => (counts.get(names.get(operation) ?? '') ?? 0) > 1)
  for (const operation of clashing.toSorted(byMethodAndPath)) {
    const base = names.get(operation) ?? ''
    let name = withHash(base, operation)
    for (let i = 2; taken.has(name); i++) name = withHash(base, operation, `_${i}`)
    taken.add(name)
    names.set(operation, name)
  }
  return names
}

function chooseName(operation: NamedOperation): string {
  const { method, path, operationId } = operation
  const given = typeof operationId === 'string' ? operationId : ''
  const source = toSnakeCase(given) === '' ? `${method} ${path}` : given
  const snake = toSnakeCase(source)
  const name = nameProblem(snake) ? `op_${snake}`.replace(/^op_(?=\d)/, '_') : snake
  return source.length > MAX_SOURCE || name.length > MAX_LENGTH ? withHash(name, operation) : name
}

/** `HTTPError` becomes `http_error`, and `listPets2` becomes `list_pets2`. */
export function toSnakeCase(text: string): string {
  return text
    .slice(0, MAX_SOURCE)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase()
}

function withHash(name: string, { method, path }: NamedOperation, more = ''): string {
  const suffix = `_${shortHash(`${method} ${path}`)}${more}`
  return name.slice(0, MAX_LENGTH - suffix.length).replace(/_+$/, '') + suffix
}

function byMethodAndPath(one: NamedOperation, other: NamedOperation): number {
  const [first, second] = [`${one.method} ${one.path}`, `${other.method} ${other.path}`]
  return first < second ? -1 : first > second ? 1 : 0
}
