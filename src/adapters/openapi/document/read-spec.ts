import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { readTextFile } from '../read.ts'
import { MAX_TEXT } from './limits.ts'
import { parseText } from './parse-text.ts'

/**
 * The document that `spec` is, holds or names. A text that contains a line break or starts with "{" is the document
 * itself, as JSON or YAML. Any other text is the path or `file:` URL of a local file. Nothing is fetched. Throws
 * INVALID_CONFIG.
 */
export async function readSpec(spec: unknown): Promise<JsonObject> {
  if (spec instanceof URL) return readSpec(spec.href)
  const document = typeof spec === 'string' ? await parseText(await toText(spec)) : spec
  if (isRecord(document)) return document
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `An OpenAPI document must be an object, JSON or YAML text, or the path of a file, got ${kindOf(document)}.`,
  )
}

async function toText(spec: string): Promise<string> {
  if (/[\r\n]/.test(spec) || /^\s*\{/.test(spec)) return spec
  if (/^[a-z][a-z0-9+.-]+:/i.test(spec) && !/^file:/i.test(spec))
    throw new ToolwrightError(
      'INVALID_CONFIG',
      'An OpenAPI document is not fetched from a URL. Fetch it and pass its text, or pass the path of a file.',
    )
  return readTextFile(/^file:/i.test(spec) ? toUrl(spec) : spec, MAX_TEXT)
}

function toUrl(text: string): URL {
  if (!URL.canParse(text)) throw new ToolwrightError('INVALID_CONFIG', 'The file: URL of the document is not valid.')
  return new URL(text)
}
