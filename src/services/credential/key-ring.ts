import { kindOf } from '../../core/base/kind-of.ts'
import { ToolwrightError } from '../../core/error/error.ts'

/** The bytes of a key id in a sealed credential. */
export const KEY_ID_BYTES = 8
const KEY_BYTES = 32
const KEY_COMMAND = `node -e "console.log(require('crypto').randomBytes(32).toString('base64'))"`

/** Encryption keys by their id. The first one encrypts, all decrypt. */
export interface KeyRing {
  /** The key that encrypts. */
  readonly first: RingKey
  /** All keys, by the hexadecimal form of their id. */
  readonly byId: ReadonlyMap<string, RingKey>
}

/** A key of the ring. */
export interface RingKey {
  /** The first bytes of the SHA-256 digest of the key. Stored with each credential that the key has encrypted. */
  readonly id: Uint8Array
  /** The key for AES-256-GCM. Its bytes cannot be read back. */
  readonly key: CryptoKey
}

/**
 * Decodes encryption keys. Throws INVALID_CONFIG for a key that is not base64 of 32 bytes. `source` names in errors where the
 * keys come from.
 */
export function decodeKeys(keys: unknown, source: string): Uint8Array<ArrayBuffer>[] {
  if (!Array.isArray(keys) || keys.length === 0) {
    const got = Array.isArray(keys) ? 'an empty list' : kindOf(keys)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `There is no key in ${source}: expected a list of keys, each base64 of 32 bytes, got ${got}. Make a key with: ${KEY_COMMAND}`,
    )
  }
  return keys.map((key: unknown, index) => {
    const bytes = decodeBase64(key)
    if (bytes?.length === KEY_BYTES) return bytes
    const got = bytes ? `${bytes.length} bytes` : typeof key === 'string' ? 'a text that is not base64' : kindOf(key)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `Key ${index + 1} of ${keys.length} in ${source} must be base64 of 32 bytes, got ${got}. Make a key with: ${KEY_COMMAND}`,
    )
  })
}

/** The id of a key in hexadecimal. */
export function toHex(id: Uint8Array): string {
  return Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Makes a ring of decoded keys. */
export async function importKeys(keys: readonly Uint8Array<ArrayBuffer>[]): Promise<KeyRing> {
  const ring = await Promise.all(keys.map(importKey))
  return { first: ring[0] as RingKey, byId: new Map(ring.map((one) => [toHex(one.id), one])) }
}

async function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<RingKey> {
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  const key = await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
  return { id: new Uint8Array(digest, 0, KEY_ID_BYTES), key }
}

/** Decodes canonical base64. Undefined for any other text: a key with a mistyped character must not become another key. */
function decodeBase64(text: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const bytes = atob(text)
    return btoa(bytes) === text ? Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)) : undefined
  } catch {
    return undefined
  }
}
