import { isRecord } from '../../../core/base/json.ts'

/** Are two JSON values equal, with all their parts? The order of members does not matter. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => isSameJson(item, b[at]))
  }
  if (!isRecord(a) || !isRecord(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
}
