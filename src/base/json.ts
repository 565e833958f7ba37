/** Any JSON object; nothing here has a prototype method that may be called. */
export type JsonObject = { [key: string]: unknown }

/** Deeper than any honest argument or result; keeps recursion far from the end of the stack. */
export const MAX_DEPTH = 200

/** Levels that are left for what a value is put into: what is stored can be copied whole. */
export const RESERVED_DEPTH = 50

/** Is it a plain record: not null, not an array? */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets a key as data, `__proto__` included. */
export function setOwn(target: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
}

/** Thrown for a value that is nested deeper than MAX_DEPTH. Its message holds nothing of the value. */
export class TooDeepError extends RangeError {
  constructor() {
    super(`nested deeper than ${MAX_DEPTH} levels`)
  }
}

/**
 * Copies a JSON value. By hand because `structuredClone` costs twenty times as much, and because an own `__proto__`
 * must stay data. Throws TooDeep.
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
 * About the size of a value as JSON, in bytes. Stops counting above `most`; Infinity when it is nested deeper than so
 * many levels.
 */
export function jsonSize(value: unknown, most: number, levels: number = MAX_DEPTH): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  if (levels === 0) return Number.POSITIVE_INFINITY
  let bytes = 2
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && bytes <= most; at++)
      bytes += jsonSize(value[at], most - bytes, levels - 1) + 1
    return bytes
  }
  for (const key of Object.keys(value)) {
    if (bytes > most) return bytes
    bytes += key.length + 4 + jsonSize((value as JsonObject)[key], most - bytes, levels - 1)
  }
  return bytes
}

/**
 * JSON with sorted keys and no undefined: equal values give equal text (RFC 8785 for what JSON can hold). What is
 * nested deeper than MAX_DEPTH is left out.
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
