// A server may repeat what it was sent. Secrets of a request are removed from everything that is made from its response.
import { encodeBase64 } from '../../base/base64.ts'
import { isRecord, type JsonObject, setOwn } from '../../base/json.ts'
import type { AuthCredential } from '../../content/auth.ts'

/** Hides the secrets of one request. */
export interface SecretMask {
  /** Replaces secrets in a text. */
  text(text: string): string
  /** Replaces secrets in the strings and keys of a JSON value. */
  value(value: unknown): unknown
  /** Do the bytes contain a secret? */
  isIn(bytes: Uint8Array): boolean
}

const HIDDEN = '[hidden]'

/** Shorter secrets are not searched: they would match everywhere. */
const MIN_LENGTH = 4

/** Creates a mask for the secrets of credentials, and for header values of the developer that look like secrets. */
export function secretMask(credentials: readonly AuthCredential[], headers: Headers): SecretMask {
  const secrets = [...credentials.flatMap(secretsOf), ...[...headers].flatMap(secretsOfHeader)]
  const forms = [...new Set(secrets.filter((one) => one.length >= MIN_LENGTH).flatMap(formsOf))]
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

function secretsOf({ apiKey, http, oauth2, serviceAccount, custom }: AuthCredential): string[] {
  const { username = '', password, token } = http?.credentials ?? {}
  const basic = password === undefined ? undefined : encodeBase64(new TextEncoder().encode(`${username}:${password}`))
  const { accessToken, refreshToken, idToken, clientSecret } = oauth2 ?? {}
  const own = isRecord(custom?.headers) ? Object.values(custom.headers).map(String) : []
  const all = [apiKey, password, token, basic, accessToken, refreshToken, idToken, clientSecret, ...own]
  return [...all, serviceAccount?.privateKey].filter((one) => one !== undefined)
}

/** Does the name of a header say that its value is a secret? */
export function isSecretHeader(name: string): boolean {
  return /auth|key|token|secret|cookie|password|signature/i.test(name)
}

function secretsOfHeader([name, value]: [string, string]): string[] {
  if (!isSecretHeader(name)) return []
  return [value, ...value.split(/[\s;=]+/).filter((part) => part.length >= 8)]
}

/** The forms in which a server may repeat a secret. */
function formsOf(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed())
  const form = new URLSearchParams({ '': secret }).toString().slice(1)
  const base64 = encodeBase64(new TextEncoder().encode(secret))
  return [secret, encoded, form, JSON.stringify(secret).slice(1, -1), base64]
}

function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map))
  if (!isRecord(value)) return value
  const mapped: JsonObject = {}
  for (const [key, member] of Object.entries(value)) setOwn(mapped, map(key), mapStrings(member, map))
  return mapped
}
