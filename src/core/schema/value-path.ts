import { lazyPattern } from '../base/lazy-pattern.ts'

/** The path to a part of a value, such as `address.street`, `items[2]` or `["odd key"]`. A long path is cut. */
export function formatPath(keys: readonly PropertyKey[]): string {
  let text = ''
  for (const key of keys) {
    if (typeof key === 'number') text += `[${key}]`
    else if (plainKey().test(String(key))) text += text === '' ? String(key) : `.${String(key)}`
    else text += `[${JSON.stringify(String(key))}]`
    if (text.length > MAX_PATH) return `${text.slice(0, MAX_PATH)}...`
  }
  return text
}

const MAX_PATH = 200

const plainKey = lazyPattern(String.raw`^[\p{L}_$][\p{L}\p{N}_$-]*$`, 'u')
