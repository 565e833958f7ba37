import { isRecord, type JsonObject } from '../../base/json.ts'
import { ToolwrightError } from '../../error/error.ts'
import { type ApiDocument, DocumentProblem, quote } from './api-document.ts'
import { MAX_OPERATIONS, MAX_PATH_LENGTH } from './limits.ts'
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

/** Methods that `fetch` refuses. */
const FORBIDDEN: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,50}$/

/** All operations of the paths of a document. Calls `leaveOut` with a line for each one that cannot be used. */
export function findOperations(document: ApiDocument, leaveOut: (line: string) => void): FoundOperation[] {
  const { paths = {} } = document.root
  if (!isRecord(paths)) throw new ToolwrightError('INVALID_CONFIG', 'The OpenAPI document: "paths" must be an object.')
  const found: FoundOperation[] = []
  let rest = 0
  for (const path of Object.keys(paths)) {
    if (path.startsWith('x-')) continue
    try {
      if (path.length > MAX_PATH_LENGTH) throw new DocumentProblem(`it is longer than ${MAX_PATH_LENGTH} characters`)
      if (!path.startsWith('/')) throw new DocumentProblem('a path starts with "/"')
      const pathItem = readPathItem(document, paths[path])
      for (const [method, operation] of operationsOf(document, pathItem)) {
        const problem = findProblem(method, operation)
        if (problem) leaveOut(`${method} ${path} is left out: ${problem}.`)
        else if (found.length >= MAX_OPERATIONS) rest++
        else if (isRecord(operation))
          found.push({ method, path, pathItem, operation, operationId: operation.operationId })
      }
    } catch (error) {
      if (!(error instanceof DocumentProblem)) throw error
      leaveOut(`Path ${quote(path)} is left out: ${error.message}.`)
    }
  }
  if (rest > 0) leaveOut(`${rest} operations are left out: a document may have ${MAX_OPERATIONS}.`)
  return found
}

/** What a path item has beside its reference is added to the target of the reference. */
function readPathItem(document: ApiDocument, value: unknown): JsonObject {
  const target = followReferences(document, value, 'the path')
  if (!isRecord(value) || target === value) return target
  const { $ref, ...own } = value
  return Object.keys(own).length === 0 ? target : { ...target, ...own }
}

/** Pairs of method and operation. The later ones of two with the same method are dropped. */
function operationsOf({ version }: ApiDocument, pathItem: JsonObject): Map<string, unknown> {
  const operations = new Map<string, unknown>()
  for (const method of version === '3.2' ? [...METHODS, 'query'] : METHODS)
    if (Object.hasOwn(pathItem, method)) operations.set(method.toUpperCase(), pathItem[method])
  const { additionalOperations } = pathItem
  if (version === '3.2' && isRecord(additionalOperations))
    for (const method of Object.keys(additionalOperations).slice(0, MAX_OPERATIONS))
      if (!operations.has(method.toUpperCase())) operations.set(method.toUpperCase(), additionalOperations[method])
  return operations
}

function findProblem(method: string, operation: unknown): string | undefined {
  if (!TOKEN.test(method)) return 'the method is not valid'
  if (FORBIDDEN.has(method)) return 'this method cannot be sent'
  return isRecord(operation) ? undefined : 'the operation must be an object'
}
