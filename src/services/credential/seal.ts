// A sealed credential is: format (1 byte), id of the key (8), nonce (12), ciphertext, tag (16). AES-256-GCM authenticates the
// format, the id of the key and the ids of the credential, so a row that is copied to another app, user or key cannot be
// opened.
import type { AuthCredential } from '../../core/content/auth.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { isCredential } from './check-credential.ts'
import { KEY_ID_BYTES, type RingKey, toHex } from './key-ring.ts'
import type { CredentialKey } from './service.ts'

const FORMAT = 1
const HEADER_BYTES = 1 + KEY_ID_BYTES
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts a credential. Throws INVALID_REQUEST if JSON cannot hold it. */
export async function seal(
  key: CredentialKey,
  credential: AuthCredential,
  { id, key: cryptoKey }: RingKey,
): Promise<Uint8Array> {
  const header = Uint8Array.of(FORMAT, ...id)
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  const encrypted = await crypto.subtle.encrypt(cipher(nonce, header, key), cryptoKey, toBytes(key, credential))
  const sealed = new Uint8Array(HEADER_BYTES + NONCE_BYTES + encrypted.byteLength)
  sealed.set(header)
  sealed.set(nonce, HEADER_BYTES)
  sealed.set(new Uint8Array(encrypted), HEADER_BYTES + NONCE_BYTES)
  return sealed
}

/** The id of the key that encrypted a credential, in hexadecimal. Throws STORAGE for bytes that are not a sealed credential. */
export function keyIdOf(key: CredentialKey, sealed: unknown): string {
  if (!(sealed instanceof Uint8Array) || sealed.length < HEADER_BYTES + NONCE_BYTES + TAG_BYTES) {
    throw unreadable(key, 'it is damaged. Restore it from a backup, or delete it and request it again.')
  }
  if (sealed[0] !== FORMAT) {
    throw unreadable(key, `its format ${sealed[0]} is unknown. Update Toolwright, or restore it from a backup.`)
  }
  return toHex(sealed.subarray(1, HEADER_BYTES))
}

/** Decrypts a credential with the key that encrypted it. Throws STORAGE if the bytes or the ids are not those of the save. */
export async function open(key: CredentialKey, sealed: Uint8Array, ringKey: RingKey): Promise<AuthCredential> {
  const copy = new Uint8Array(sealed)
  const header = copy.subarray(0, HEADER_BYTES)
  const nonce = copy.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES)
  const encrypted = copy.subarray(HEADER_BYTES + NONCE_BYTES)
  const plain = await crypto.subtle.decrypt(cipher(nonce, header, key), ringKey.key, encrypted).catch(() => {
    throw unreadable(
      key,
      'it was changed, or belongs to another app, user or key. Restore it from a backup, or delete it and request it again.',
    )
  })
  return fromBytes(key, plain)
}

/** The error for a credential that cannot be decrypted. It has no cause, because an error of a parser may show plaintext. */
export function unreadable({ key }: CredentialKey, why: string): ToolwrightError {
  return new ToolwrightError('STORAGE', `Credential "${key}" cannot be decrypted: ${why}`)
}

/** The parameters of the cipher. JSON separates the ids without ambiguity, and escapes lone surrogates. */
function cipher(
  nonce: Uint8Array<ArrayBuffer>,
  header: Uint8Array<ArrayBuffer>,
  { appName, userId, key }: CredentialKey,
): AesGcmParams {
  const ids = new TextEncoder().encode(JSON.stringify([appName, userId, key]))
  const additionalData = new Uint8Array(header.length + ids.length)
  additionalData.set(header)
  additionalData.set(ids, header.length)
  return { name: 'AES-GCM', iv: nonce, additionalData, tagLength: TAG_BYTES * 8 }
}

function toBytes({ key }: CredentialKey, credential: AuthCredential): Uint8Array<ArrayBuffer> {
  let json: string | undefined
  try {
    json = JSON.stringify(credential)
  } catch {
    // no cause: the credential may have thrown the error, with a secret in it
  }
  if (json !== undefined) return new TextEncoder().encode(json)
  throw new ToolwrightError('INVALID_REQUEST', `Credential "${key}" was not saved: JSON cannot hold it.`)
}

function fromBytes(key: CredentialKey, plain: ArrayBuffer): AuthCredential {
  let credential: unknown
  try {
    credential = JSON.parse(new TextDecoder().decode(plain))
  } catch {
    // no cause: the message of JSON.parse shows a part of its input
  }
  if (isCredential(credential)) return credential
  throw unreadable(key, 'its content is not a credential. Delete it and request it again.')
}
