import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { type ApiDocument, DocumentProblem, quote } from './api-document.ts'
import { MAX_FOUND_OPERATIONS, MAX_PATH_LENGTH } from './limits.ts'
import type { Problems } from './problems.ts'
import { followReferences } from './references.ts'

/** An operation as the document has it. */
export interface FoundOperation {
  /** The HTTP method, in upper case. */
  readonly method: string
  /** The path template. */
  readonly path: string
  /** The path item around it. */
  readonly pathItem: JsonObject
  /** The operation object. */
  readonly operation: JsonObject
  /** The name in the document. */
  readonly operationId: unknown
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

const OTHER_FIELDS = ['query', 'additionalOperations', 'parameters', 'servers', 'summary', 'description']

/** Additional operations of one path. */
const MAX_ADDITIONAL = 100

/** Methods that `fetch` refuses. */
const FORBIDDEN: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,50}$/

/** All operations of the paths of a document. Those that cannot be used are added to the problems. */
export function findOperations(document: ApiDocument, leftOut: Problems): FoundOperation[] {
  const { paths = {} } = document.root
  if (!isRecord(paths)) throw new ToolwrightError('INVALID_CONFIG', 'The OpenAPI document: "paths" must be an object.')
  const found: FoundOperation[] = []
  const names = Object.keys(paths).filter((path) => !path.startsWith('x-'))
  let dropped = 0
  const drop = (subject: string, problem: string): void => {
    dropped++
    leftOut.add(subject, ` is left out: ${problem}.`)
  }
  for (const [at, path] of names.entries()) {
    if (found.length + dropped >= MAX_FOUND_OPERATIONS) {
      const reason = `a document may have ${MAX_FOUND_OPERATIONS} operations. Split the document`
      leftOut.add(`${names.length - at} paths`, ` are left out, from ${quote(path)} on: ${reason}.`)
      break
    }
    try {
      const pathItem = readPathItem(document, path, paths[path])
      for (const [method, operation] of operationsOf(document, pathItem)) {
        const problem = findProblem(method, operation)
        if (problem) drop(`${method} ${path}`, problem)
        else if (isRecord(operation))
          found.push({ method, path, pathItem, operation, operationId: operation.operationId })
      }
    } catch (error) {
      if (!(error instanceof DocumentProblem)) throw error
      drop(`Path ${quote(path)}`, error.message)
    }
  }
  return found
}

/** What a path item has beside its reference is added to the target of the reference. */
function readPathItem(document: ApiDocument, path: string, value: unknown): JsonObject {
  if (path.length > MAX_PATH_LENGTH) throw new DocumentProblem(`it is longer than ${MAX_PATH_LENGTH} characters`)
  if (!path.startsWith('/')) throw new DocumentProblem('a path starts with "/"')
  const target = followReferences(document, value, 'the path')
  if (!isRecord(value) || target === value) return target
  const merged: JsonObject = {}
  for (const field of [...METHODS, ...OTHER_FIELDS])
    for (const source of [value, target])
      if (Object.hasOwn(source, field) && !Object.hasOwn(merged, field)) merged[field] = source[field]
  return merged
}

/** Pairs of method and operation. The later ones of two with the same method are dropped. */
function operationsOf({ version }: ApiDocument, pathItem: JsonObject): Map<string, unknown> {
  const operations = new Map<string, unknown>()
  for (const method of version === '3.2' ? [...METHODS, 'query'] : METHODS)
    if (Object.hasOwn(pathItem, method)) operations.set(method.toUpperCase(), pathItem[method])
  const { additionalOperations } = pathItem
  if (version === '3.2' && isRecord(additionalOperations))
    for (const method of Object.keys(additionalOperations).slice(0, MAX_ADDITIONAL))
      if (!operations.has(method.toUpperCase())) operations.set(method.toUpperCase(), additionalOperations[method])
  return operations
}

function findProblem(method: string, operation: unknown): string | undefined {
  if (!TOKEN.test(method)) return 'the method is not valid'
  if (FORBIDDEN.has(method)) return 'this method cannot be sent'
  return isRecord(operation) ? undefined : 'the operation must be an object'
}
