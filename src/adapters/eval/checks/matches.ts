import { canonicalJson, isRecord } from '../../../core/base/json.ts'

/**
 * What a value must be: the value itself, a regular expression for a text, or a function that returns whether it fits. Members of
 * objects and items of lists may be expressions and functions, too.
 */
export type Expected = unknown

/** Does a value fit? With `partial`, objects may have further members. */
export function matches(value: unknown, expected: Expected, { partial = false }: { partial?: boolean } = {}): boolean {
  if (typeof expected === 'function') return expected(value) === true
  if (expected instanceof RegExp) return typeof value === 'string' && matchesPattern(value, expected)
  if (Array.isArray(expected)) {
    if (!Array.isArray(value) || value.length !== expected.length) return false
    return expected.every((item, at) => matches(value[at], item, { partial }))
  }
  if (!isRecord(expected)) return Object.is(value, expected) || (value ?? null) === (expected ?? null)
  if (!isRecord(value)) return false
  if (!partial && !hasSameKeys(value, expected)) return false
  return Object.keys(expected).every((key) => {
    const member = Object.hasOwn(value, key) ? value[key] : undefined
    return matches(member, expected[key], { partial })
  })
}

/** What is expected, for people. */
export function describeExpected(expected: Expected): string {
  const plain = JSON.stringify(expected, (_, value) => {
    if (typeof value === 'function') return `<${value.name || 'a matcher'}>`
    return value instanceof RegExp ? String(value) : value
  })
  return plain ?? 'nothing'
}

/** A value for people, on one line and not too long. */
export function describeValue(value: unknown, length = 300): string {
  const text = value === undefined ? 'nothing' : canonicalJson(value)
  return text.length > length ? `${text.slice(0, length)}...` : text
}

/** A pattern with the flag `g` remembers where it stopped: it would fit every second time. */
function matchesPattern(value: string, pattern: RegExp): boolean {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(value)
}

function hasSameKeys(value: object, expected: object): boolean {
  const wanted = new Set(Object.keys(expected))
  return Object.keys(value).every((key) => wanted.has(key))
}
