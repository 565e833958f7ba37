// Converts a part to columns and back. Inline data is stored as bytes, which take a quarter less space than base64.
import { isRecord } from '../../core/base/json.ts'
import type { Part } from '../../core/content/content.ts'
import { damaged } from './damaged.ts'
import { fromJson, toJson } from './escaped-text.ts'

/** The columns of a stored part. */
export interface PartRow {
  /** The part as JSON, without inline data that is in `bytes`. */
  readonly part: string
  /** The decoded inline data; null when the part has none. */
  readonly bytes: Uint8Array | null
}

/** Converts a part to its columns. */
export function encodePart(part: Part): PartRow {
  const bytes = decodeBase64(part.inlineData?.data)
  if (!bytes) return { part: toJson(part, 'An artifact'), bytes: null }
  return { part: toJson({ ...part, inlineData: { ...part.inlineData, data: '' } }, 'An artifact'), bytes }
}

/** Converts columns to a part; throws STORAGE when they are damaged. */
export function decodePart({ part: text, bytes }: PartRow): Part {
  const part = fromJson(text, 'An artifact')
  if (!isRecord(part)) throw damaged('An artifact')
  if (bytes === null) return part
  if (!isRecord(part.inlineData)) throw damaged('An artifact')
  part.inlineData.data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return part
}

/** Decodes base64 that encodes to the same text again; undefined for any other text, which stays in the JSON. */
function decodeBase64(data: unknown): Uint8Array | undefined {
  if (typeof data !== 'string' || data === '') return undefined
  const bytes = Buffer.from(data, 'base64')
  return bytes.toString('base64') === data ? bytes : undefined
}
