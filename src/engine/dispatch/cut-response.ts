// Converts a result to a response object, and truncates a response that is too large.
import { isRecord, type JsonObject } from '../../core/base/json.ts'

/** The most bytes of one character as JSON in UTF-8: a control character is `\\u0001`. */
export const MOST_BYTES_A_CHARACTER = 6

/** The response for a result: an object as it is, another value as `{ result }`. */
export function responseOf(value: unknown): JsonObject {
  return isRecord(value) ? value : { result: value ?? null }
}

/** The size of a response in bytes: the estimate, or the exact size when the estimate is close to the limit. */
export function sizeOf(response: JsonObject, estimate: number, max: number): number {
  if (estimate > max || estimate * MOST_BYTES_A_CHARACTER <= max) return estimate
  return bytesOf(JSON.stringify(response))
}

/** The response in place of one that is too large: its head and tail. */
export function cutResponse(text: string, bytes: number, maxBytes: number): JsonObject {
  return { truncated: true, bytes: Math.max(bytes, text.length), ...endsOf(text, maxBytes) }
}

/** As much of both ends as fits: a quarter of the limit each, less when characters take more than one byte. */
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

/** Removes half characters at either end. */
function whole(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')
}
