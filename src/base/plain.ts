// Turns whatever a tool gives into JSON: one walk that copies, counts and replaces what JSON cannot hold.
import { type JsonObject, MAX_DEPTH, ROOM_ABOVE, setOwn } from './json.ts'

/** Nothing larger is kept in memory, not even for an artifact. */
export const HARD_LIMIT_BYTES: number = 32 * 1024 * 1024

/** Small things shared in many places are few bytes and much work. */
const MAX_OBJECTS = 1_000_000

export interface Plain {
  readonly value: unknown
  /** About the size as JSON; exact enough to hold a limit. */
  readonly bytes: number
}

/** A JSON copy of any value. Never throws: what cannot be read or held becomes a short text saying so. */
export function toPlain(value: unknown): Plain {
  const walk: Walk = { bytes: 0, objects: 0, above: [] }
  return { value: copy(value, walk) ?? null, bytes: walk.bytes }
}

interface Walk {
  bytes: number
  objects: number
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
  if (text.length < HARD_LIMIT_BYTES) return text
  const half = HARD_LIMIT_BYTES / 2
  return `${text.slice(0, half)}[... ${text.length - HARD_LIMIT_BYTES} characters left out ...]${text.slice(-half)}`
}

function copyObject(value: object, walk: Walk): unknown {
  walk.objects++
  if (isFull(walk)) return '[too large]'
  if (walk.above.length > MAX_DEPTH - ROOM_ABOVE) return '[too deep]'
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
    const item = copy(record[key], walk)
    if (item === undefined) continue
    walk.bytes += key.length + 4
    setOwn(result, key, item)
  }
  return result
}

/** Class instances JSON knows nothing of; undefined = copy it as a record. */
function copySpecial(value: object, walk: Walk): { value: unknown } | undefined {
  if (value instanceof Map) return { value: copyMap(value, walk) }
  if (value instanceof Set) return { value: copyItems([...value], walk) }
  if (value instanceof ArrayBuffer) return { value: copyString(base64(new Uint8Array(value)), walk) }
  if (ArrayBuffer.isView(value)) {
    return { value: copyString(base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)), walk) }
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
  const keys = [...map.keys()]
  if (!keys.every((key) => typeof key === 'string')) return copyItems([...map], walk)
  const record: JsonObject = {}
  for (const [key, item] of map) setOwn(record, key as string, item)
  return copyRecord(record, walk)
}

/** Bytes as base64 text. */
export function base64(bytes: Uint8Array): string {
  const end = Math.min(bytes.length, HARD_LIMIT_BYTES)
  let binary = ''
  for (let i = 0; i < end; i += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(i, Math.min(i + 0x8000, end)))
  }
  return btoa(binary)
}
