// Turns whatever a tool gives into JSON: one walk that copies, counts and replaces what JSON cannot hold.
import { type JsonObject, MAX_DEPTH, RESERVED_DEPTH, setOwn } from './json.ts'
import { MAX_CONTENT_BYTES } from './limits.ts'

/** Nothing larger is kept in memory, not even for an artifact. */
export const HARD_LIMIT_BYTES: number = MAX_CONTENT_BYTES

/** Small things shared in many places are few bytes and much work. */
const MAX_OBJECTS = 1_000_000

export interface JsonCopy {
  readonly value: unknown
  /** About the size as JSON; exact enough to hold a limit. */
  readonly bytes: number
}

/**
 * A JSON copy of any value. Never throws: what cannot be read or held becomes a short text saying so. Of a text, or of
 * bytes, only both ends are kept when it has more than `maxText` characters; `bytes` counts all of it.
 */
export function toJsonValue(value: unknown, maxText: number = HARD_LIMIT_BYTES): JsonCopy {
  const walk: Walk = { bytes: 0, objects: 0, maxText: Math.min(maxText, HARD_LIMIT_BYTES), above: [] }
  return { value: copy(value, walk) ?? null, bytes: walk.bytes }
}

interface Walk {
  bytes: number
  objects: number
  readonly maxText: number
  /** The objects we are inside of: meeting one again is a cycle. */
  readonly above: object[]
}

function isFull({ bytes, objects }: Walk): boolean {
  return bytes > HARD_LIMIT_BYTES || objects > MAX_OBJECTS
}

function copy(value: unknown, walk: Walk): unknown {
  switch (typeof value) {
    case 'string':
      return copyString(value, walk)
    case 'number':
      walk.bytes += 8
      return Number.isFinite(value) ? value + 0 : null // JSON has no -0
    case 'boolean':
      walk.bytes += 5
      return value
    case 'bigint':
      return copyString(value.toString(), walk)
    case 'object':
      if (value !== null) return copyObject(value, walk)
      walk.bytes += 4
      return null
    default:
      return undefined // functions, symbols and undefined: as JSON.stringify has it
  }
}

function copyString(text: string, walk: Walk): string {
  walk.bytes += text.length + 2
  if (text.length <= walk.maxText) return text
  const half = Math.floor(walk.maxText / 2)
  return joinEnds(text.slice(0, half), text.length - 2 * half, text.slice(-half || text.length))
}

/** Base64 of the bytes, or of both ends when there are more than may be kept: the rest is not encoded. */
function copyBytes(bytes: Uint8Array, walk: Walk): string {
  const length = Math.ceil(bytes.length / 3) * 4
  walk.bytes += length + 2
  if (length <= walk.maxText) return encodeBase64(bytes)
  const half = Math.floor(walk.maxText / 8) * 3 // whole groups of three bytes: four characters each
  const tail = bytes.length - (bytes.length % 3 || 3) - half + 3
  const kept = half + bytes.length - tail
  return joinEnds(
    encodeBase64(bytes.subarray(0, half)),
    length - Math.ceil(kept / 3) * 4,
    encodeBase64(bytes.subarray(tail)),
  )
}

function joinEnds(head: string, leftOut: number, tail: string): string {
  return `${head}[... ${leftOut} characters left out ...]${tail}`
}

function copyObject(value: object, walk: Walk): unknown {
  walk.objects++
  if (isFull(walk)) return '[too large]'
  if (walk.above.length > MAX_DEPTH - RESERVED_DEPTH) return '[too deep]'
  if (walk.above.includes(value)) return '[circular]'
  walk.above.push(value)
  try {
    return copyContents(value, walk)
  } catch {
    return '[unreadable]' // a getter, a proxy or a toJSON that throws
  } finally {
    walk.above.pop()
  }
}

function copyContents(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return copyItems(value, walk)
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    const special = copySpecial(value, walk)
    if (special !== undefined) return special.value
  } else if (typeof (value as JsonObject).toJSON === 'function') return copyJsonForm(value, walk)
  return copyRecord(value as JsonObject, walk)
}

function copyItems(items: readonly unknown[], walk: Walk): unknown[] {
  const copies: unknown[] = []
  walk.bytes += 2 + items.length
  for (let i = 0; i < items.length && !isFull(walk); i++) copies.push(copy(items[i], walk) ?? null)
  return copies
}

function copyRecord(record: JsonObject, walk: Walk): JsonObject {
  const result: JsonObject = {}
  walk.bytes += 2
  for (const key of Object.keys(record)) {
    if (isFull(walk)) break
    copyMember(result, key, record[key], walk)
  }
  return result
}

function copyMember(result: JsonObject, key: string, value: unknown, walk: Walk): void {
  const item = copy(value, walk)
  if (item === undefined) return
  walk.bytes += key.length + 4
  setOwn(result, key, item)
}

/** Class instances JSON knows nothing of; undefined = copy it as a record. */
function copySpecial(value: object, walk: Walk): { value: unknown } | undefined {
  if (value instanceof Map) return { value: copyMap(value, walk) }
  if (value instanceof Set) return { value: copyItems(firstItems(value, walk), walk) }
  if (value instanceof ArrayBuffer) return { value: copyBytes(new Uint8Array(value), walk) }
  if (ArrayBuffer.isView(value)) {
    return { value: copyBytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), walk) }
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return { value: copyJsonForm(value, walk) }
  if (value instanceof Error) return { value: copyRecord({ name: value.name, message: value.message }, walk) }
  if (value instanceof RegExp) return { value: copyString(String(value), walk) }
  return undefined
}

function copyJsonForm(value: object, walk: Walk): unknown {
  const form: unknown = (value as { toJSON(): unknown }).toJSON()
  return form === value ? copyRecord(value as JsonObject, walk) : (copy(form, walk) ?? null)
}

function copyMap(map: ReadonlyMap<unknown, unknown>, walk: Walk): unknown {
  const entries = firstItems(map, walk)
  if (!entries.every(([key]) => typeof key === 'string')) return copyItems(entries, walk)
  const result: JsonObject = {}
  walk.bytes += 2
  for (const [key, item] of entries) {
    if (isFull(walk)) break
    copyMember(result, key as string, item, walk)
  }
  return result
}

/** The first items of a Map or Set: a subclass may iterate forever. */
function firstItems<T>(items: Iterable<T>, walk: Walk): T[] {
  const first: T[] = []
  for (const item of items) {
    if (first.length === MAX_OBJECTS) {
      walk.bytes += HARD_LIMIT_BYTES / 2 // what is left out counts, so that the value is over every limit
      break
    }
    first.push(item)
  }
  return first
}

const ALPHABET: Uint8Array = new TextEncoder().encode(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
)
const ascii = new TextDecoder()

/** Bytes as base64 text. By hand: `btoa` takes a text of as many characters, and ten times as long with it. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  let to = 0
  for (let at = 0; at < bytes.length; at += 3) {
    const group = ((bytes[at] as number) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    text[to++] = ALPHABET[group >> 18] as number
    text[to++] = ALPHABET[(group >> 12) & 63] as number
    text[to++] = ALPHABET[(group >> 6) & 63] as number
    text[to++] = ALPHABET[group & 63] as number
  }
  const padding = (3 - (bytes.length % 3)) % 3
  return ascii.decode(text.fill(61, text.length - padding)) // 61 is `=`
}
