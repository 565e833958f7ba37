import { jsonSize, MAX_DEPTH, RESERVED_DEPTH } from '../../../core/base/json.ts'
import { isJsonType } from '../request/content-text.ts'

/** The content of a response: a JSON value, a text, or bytes that are neither. */
type Content =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly mimeType: string }

/** Reads bytes by their media type. JSON that cannot be parsed, or is nested too deeply to be recorded, is text. */
export function parseContent(bytes: Uint8Array, contentType: string | undefined): Content {
  if (bytes.length === 0) return { kind: 'value', value: null }
  const mimeType = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (isJsonType(mimeType)) return { kind: 'value', value: parseJson(decode(bytes, contentType)) }
  if (isTextType(mimeType)) return { kind: 'value', value: decode(bytes, contentType) }
  const text = mimeType === '' ? plainText(bytes) : undefined
  if (text !== undefined) return { kind: 'value', value: parseJson(text) }
  return { kind: 'bytes', mimeType: mimeType || 'application/octet-stream' }
}

function isTextType(mimeType: string): boolean {
  return /^(?:text\/.+|application\/(?:.*\+)?(?:xml|yaml|x-yaml|javascript|x-www-form-urlencoded|x-ndjson|jsonl|graphql))$/.test(
    mimeType,
  )
}

function decode(bytes: Uint8Array, contentType: string | undefined): string {
  const charset = /charset="?([\w-]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes) // an unknown charset
  }
}

/** The text of bytes without a media type; undefined if they are no text. */
function plainText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = /\d{16}/.test(text) ? JSON.parse(text, keepLargeIntegers) : JSON.parse(text)
    return jsonSize(value, Number.MAX_SAFE_INTEGER, MAX_DEPTH - RESERVED_DEPTH) < Infinity ? value : text
  } catch {
    return text
  }
}

/** An id of many digits would be rounded to another id, so it stays text. */
function keepLargeIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  const isRounded =
    typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source) && !Number.isSafeInteger(value)
  return isRounded ? source : value
}
