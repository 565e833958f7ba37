import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { clip } from '../../../core/base/limits.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { ApiOperation, ServerTemplate } from '../operation.ts'
import { type ApiDocument, DocumentProblem, quote } from './api-document.ts'
import { findOperations } from './find-operations.ts'
import { MAX_OPERATIONS } from './limits.ts'
import { chooseOperationNames } from './operation-names.ts'
import { OperationReader } from './operation-reader.ts'
import { Problems } from './problems.ts'
import { readSpec } from './read-spec.ts'
import { readSecuritySchemes } from './security.ts'
import { operationServers, rootServers, serverVariablesOf } from './servers.ts'

/** What an OpenAPI document offers. */
export interface LoadedDocument {
  /** The title of the API. */
  readonly title: string
  /** The wanted operations that can be used. */
  readonly operations: readonly ApiOperation[]
  /** The names of all operations. */
  readonly names: readonly string[]
  /** The servers of the whole document, the first one preferred. */
  readonly servers: readonly ServerTemplate[]
  /** For a document without them: the servers of all operations. */
  readonly serverLists: readonly (readonly ServerTemplate[])[]
  /** The names of the variables in all server URLs. */
  readonly serverVariables: ReadonlySet<string>
  /** Security schemes by name, as OpenAPI 3.1 objects with local $refs resolved. */
  readonly securitySchemes: ReadonlyMap<string, JsonObject>
  /** What was left out of the wanted operations, and why, for the operator. */
  readonly problems: readonly string[]
}

/**
 * Loads an OpenAPI document: an object, JSON or YAML text, or the path or `file:` URL of a local file. A text that contains
 * a line break or starts with "{" is the document itself. References to anything outside of the document are not followed;
 * operations that need them are left out. `isWanted` chooses operations by name before they are read. Throws INVALID_CONFIG
 * if the document as a whole cannot be used.
 */
export async function loadDocument(
  spec: unknown,
  isWanted: (name: string) => boolean = () => true,
): Promise<LoadedDocument> {
  const root = await readSpec(spec)
  try {
    return load({ root, version: readVersion(root), notes: new Problems() }, isWanted)
  } catch (error) {
    if (error instanceof ToolwrightError) throw error
    // An object of the developer may have getters, or be a proxy.
    throw new ToolwrightError('INVALID_CONFIG', `The OpenAPI document cannot be read: ${messageOf(error)}.`, {
      cause: error,
    })
  }
}

function load(document: ApiDocument, isWanted: (name: string) => boolean): LoadedDocument {
  const { info } = document.root
  const leftOut = new Problems()
  const found = findOperations(document, leftOut)
  const names = chooseOperationNames(found)
  const reader = new OperationReader(document)
  const wanted = found.filter((one) => isWanted(names.get(one) ?? ''))
  const [first] = wanted.splice(MAX_OPERATIONS).map(({ method, path }) => quote(`${method} ${path}`))
  if (first) leftOut.add(`The operations from ${first} on`, ` are left out: ${TOO_MANY}`)
  const operations = wanted.flatMap((one) => {
    try {
      return [reader.read(one, names.get(one) ?? '')]
    } catch (error) {
      if (!(error instanceof DocumentProblem)) throw error
      leftOut.add(`${one.method} ${one.path}`, ` is left out: ${error.message}.`)
      return []
    }
  })
  const securitySchemes = readSecuritySchemes(document)
  return {
    title: isRecord(info) && typeof info.title === 'string' ? clip(info.title, 200) : 'API',
    operations,
    names: [...names.values()],
    servers: rootServers(document),
    serverLists: operationServers(document, found),
    serverVariables: serverVariablesOf(document, found),
    securitySchemes,
    problems: [...leftOut.list(), ...document.notes.list()],
  }
}

const TOO_MANY = `a toolset may have ${MAX_OPERATIONS}. Name those you need in toolFilter.`

function readVersion({ openapi, swagger }: JsonObject): ApiDocument['version'] {
  // YAML reads an unquoted version as a number.
  const version = [openapi, swagger].find((value) => typeof value === 'string' || typeof value === 'number')
  const [, known] = /^(3\.[012])(?:\.|$)/.exec(String(openapi === undefined ? '' : version)) ?? []
  if (known) return known as ApiDocument['version']
  if (openapi === undefined && /^2(\.0)?$/.test(String(version))) return '2.0'
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'The document must say "openapi": "3.0", "3.1" or "3.2", or "swagger": "2.0". Is it an OpenAPI document?',
  )
}
