// A result as a response object, and the two ends of one that is too large.
import { isRecord, type JsonObject } from '../base/json.ts'

/** As JSON in UTF-8: a control character is `\\u0001`. */
export const MOST_BYTES_A_CHARACTER = 6

/** Objects as they are, anything else as `{ result }`. */
export function responseOf(value: unknown): JsonObject {
  return isRecord(value) ? value : { result: value ?? null }
}

/** The estimate, or the exact size when it might make a difference. */
export function sizeOf(response: JsonObject, estimate: number, max: number): number {
  if (estimate > max || estimate * MOST_BYTES_A_CHARACTER <= max) return estimate
  return bytesOf(JSON.stringify(response))
}

/** Head and tail of a response that is too large. */
export function cutResponse(text: string, bytes: number, maxBytes: number): JsonObject {
  return { truncated: true, bytes: Math.max(bytes, text.length), ...endsOf(text, maxBytes) }
}

/** As much of both ends as fits: half of the cap in characters, less when they take more than a byte each. */
function endsOf(text: string, maxBytes: number): { head: string; tail: string } {
  for (let keep = Math.floor(maxBytes / 4); ; keep = Math.floor(keep / 2)) {
    const ends = { head: whole(text.slice(0, keep)), tail: whole(text.slice(text.length - keep)) }
    if (keep === 0 || bytesOf(JSON.stringify(ends)) <= maxBytes) return ends
  }
}

function bytesOf(text: string): number {
  return utf8.encode(text).length
}

const utf8 = new TextEncoder()

/** Without the halves of characters that a cut leaves at either end. */
function whole(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')
}
