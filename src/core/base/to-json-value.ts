// Converts any value of a tool to JSON: one pass copies, counts, and replaces what JSON cannot hold.
import { encodeBase64 } from './base64.ts'
import { type JsonObject, MAX_DEPTH, RESERVED_DEPTH, setOwn } from './json.ts'
import { MAX_CONTENT_BYTES } from './limits.ts'

/** The most objects that one copy visits: an object that is used many times has few bytes but costs much work. */
const MAX_OBJECTS = 1_000_000

interface JsonCopy {
  /** The copy. */
  readonly value: unknown
  /** The approximate size of the value as JSON. */
  readonly bytes: number
  /** Whether functions or symbols were left out. */
  readonly hasDropped: boolean
}

/**
 * A JSON copy of any value. Never throws: a part that cannot be read or that JSON cannot hold becomes a short text such
 * as `[circular]`.
 *
 * @param maxText Longer texts and byte arrays are cut to their two ends. `bytes` counts all of them.
 * @param maxBytes What comes after as many bytes is left out.
 */
export function toJsonValue(
  value: unknown,
  maxText: number = MAX_CONTENT_BYTES,
  maxBytes: number = MAX_CONTENT_BYTES,
): JsonCopy {
  const copying: Copying = {
    bytes: 0,
    objects: 0,
    maxBytes,
    maxObjects: Math.min(MAX_OBJECTS, maxBytes),
    maxText: Math.min(maxText, MAX_CONTENT_BYTES),
    parents: [],
    hasDropped: false,
  }
  const copied = copy(value, copying) ?? null
  return { value: copied, bytes: copying.bytes, hasDropped: copying.hasDropped }
}

/** The state of one copy. */
interface Copying {
  bytes: number
  objects: number
  readonly maxBytes: number
  readonly maxObjects: number
  readonly maxText: number
  /** The objects around the current value. An object that contains one of them is circular. */
  readonly parents: object[]
  hasDropped: boolean
}

function isFull({ bytes, objects, maxBytes, maxObjects }: Copying): boolean {
  return bytes > maxBytes || objects > maxObjects
}

function copy(value: unknown, copying: Copying): unknown {
  switch (typeof value) {
    case 'string':
      return copyString(value, copying)
    case 'number':
      copying.bytes += 8
      return Number.isFinite(value) ? value + 0 : null // JSON has no -0
    case 'boolean':
      copying.bytes += 5
      return value
    case 'bigint':
      return copyString(value.toString(), copying)
    case 'object':
      if (value !== null) return copyObject(value, copying)
      copying.bytes += 4
      return null
    case 'undefined':
      return undefined
    default:
      copying.hasDropped = true
      return undefined // JSON.stringify omits functions and symbols, too
  }
}

function copyString(text: string, copying: Copying): string {
  copying.bytes += text.length + 2
  if (text.length <= copying.maxText) return text
  const half = Math.floor(copying.maxText / 2)
  return joinEnds(text.slice(0, half), text.length - 2 * half, text.slice(-half || text.length))
}

/** The bytes as base64. Only both ends of too many bytes are encoded. */
function copyBytes(bytes: Uint8Array, copying: Copying): string {
  const length = Math.ceil(bytes.length / 3) * 4
  copying.bytes += length + 2
  if (length <= copying.maxText) return encodeBase64(bytes)
  const half = Math.floor(copying.maxText / 8) * 3 // whole groups of three bytes: four characters each
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

function copyObject(value: object, copying: Copying): unknown {
  copying.objects++
  if (isFull(copying)) return '[too large]'
  if (copying.parents.length > MAX_DEPTH - RESERVED_DEPTH) return '[too deep]'
  if (copying.parents.includes(value)) return '[circular]'
  copying.parents.push(value)
  try {
    return copyContents(value, copying)
  } catch {
    return '[unreadable]' // a getter, a proxy or a toJSON that throws
  } finally {
    copying.parents.pop()
  }
}

function copyContents(value: object, copying: Copying): unknown {
  if (Array.isArray(value)) return copyItems(value, copying)
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    const special = copySpecial(value, copying)
    if (special !== undefined) return special.value
  } else if (typeof (value as JsonObject).toJSON === 'function') return copyJsonForm(value, copying)
  return copyRecord(value as JsonObject, copying)
}

function copyItems(items: readonly unknown[], copying: Copying): unknown[] {
  const copies: unknown[] = []
  copying.bytes += 2 + items.length
  for (let i = 0; i < items.length && !isFull(copying); i++) copies.push(copy(items[i], copying) ?? null)
  return copies
}

function copyRecord(record: JsonObject, copying: Copying): JsonObject {
  const result: JsonObject = {}
  copying.bytes += 2
  for (const key of Object.keys(record)) {
    if (isFull(copying)) break
    copyMember(result, key, record[key], copying)
  }
  return result
}

function copyMember(result: JsonObject, key: string, value: unknown, copying: Copying): void {
  const item = copy(value, copying)
  if (item === undefined) return
  copying.bytes += key.length + 4
  setOwn(result, key, item)
}

/** Copies an instance of a built-in class. Undefined: the instance is copied as a record. */
function copySpecial(value: object, copying: Copying): { value: unknown } | undefined {
  if (value instanceof Map) return { value: copyMap(value, copying) }
  if (value instanceof Set) return { value: copyItems(firstItems(value, copying), copying) }
  if (value instanceof ArrayBuffer) return { value: copyBytes(new Uint8Array(value), copying) }
  if (ArrayBuffer.isView(value)) {
    return { value: copyBytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), copying) }
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return { value: copyJsonForm(value, copying) }
  if (value instanceof Error) return { value: copyRecord({ name: value.name, message: value.message }, copying) }
  if (value instanceof RegExp) return { value: copyString(String(value), copying) }
  return undefined
}

function copyJsonForm(value: object, copying: Copying): unknown {
  const form: unknown = (value as { toJSON(): unknown }).toJSON()
  return form === value ? copyRecord(value as JsonObject, copying) : (copy(form, copying) ?? null)
}

function copyMap(map: ReadonlyMap<unknown, unknown>, copying: Copying): unknown {
  const entries = firstItems(map, copying)
  if (!entries.every(([key]) => typeof key === 'string')) return copyItems(entries, copying)
  const result: JsonObject = {}
  copying.bytes += 2
  for (const [key, item] of entries) {
    if (isFull(copying)) break
    copyMember(result, key as string, item, copying)
  }
  return result
}

/** The first items of a Map or Set, because a subclass may iterate forever. */
function firstItems<T>(items: Iterable<T>, copying: Copying): T[] {
  const first: T[] = []
  for (const item of items) {
    if (first.length === MAX_OBJECTS) {
      copying.bytes += MAX_CONTENT_BYTES / 2 // the omitted items count, so that the value exceeds every limit
      break
    }
    first.push(item)
  }
  return first
}
