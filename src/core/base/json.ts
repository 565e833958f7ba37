/** Any JSON object. Keys come from outside, so its members are looked up with `Object.hasOwn`. */
export type JsonObject = { [key: string]: unknown }

/** The deepest nesting of a value. Deeper values are refused, so that recursion never overflows the stack. */
export const MAX_DEPTH = 200

/** Levels of `MAX_DEPTH` that are reserved for the event around a value, so that the event can be copied, too. */
export const RESERVED_DEPTH = 50

/** Is it an object: not null, not an array? */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets a member, also one called `__proto__`. */
export function setOwn(target: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
}

/** Thrown for a value that is nested deeper than `MAX_DEPTH`. Its message contains nothing of the value. */
export class TooDeepError extends RangeError {
  constructor() {
    super(`nested deeper than ${MAX_DEPTH} levels`)
  }
}

/**
 * Copies a JSON value. Throws `TooDeepError`. `structuredClone` takes twenty times as long, and turns an own `__proto__`
 * into a prototype.
 */
export function copyJson<T>(value: T, depth = 0): T {
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) throw new TooDeepError()
  if (Array.isArray(value)) {
    const items: unknown[] = new Array(value.length)
    for (let i = 0; i < value.length; i++) items[i] = copyJson(value[i], depth + 1)
    return items as T
  }
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) setOwn(copy, key, copyJson((value as JsonObject)[key], depth + 1))
  return copy as T
}

/**
 * The approximate size of a value as JSON, in bytes. Stops counting above `limit`. Infinity for a value that is nested
 * deeper than `levels`.
 */
export function jsonSize(value: unknown, limit: number, levels: number = MAX_DEPTH): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  if (levels === 0) return Number.POSITIVE_INFINITY
  let bytes = 2
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && bytes <= limit; at++)
      bytes += jsonSize(value[at], limit - bytes, levels - 1) + 1
    return bytes
  }
  for (const key of Object.keys(value)) {
    if (bytes > limit) return bytes
    bytes += key.length + 4 + jsonSize((value as JsonObject)[key], limit - bytes, levels - 1)
  }
  return bytes
}

/**
 * JSON with sorted keys and without undefined members (RFC 8785): equal values give equal text. Parts that are nested
 * deeper than `MAX_DEPTH` are left out.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (depth > MAX_DEPTH) return '"[too deep]"'
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, depth + 1)).join(',')}]`
  const record = value as JsonObject
  const keys = Object.keys(record).filter((key) => record[key] !== undefined)
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key], depth + 1)}`)
    .join(',')}}`
}
