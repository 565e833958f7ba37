// A server may repeat what it was sent. A mask removes the secrets of a request from everything that is made of its response.
import { encodeBase64 } from './base64.ts'
import { MAX_DEPTH, TooDeepError } from './json.ts'

/** Hides secrets. */
export interface SecretMask {
  /** Replaces secrets in a text. */
  text(text: string): string
  /** Replaces secrets in the strings and keys of a JSON value. Returns the same value if there are no secrets. */
  value(value: unknown): unknown
  /** Do the bytes contain a secret? */
  isIn(bytes: Uint8Array): boolean
}

const HIDDEN = '[hidden]'

/** Creates a mask. Secrets shorter than `minLength` are not searched: they would match everywhere. */
export function createSecretMask(secrets: readonly string[], { minLength }: { minLength: number }): SecretMask {
  const forms = [...new Set(secrets.filter(({ length }) => length >= minLength).flatMap(formsOf))]
  forms.sort((a, b) => b.length - a.length) // a longer form may contain a shorter one
  const text = (given: string): string => forms.reduce((shown, form) => shown.replaceAll(form, HIDDEN), given)
  return {
    text,
    value: (value) => (forms.length ? mapStrings(value, text) : value),
    isIn: (bytes) => {
      if (forms.length === 0) return false
      const content = new TextDecoder('latin1').decode(bytes)
      return forms.some((form) => content.includes(form))
    },
  }
}

/** The forms in which a server may repeat a secret. */
function formsOf(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed())
  const form = new URLSearchParams({ '': secret }).toString().slice(1)
  const base64 = encodeBase64(new TextEncoder().encode(secret))
  return [secret, encoded, form, JSON.stringify(secret).slice(1, -1), base64]
}

function mapStrings(value: unknown, map: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) throw new TooDeepError()
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), mapStrings(item, map, depth + 1)]))
}
