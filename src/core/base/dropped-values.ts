import { isRecord } from './json.ts'

const MAX_PATHS = 5
const MAX_DEPTH = 20

/** A value that JSON cannot hold. */
interface DroppedValue {
  /** Where it is, such as `items[2].onClick`. Empty for the value itself. */
  readonly path: string
  /** What it is. */
  readonly kind: 'function' | 'symbol'
}

/** The first functions and symbols in a value, which `toJsonValue()` leaves out. */
export function findDropped(value: unknown): DroppedValue[] {
  const found: DroppedValue[] = []
  const seen = new Set<unknown>()
  const visit = (item: unknown, path: string, depth: number): void => {
    if (found.length === MAX_PATHS || depth > MAX_DEPTH || seen.has(item)) return
    if (typeof item === 'function' || typeof item === 'symbol') {
      found.push({ path, kind: typeof item === 'symbol' ? 'symbol' : 'function' })
      return
    }
    if (typeof item !== 'object' || item === null || ArrayBuffer.isView(item)) return
    seen.add(item)
    if (Array.isArray(item)) for (const [at, inner] of item.entries()) visit(inner, `${path}[${at}]`, depth + 1)
    else if (item instanceof Set) for (const inner of item) visit(inner, `${path}[]`, depth + 1)
    else if (item instanceof Map) for (const [key, inner] of item) visit(inner, join(path, String(key)), depth + 1)
    else if (isRecord(item) && typeof item.toJSON === 'function') visit(item.toJSON(), path, depth + 1)
    else if (isRecord(item)) for (const key of Object.keys(item)) visit(item[key], join(path, key), depth + 1)
  }
  try {
    visit(value, '', 0)
  } catch {
    // a getter, a proxy or a toJSON that throws: what was found before is enough
  }
  return found
}

function join(path: string, key: string): string {
  if (!/^[\w$-]{1,64}$/.test(key)) return `${path}[${JSON.stringify(key.slice(0, 64))}]`
  return path === '' ? key : `${path}.${key}`
}
