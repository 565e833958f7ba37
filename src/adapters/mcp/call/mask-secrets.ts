import { createSecretMask } from '../../../core/base/secret-mask.ts'

/** Every header counts as a secret, so that short and usual values must be left out: replacing them would damage results. */
const MIN_LENGTH = 8

/** Replaces every secret in the strings of a value, also in keys. Returns the same value if there is none. */
export function maskSecrets<T>(value: T, secrets: readonly string[]): T {
  if (secrets.length === 0) return value
  // The cast is true: only strings change, and they stay strings.
  return createSecretMask(secrets, { minLength: MIN_LENGTH }).value(value) as T
}

/** The secrets in headers: whole values, and the tokens of `Bearer` and `Basic`. */
export function secretsOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.values(headers).flatMap((value) => [value, value.replace(/^\w+ /, '')])
}
