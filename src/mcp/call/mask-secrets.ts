import { MAX_DEPTH, TooDeepError } from '../../base/json.ts'

/** Shorter values are not secrets, and replacing them would damage results. */
const MIN_LENGTH = 8

const MASK = '[hidden]'

/** Replaces every secret in the strings of a value, also in keys. Returns the same value if there is none. */
export function maskSecrets<T>(value: T, secrets: readonly string[]): T {
  const known = secrets.filter(({ length }) => length >= MIN_LENGTH)
  // The cast is true: only strings change, and they stay strings.
  return known.length ? (mask(value, known) as T) : value
}

function mask(value: unknown, secrets: readonly string[], depth = 0): unknown {
  if (typeof value === 'string') return maskText(value, secrets)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) throw new TooDeepError()
  if (Array.isArray(value)) return value.map((item) => mask(item, secrets, depth + 1))
  const entries = Object.entries(value).map(([key, item]) => [maskText(key, secrets), mask(item, secrets, depth + 1)])
  return Object.fromEntries(entries)
}

function maskText(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
}

/** The secrets in headers: whole values, and the tokens of `Bearer` and `Basic`. */
export function secretsOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.values(headers).flatMap((value) => [value, value.replace(/^\w+ /, '')])
}
