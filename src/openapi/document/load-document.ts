import { isRecord, type JsonObject } from '../../base/json.ts'
import { clip } from '../../base/limits.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { Operation } from '../operation.ts'
import { type ApiDocument, DocumentProblem, Notes } from './api-document.ts'
import { findOperations } from './find-operations.ts'
import { chooseOperationNames } from './operation-names.ts'
import { OperationReader } from './operation-reader.ts'
import { readSpec } from './read-spec.ts'
import { readSecuritySchemes } from './security.ts'

/** What an OpenAPI document offers. */
export interface LoadedDocument {
  /** The title of the API. */
  readonly title: string
  /** The operations that can be used. */
  readonly operations: readonly Operation[]
  /** Security schemes by name, as OpenAPI 3.1 objects with local $refs resolved. */
  readonly securitySchemes: ReadonlyMap<string, JsonObject>
  /** What was left out, and why: one line each, for the operator. */
  readonly problems: readonly string[]
}

/**
 * Loads an OpenAPI document: an object, JSON or YAML text, or the path or `file:` URL of a local file. A text that contains
 * a line break or starts with "{" is the document itself. References to anything outside of the document are not followed;
 * operations that need them are left out. Throws INVALID_CONFIG if the document as a whole cannot be used.
 */
export async function loadDocument(spec: unknown): Promise<LoadedDocument> {
  const root = await readSpec(spec)
  try {
    return load({ root, version: readVersion(root), notes: new Notes() })
  } catch (error) {
    if (error instanceof ToolwrightError) throw error
    // An object of the developer may have getters, or be a proxy.
    throw new ToolwrightError('INVALID_CONFIG', `The OpenAPI document cannot be read: ${messageOf(error)}.`, {
      cause: error,
    })
  }
}

function load(document: ApiDocument): LoadedDocument {
  const { info } = document.root
  const leftOut: string[] = []
  const found = findOperations(document, (line) => leftOut.push(line))
  const names = chooseOperationNames(found)
  const reader = new OperationReader(document)
  const operations = found.flatMap((one) => {
    try {
      return [reader.read(one, names.get(one) ?? '')]
    } catch (error) {
      if (!(error instanceof DocumentProblem)) throw error
      leftOut.push(`${one.method} ${one.path} is left out: ${error.message}.`)
      return []
    }
  })
  const securitySchemes = readSecuritySchemes(document)
  return {
    title: isRecord(info) && typeof info.title === 'string' ? clip(info.title, 200) : 'API',
    operations,
    securitySchemes,
    problems: [...leftOut, ...document.notes.list()],
  }
}

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
