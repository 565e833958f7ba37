import { MAX_DEPTH } from '../../core/base/json.ts'

/** Whether JSON can represent a value completely. It cannot for dates, maps, class instances, NaN and symbols. */
export function isPlainJson(value: unknown): boolean {
  try {
    return isPlain(value, 0)
  } catch {
    return false // a getter or a proxy that throws
  }
}

function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return true
    case 'number':
      return Number.isFinite(value)
    case 'object':
      break
    default:
      return false
  }
  if (value === null) return true
  if (depth > MAX_DEPTH) return false
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1))
  if (!isPlainObject(value) || 'toJSON' in value) return false
  return Object.values(value).every((item) => isPlain(item, depth + 1))
}

/** Whether an object has no class. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
