// A part on its way into the database and out again: its data as bytes, a quarter smaller than as base64.
import { isRecord } from '../base/json.ts'
import type { Part } from '../content/content.ts'
import { damaged } from './storage-error.ts'
import { fromJson, toJson } from './text.ts'

export interface PartRow {
  readonly part: string
  readonly bytes: Uint8Array | null
}

export function toRow(part: Part): PartRow {
  const bytes = bytesOf(part.inlineData?.data)
  if (!bytes) return { part: toJson(part, 'An artifact'), bytes: null }
  return { part: toJson({ ...part, inlineData: { ...part.inlineData, data: '' } }, 'An artifact'), bytes }
}

export function fromRow({ part: text, bytes }: PartRow): Part {
  const part = fromJson(text, 'An artifact')
  if (!isRecord(part)) throw damaged('An artifact')
  if (bytes === null) return part
  if (!isRecord(part.inlineData)) throw damaged('An artifact')
  part.inlineData.data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return part
}

/** The bytes of base64 that says the same when it is written again; anything else is kept as it is. */
function bytesOf(data: unknown): Uint8Array | undefined {
  if (typeof data !== 'string' || data === '') return undefined
  const bytes = Buffer.from(data, 'base64')
  return bytes.toString('base64') === data ? bytes : undefined
}
