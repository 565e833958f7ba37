import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { RequestBody } from '../operation.ts'
import type { EncodedBody, LoadFile } from './encoded-body.ts'
import { buildMultipart } from './multipart.ts'
import { encodeReserved, encodeText } from './percent-encode.ts'
import { serializePairs, textOf } from './serialize-value.ts'

/** Encodes the argument `body`. Undefined if there is no value and none is needed. */
export async function buildBody(
  body: RequestBody,
  value: unknown,
  loadFile: LoadFile,
): Promise<EncodedBody | undefined> {
  if (value === undefined) {
    if (body.isRequired) throw invalid('The argument "body" is missing.')
    return undefined
  }
  switch (body.kind) {
    case 'json':
      return encoded(concrete(body.contentType, 'application/json'), JSON.stringify(value))
    case 'form':
      return encoded(body.contentType, formText(body, membersOf(value)))
    case 'multipart':
      return await buildMultipart(body, membersOf(value), loadFile)
    case 'text':
      if (typeof value !== 'string') throw invalid(`The argument "body" must be a string, got ${kindOf(value)}.`)
      return encoded(concrete(body.contentType, 'text/plain'), value)
    case 'binary': {
      const { bytes, mimeType } = await loadFile(value)
      return { contentType: concrete(body.contentType, mimeType), bytes }
    }
  }
}

function encoded(contentType: string, text: string): EncodedBody {
  return { contentType, bytes: new TextEncoder().encode(text) }
}

/** The media type of the document, or another one if it is a range such as `image/*`. */
function concrete(contentType: string, other: string): string {
  return contentType.includes('*') ? other : contentType
}

function membersOf(value: unknown): JsonObject {
  if (isRecord(value)) return value
  throw invalid(`The argument "body" must be an object, got ${kindOf(value)}.`)
}

function formText({ encoding }: RequestBody, members: JsonObject): string {
  return Object.entries(members)
    .flatMap(([name, value]) => {
      const { style, explode = true, allowReserved = false } = encoding.get(name) ?? {}
      const encode = allowReserved ? encodeReserved : encodeText
      if (style !== undefined) return serializePairs(value, { name, style, explode, encode, encodeName: encodeText })
      // without a style, an array is repeated and an object is JSON
      const items = (Array.isArray(value) ? value : [value]).filter((item) => item !== null && item !== undefined)
      return items.map((item) => `${encodeText(name)}=${encode(textOf(item))}`)
    })
    .join('&')
}

function invalid(message: string): ToolError {
  return new ToolError(message, { code: 'INVALID_ARGS' })
}
