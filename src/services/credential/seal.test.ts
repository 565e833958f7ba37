import { createCipheriv, createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { decodeKeys, importKeys } from './key-ring.ts'
import { keyIdOf, open, seal } from './seal.ts'

const SECRET_KEY = Buffer.alloc(32, 1)
const HOME = { appName: 'shop', userId: 'ada', key: 'mail' }
const credential = { authType: 'apiKey', apiKey: 'sk-secret' }
const { first } = await importKeys(decodeKeys([SECRET_KEY.toString('base64')], 'encryptionKeys'))

// Written by the first version with encryption. Stored credentials must stay readable.
const STORED =
  '0172cd6e8422c407fba880636605de421100718716e7f77006c05d0949419dc178753b0b2632d0d73382487705113ef778304839d727635e0fa10b381726e919e4765bb070e37a912a782b7525b1a0'

/** Encrypts a text in the stored format, with the cipher of Node. */
function sealedByNode(text: string, format = 1): Uint8Array {
  const keyId = createHash('sha256').update(SECRET_KEY).digest().subarray(0, 8)
  const header = Buffer.from([format, ...keyId])
  const nonce = Buffer.alloc(12, 7)
  const cipher = createCipheriv('aes-256-gcm', SECRET_KEY, nonce)
  cipher.setAAD(Buffer.concat([header, Buffer.from('["shop","ada","mail"]')]))
  return Buffer.concat([header, nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()])
}

test('a credential that was stored earlier is still decrypted', async () => {
  const sealed = new Uint8Array(Buffer.from(STORED, 'hex'))
  expect(keyIdOf(HOME, sealed)).toBe('72cd6e8422c407fb')
  expect(await open(HOME, sealed, first)).toEqual(credential)
})

test('the stored format is format, key id, nonce, ciphertext and tag of AES-256-GCM, and authenticates its header', async () => {
  expect(await open(HOME, sealedByNode(JSON.stringify(credential)), first)).toEqual(credential)
  const sealed = await seal(HOME, credential, first)
  expect(sealed).toHaveLength(1 + 8 + 12 + JSON.stringify(credential).length + 16)
})

test('keyIdOf() rejects a credential of an unknown format with advice to update', () => {
  expect(() => keyIdOf(HOME, sealedByNode(JSON.stringify(credential), 2))).toThrow(
    expect.objectContaining({
      code: 'STORAGE',
      message:
        'Credential "mail" cannot be decrypted: its format 2 is unknown. Update Toolwright, or restore it from a backup.',
    }),
  )
})

test.each(['sk-secret', '"sk-secret"', 'null', '[]', '{"apiKey":"sk-secret"}', '{"authType":7}', ''])(
  'open() rejects decrypted content that is not a credential, without showing it: %j',
  async (text) => {
    const error: unknown = await open(HOME, sealedByNode(text), first).catch((thrown) => thrown)
    expect(error).toMatchObject({
      code: 'STORAGE',
      message:
        'Credential "mail" cannot be decrypted: its content is not a credential. Delete it and request it again.',
    })
    expect(error).not.toHaveProperty('cause')
  },
)
