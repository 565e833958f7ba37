// Free-form objects write their members as fields of a query, a cookie header, a path segment or a form. The model chooses
// the names of these members. They must not repeat or replace what the document, the developer or another argument sends.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { ApiOperation, ApiParameter } from '../operation.ts'
import { bodyValue } from './body-value.ts'
import { splitTemplate } from './expand-path.ts'
import { namePath, pathsOf } from './field-name.ts'
import { chosenNames } from './serialize-value.ts'

/** A field that only the developer sets, such as the parameter of an API key. */
export interface OwnField {
  /** Where it is sent. */
  readonly in: 'query' | 'cookie'
  /** Its name. */
  readonly name: string
}

/** What writes fields of one place, and their names. */
interface Writer {
  /** The argument, or the property of the body. Undefined for what no argument writes. */
  readonly argument: string | undefined
  /** The names that it has by its declaration. */
  readonly declared: readonly string[]
  /** The names that its value chooses. */
  readonly chosen: readonly string[]
}

/** Throws a `ToolError` with INVALID_ARGS if a member of an argument has the name of another field. */
export function checkNames(
  operation: ApiOperation,
  values: ReadonlyMap<string, unknown>,
  ownFields: readonly OwnField[] = [],
): void {
  const own = (place: OwnField['in']): string[] => ownFields.flatMap((field) => (field.in === place ? field.name : []))
  const fixed = splitTemplate(operation.path)
    .query.split('&')
    .flatMap((pair) => pair.split('=')[0] || [])
  const query = writersOf(operation, values, ['query', 'querystring'])
  checkWriters([...query, { argument: undefined, declared: [...own('query'), ...fixed], chosen: [] }])
  const cookies = writersOf(operation, values, ['cookie'])
  checkWriters([...cookies, { argument: undefined, declared: own('cookie'), chosen: [] }])
  checkWriters(writersOf(operation, values, ['path']))
  checkWriters(bodyWriters(operation, values))
}

function writersOf(
  { parameters }: ApiOperation,
  values: ReadonlyMap<string, unknown>,
  places: readonly ApiParameter['in'][],
): Writer[] {
  return parameters.flatMap((parameter) => {
    if (!places.includes(parameter.in)) return []
    const { argument, name } = parameter
    return { argument, declared: parameter.in === 'querystring' ? [] : [name], chosen: namesIn(parameter, values) }
  })
}

function namesIn(parameter: ApiParameter, values: ReadonlyMap<string, unknown>): readonly string[] {
  const { argument, name, style, explode, contentType, in: place } = parameter
  const value = values.get(argument)
  if (place === 'querystring') return isRecord(value) ? Object.keys(value) : []
  if (contentType !== undefined || (place === 'path' && style !== 'matrix')) return []
  return chosenNames(value, { name, style, explode })
}

/** The fields of a form. Members that its schema does not declare are chosen by the model, too. */
function bodyWriters({ body, argumentsSchema }: ApiOperation, values: ReadonlyMap<string, unknown>): Writer[] {
  const value = body && bodyValue(body, values)
  if (!body || (body.kind !== 'form' && body.kind !== 'multipart') || !isRecord(value)) return []
  const known = new Set([...(body.fields ?? propertyNames(argumentsSchema)), ...body.encoding.keys()])
  const declared = [...known].map((name): Writer => {
    const { style, explode = true } = body.encoding.get(name) ?? {}
    const chosen = style === undefined ? [] : chosenNames(value[name], { name, style, explode })
    return { argument: body.fields ? name : `body.${name}`, declared: [name], chosen }
  })
  const others = Object.keys(value).filter((name) => !known.has(name))
  return [...declared, { argument: 'body', declared: [], chosen: others }]
}

/** The declared properties of the argument `body`. */
function propertyNames({ properties, $defs }: JsonObject): string[] {
  const visit = (schema: unknown, depth: number): string[] => {
    if (!isRecord(schema) || depth > MAX_DEPTH) return []
    const name = typeof schema.$ref === 'string' ? /^#\/\$defs\/(.+)$/.exec(schema.$ref)?.[1] : undefined
    const referred = name !== undefined && isRecord($defs) && Object.hasOwn($defs, name) ? $defs[name] : undefined
    const parts = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []))
    const own = isRecord(schema.properties) ? Object.keys(schema.properties) : []
    return [...own, ...[referred, ...parts].flatMap((part) => visit(part, depth + 1))]
  }
  return visit(isRecord(properties) ? properties.body : undefined, 0)
}

/** How deep the composition of a schema is followed. */
const MAX_DEPTH = 8

/** Names that are taken, with the writers that take them. */
type Taken = Map<string, Set<Writer>>

function checkWriters(writers: readonly Writer[]): void {
  if (writers.every(({ chosen }) => chosen.length === 0)) return
  const whole: Taken = new Map()
  const starts: Taken = new Map()
  for (const writer of writers)
    for (const path of [...writer.declared, ...writer.chosen].flatMap(pathsOf)) {
      add(whole, namePath(path), writer)
      for (let length = 1; length < path.length; length++) add(starts, namePath(path.slice(0, length)), writer)
    }
  for (const writer of writers)
    for (const name of writer.chosen) if (isTaken(name, writer, { whole, starts })) throw collision(writer)
}

/** Does another writer have the name, a field inside of it, or a field around it? Servers merge `a`, `a[]` and `a[b]`. */
function isTaken(name: string, writer: Writer, { whole, starts }: { whole: Taken; starts: Taken }): boolean {
  return pathsOf(name).some((path) => {
    if (hasOther(starts, namePath(path), writer)) return true
    return path.some((_, at) => hasOther(whole, namePath(path.slice(0, at + 1)), writer))
  })
}

function add(taken: Taken, key: string, writer: Writer): void {
  const writers = taken.get(key)
  if (writers) writers.add(writer)
  else taken.set(key, new Set([writer]))
}

function hasOther(taken: Taken, key: string, writer: Writer): boolean {
  const writers = taken.get(key)
  return writers !== undefined && (writers.size > 1 || !writers.has(writer))
}

function collision({ argument }: Writer): ToolError {
  const problem = `The argument "${argument}" has a member with the name of another field of the request.`
  return new ToolError(`${problem} Leave it out, or use the argument of that field.`, { code: 'INVALID_ARGS' })
}
