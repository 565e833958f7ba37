/** Any JSON object; nothing here has a prototype method that may be called. */
export type JsonObject = { [key: string]: unknown }

/** Deeper than any honest argument or result; keeps recursion far from the end of the stack. */
export const MAX_DEPTH = 200

/** Levels that are left for what a value is put into: what is stored can be copied whole. */
export const ROOM_ABOVE = 50

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
export class TooDeep extends RangeError {
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
  if (depth > MAX_DEPTH) throw new TooDeep()
  if (Array.isArray(value)) {
    const items: unknown[] = new Array(value.length)
    for (let i = 0; i < value.length; i++) items[i] = copyJson(value[i], depth + 1)
    return items as T
  }
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) setOwn(copy, key, copyJson((value as JsonObject)[key], depth + 1))
  return copy as T
}

/** Is anything nested deeper than so many levels? */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(levels - 1, item))
  for (const key of Object.keys(value)) if (isDeeperThan(levels - 1, (value as JsonObject)[key])) return true
  return false
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
