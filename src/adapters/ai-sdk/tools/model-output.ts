// Converts the `toModelOutput` of AI SDK tools and of Toolwright tools into each other's format.

import { encodeBase64 } from '../../../core/base/base64.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import type { Part } from '../../../core/content/content.ts'
import { partsOf, withParts } from '../../../engine/context/result-parts.ts'

/** Converts an AI SDK model output to a tool result. Errors become an object with `error`, media becomes parts. */
export function fromModelOutput(output: unknown): unknown {
  if (!isRecord(output)) return output
  const { type, value, reason } = output
  switch (type) {
    case 'error-text':
    case 'error-json':
      return { error: typeof value === 'string' ? value : JSON.stringify(value ?? null) }
    case 'execution-denied':
      return { error: typeof reason === 'string' ? reason : 'The tool was not run.', errorCode: 'CANCELLED' }
    case 'content':
      return Array.isArray(value) ? fromContent(value) : null
    case 'text':
    case 'json':
      return value ?? null
    default:
      return output
  }
}

function fromContent(content: readonly unknown[]): unknown {
  const texts: string[] = []
  const parts: Part[] = []
  for (const one of content.filter(isRecord)) {
    const part = toPart(one)
    if (part) parts.push(part)
    else if (typeof one.text === 'string') texts.push(one.text)
  }
  const result = { result: texts.join('\n') }
  return parts.length ? withParts(result, parts) : result
}

/** Reads `file` (AI SDK 7), `file-data` and `image-data` (6), `media` (5), and their URL variants. */
function toPart({ type, data, url, mediaType, filename }: JsonObject): Part | undefined {
  const mimeType = typeof mediaType === 'string' ? mediaType : 'application/octet-stream'
  const named = typeof filename === 'string' ? { displayName: filename } : {}
  const tagged: JsonObject = data instanceof Uint8Array || !isRecord(data) ? { data, url } : data
  const uri = type === 'file-url' || type === 'image-url' || tagged.type === 'url' ? tagged.url : undefined
  if (uri !== undefined) return { fileData: { mimeType, fileUri: String(uri), ...named } }
  const bytes = tagged.data instanceof Uint8Array ? encodeBase64(tagged.data) : tagged.data
  return typeof bytes === 'string' ? { inlineData: { mimeType, data: bytes, ...named } } : undefined
}

type Json = null | string | number | boolean | Json[] | { [key: string]: Json | undefined }

/** What the model sees of a tool result, in the format of AI SDK 6 and 7. */
export type ModelOutput =
  | { type: 'json'; value: Json }
  | {
      type: 'content'
      value: (
        | { type: 'text'; text: string }
        | { type: 'file-data'; data: string; mediaType: string; filename?: string }
        | { type: 'file-url'; url: string; mediaType?: string }
      )[]
    }

const MODEL_OUTPUT: unique symbol = Symbol.for('toolwright.modelOutput')

/** Attaches the output of the tool's own `toModelOutput` to a result. */
export function withModelOutput(result: JsonObject, modelOutput: JsonObject): JsonObject {
  return Object.defineProperty(result, MODEL_OUTPUT, { value: modelOutput })
}

/** The `toModelOutput` of a tool for the AI SDK. It gets `{ toolCallId, input, output }`, in AI SDK 5 the output. */
export function toModelOutput(given: unknown): ModelOutput {
  const isWrapped = isRecord(given) && 'toolCallId' in given && 'output' in given
  const result = isWrapped ? given.output : given
  const output = (isRecord(result) && (result as { [MODEL_OUTPUT]?: JsonObject })[MODEL_OUTPUT]) || result
  const value = toJsonValue(output).value as Json // toJsonValue returns JSON
  const parts = partsOf(output)
  if (!parts) return { type: 'json', value }
  return { type: 'content', value: [{ type: 'text', text: JSON.stringify(value) }, ...parts.flatMap(toContent)] }
}

function toContent({ inlineData, fileData, text }: Part): Extract<ModelOutput, { type: 'content' }>['value'] {
  if (inlineData) {
    const { data, mimeType: mediaType, displayName: filename } = inlineData
    return [{ type: 'file-data', data, mediaType, ...(filename !== undefined && { filename }) }]
  }
  if (fileData) {
    const { fileUri: url, mimeType: mediaType } = fileData
    return [{ type: 'file-url', url, ...(mediaType !== undefined && { mediaType }) }]
  }
  return text ? [{ type: 'text', text }] : []
}
