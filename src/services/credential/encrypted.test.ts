import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { credentialServiceSuite } from '../../adapters/testing/suites/credential-service-suite.ts'
import { EncryptedCredentialService } from './encrypted.ts'
import { InMemoryCredentialService } from './in-memory.ts'
import { MemorySealedStore } from './sealed-store.test-kit.ts'
import type { CredentialKey } from './service.ts'

const OLD = Buffer.alloc(32, 1).toString('base64')
const NEW = Buffer.alloc(32, 2).toString('base64')
const HOME: CredentialKey = { appName: 'shop', userId: 'ada', key: 'mail' }
const SECRET = 'sk-secret-1234'
const credential = { authType: 'apiKey', apiKey: SECRET }
const IDS_OF_OTHERS: CredentialKey[] = [
  { ...HOME, userId: 'eve' },
  { ...HOME, key: 'calendar' },
  { ...HOME, appName: 'bank' },
]

credentialServiceSuite(test, () => new EncryptedCredentialService(new MemorySealedStore(), { encryptionKeys: [OLD] }))

function encrypted(store: MemorySealedStore, ...encryptionKeys: string[]): EncryptedCredentialService {
  return new EncryptedCredentialService(store, { encryptionKeys })
}

/** A store with the credential of HOME, encrypted with OLD. */
async function filled(): Promise<MemorySealedStore> {
  const store = new MemorySealedStore()
  await encrypted(store, OLD).save({ ...HOME, credential })
  return store
}

/** The error of a rejected promise, after a check that nothing of it shows the secret or a key. */
async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const error: unknown = await promise.then(
    () => expect.fail('it was not rejected'),
    (thrown: unknown) => thrown,
  )
  const shown = inspect(error, { depth: 9, showHidden: true })
  for (const secret of [SECRET, 'sk-sec', OLD, NEW]) expect(shown).not.toContain(secret)
  return error
}

test('EncryptedCredentialService gives the store bytes without the secret, and other bytes with every save', async () => {
  const store = new MemorySealedStore()
  const service = encrypted(store, OLD)
  await service.save({ ...HOME, credential })
  const first = Buffer.from(store.bytes(HOME))
  await service.save({ ...HOME, credential })
  const second = Buffer.from(store.bytes(HOME))
  for (const bytes of [first, second]) expect(bytes.includes(SECRET) || bytes.includes('apiKey')).toBe(false)
  expect(second.subarray(9).equals(first.subarray(9))).toBe(false)
  expect(new Set([first, second].map((bytes) => bytes.subarray(9, 21).toString('hex'))).size, 'nonces').toBe(2)
})

test('EncryptedCredentialService rejects a credential of another user, key or app, and the honest one loads', async () => {
  const store = await filled()
  const service = encrypted(store, OLD)
  for (const other of IDS_OF_OTHERS) {
    await service.save({ ...other, credential: { authType: 'apiKey', apiKey: 'theirs' } })
    store.tamper(other, store.bytes(HOME))
    expect(await failureOf(service.load(other))).toMatchObject({
      name: 'ToolwrightError',
      code: 'STORAGE',
      message: `Credential "${other.key}" cannot be decrypted: it was changed, or belongs to another app, user or key. Restore it from a backup, or delete it and request it again.`,
    })
  }
  expect((await service.load(HOME))?.credential).toEqual(credential)
})

test.each([
  [
    { appName: 'a', userId: 'b","c', key: 'd' },
    { appName: 'a","b', userId: 'c', key: 'd' },
  ],
  [
    { appName: 'a', userId: 'bc', key: 'd' },
    { appName: 'ab', userId: 'c', key: 'd' },
  ],
  [
    { appName: 'a', userId: '\ud800', key: 'd' },
    { appName: 'a', userId: '\ufffd', key: 'd' },
  ],
  [
    { appName: 'a', userId: '\ud800', key: 'd' },
    { appName: 'a', userId: '\\ud800', key: 'd' },
  ],
])('EncryptedCredentialService tells the ids %j and %j apart', async (one, other) => {
  const store = new MemorySealedStore()
  const service = encrypted(store, OLD)
  await service.save({ ...one, credential })
  await service.save({ ...other, credential: { authType: 'apiKey', apiKey: 'theirs' } })
  store.tamper(other, store.bytes(one))
  expect(await failureOf(service.load(other))).toMatchObject({ code: 'STORAGE' })
  expect((await service.load(one))?.credential).toEqual(credential)
})

test('EncryptedCredentialService rejects a credential with any flipped bit or missing byte', async () => {
  const store = await filled()
  const service = encrypted(store, OLD)
  const bytes = store.bytes(HOME)
  const refused = { code: 'STORAGE', message: expect.stringContaining('Credential "mail" cannot be decrypted: ') }
  for (let at = 0; at < bytes.length; at++) {
    for (const bit of [1, 128]) {
      store.tamper(
        HOME,
        bytes.map((byte, index) => (index === at ? byte ^ bit : byte)),
      )
      expect(await failureOf(service.load(HOME)), `bit ${bit} of byte ${at}`).toMatchObject(refused)
    }
    store.tamper(HOME, bytes.subarray(0, at))
    expect(await failureOf(service.load(HOME)), `${at} bytes`).toMatchObject(refused)
    store.tamper(HOME, bytes.subarray(at + 1))
    expect(await failureOf(service.load(HOME)), `without the first ${at + 1} bytes`).toMatchObject(refused)
  }
  store.tamper(HOME, Uint8Array.of(...bytes, 0))
  expect(await failureOf(service.load(HOME)), 'a byte more').toMatchObject(refused)
  for (const value of [null, undefined, 'text', 7]) {
    store.tamper(HOME, value)
    expect(await failureOf(service.load(HOME)), `${value}`).toMatchObject(refused)
  }
  store.tamper(HOME, bytes)
  expect((await service.load(HOME))?.credential).toEqual(credential)
})

test('EncryptedCredentialService accepts stored bytes that are a view of a larger buffer', async () => {
  const store = await filled()
  const bytes = store.bytes(HOME)
  const buffer = Buffer.concat([Buffer.from('before'), bytes, Buffer.from('after')])
  store.tamper(HOME, buffer.subarray(6, 6 + bytes.length))
  expect((await encrypted(store, OLD).load(HOME))?.credential).toEqual(credential)
})

test('EncryptedCredentialService names the missing key, and the option to extend', async () => {
  const store = await filled()
  expect(await failureOf(encrypted(store, NEW).load(HOME))).toMatchObject({
    code: 'STORAGE',
    message: expect.stringMatching(
      /^Credential "mail" cannot be decrypted: it is encrypted with the key [0-9a-f]{16}, which is not in encryptionKeys\. Add that key to encryptionKeys after the first one, or /,
    ),
  })
  const named = new EncryptedCredentialService(store, { encryptionKeys: [NEW], keySource: 'KEYS' })
  expect(await failureOf(named.load(HOME))).toMatchObject({ message: expect.stringContaining('Add that key to KEYS ') })
  expect(await named.delete(HOME), 'a credential that cannot be decrypted can be deleted').toBe(true)
})

test('EncryptedCredentialService does not decrypt with a key whose id was forged into the credential', async () => {
  const store = await filled()
  const other = new MemorySealedStore()
  await encrypted(other, NEW).save({ ...HOME, credential })
  const forged = Uint8Array.from(store.bytes(HOME))
  forged.set(other.bytes(HOME).subarray(1, 9), 1)
  store.tamper(HOME, forged)
  expect(await failureOf(encrypted(store, OLD, NEW).load(HOME))).toMatchObject({ code: 'STORAGE' })
})

test('EncryptedCredentialService decrypts with every key, and saves with the first', async () => {
  const store = await filled()
  const rotated = encrypted(store, NEW, OLD)
  const loaded = await rotated.load(HOME)
  expect(loaded?.credential).toEqual(credential)
  expect(await failureOf(encrypted(store, NEW).load(HOME))).toMatchObject({ code: 'STORAGE' })
  await rotated.save({ ...HOME, credential, expectedGeneration: loaded?.generation })
  expect((await encrypted(store, NEW).load(HOME))?.credential).toEqual(credential)
  expect(await failureOf(encrypted(store, OLD).load(HOME))).toMatchObject({ code: 'STORAGE' })
})

test('EncryptedCredentialService asks a function for its keys on first use, and again for a key it does not know', async () => {
  const store = await filled()
  const keys = [NEW]
  let calls = 0
  const encryptionKeys = async (): Promise<string[]> => {
    calls++
    return [...keys]
  }
  const service = new EncryptedCredentialService(store, { encryptionKeys })
  expect(await service.load({ ...HOME, key: 'missing' })).toBeUndefined()
  expect(calls).toBe(0)
  await service.save({ ...HOME, key: 'other', credential })
  await service.load({ ...HOME, key: 'other' })
  expect(calls).toBe(1)
  expect(await failureOf(service.load(HOME))).toMatchObject({ code: 'STORAGE' })
  keys.push(OLD)
  expect((await service.load(HOME))?.credential).toEqual(credential)
})

test('EncryptedCredentialService asks for its keys again after the function failed', async () => {
  const store = await filled()
  let isDown = true
  const service = new EncryptedCredentialService(store, {
    encryptionKeys: () => {
      if (isDown) throw new Error('The key server is down.')
      return [OLD]
    },
  })
  await expect(service.load(HOME)).rejects.toThrow('The key server is down.')
  isDown = false
  expect((await service.load(HOME))?.credential).toEqual(credential)
})

test.each([
  [
    'no key',
    [],
    'There is no key in encryptionKeys: expected a list of keys, each base64 of 32 bytes, got an empty list.',
  ],
  ['a text', OLD, 'There is no key in encryptionKeys: expected a list of keys, each base64 of 32 bytes, got a string.'],
  ['undefined', undefined, 'There is no key in encryptionKeys'],
  ['an undefined key', [OLD, undefined], 'Key 2 of 2 in encryptionKeys must be base64 of 32 bytes, got undefined.'],
  ['an empty key', [''], 'got 0 bytes.'],
  ['a key of 16 bytes', [Buffer.alloc(16, 1).toString('base64')], 'got 16 bytes.'],
  ['a key of 33 bytes', [Buffer.alloc(33, 1).toString('base64')], 'got 33 bytes.'],
  ['a key in hexadecimal', [Buffer.alloc(32, 1).toString('hex')], 'got 48 bytes.'],
  ['base64url', [Buffer.alloc(32, 255).toString('base64url')], 'got a text that is not base64.'],
  ['base64 without padding', [OLD.slice(0, -1)], 'got a text that is not base64.'],
  ['a key with a mistyped last character', [`${OLD.slice(0, -2)}F=`], 'got a text that is not base64.'],
  ['a key with a line break', [`${OLD}\n`], 'got a text that is not base64.'],
])('EncryptedCredentialService rejects %s as encryptionKeys without showing it', (_what, given, message) => {
  const encryptionKeys = given as string[]
  const make = (): unknown => new EncryptedCredentialService(new MemorySealedStore(), { encryptionKeys })
  expect(make).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(message) }))
  expect(make).toThrow(`Make a key with: node -e "console.log(require('crypto').randomBytes(32).toString('base64'))"`)
  for (const key of Array.isArray(given) ? given : [given])
    if (key) expect(make).not.toThrow(expect.objectContaining({ message: expect.stringContaining(key.trim()) }))
})

test.each([
  ['in memory', () => new InMemoryCredentialService()],
  ['encrypted', () => encrypted(new MemorySealedStore(), OLD)],
])('a value that is not a credential is INVALID_REQUEST and changes nothing: %s', async (_name, make) => {
  const service = make()
  await service.save({ ...HOME, credential })
  for (const value of [null, undefined, SECRET, [SECRET], {}, { authType: '' }, { authType: 7, apiKey: SECRET }]) {
    expect(await failureOf(service.save({ ...HOME, credential: value as never }))).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(
        'Credential "mail" was not saved: a credential must be an object with an authType',
      ),
    })
  }
  expect((await service.load(HOME))?.credential).toEqual(credential)
})

test('EncryptedCredentialService rejects a credential that JSON cannot hold, without its content', async () => {
  const service = encrypted(new MemorySealedStore(), OLD)
  const hostile = { authType: 'own', toJSON: () => expect.fail(SECRET) }
  for (const value of [{ authType: 'own', custom: { [SECRET]: 1n } }, hostile]) {
    expect(await failureOf(service.save({ ...HOME, credential: value }))).toMatchObject({ code: 'INVALID_REQUEST' })
  }
  expect(await service.load(HOME)).toBeUndefined()
})

test('EncryptedCredentialService does not reveal a key or a secret when it is printed', async () => {
  const service = encrypted(await filled(), OLD)
  await service.load(HOME)
  const shown = inspect(service, { depth: 9, showHidden: true }) + JSON.stringify({ ...service, service })
  for (const secret of [SECRET, OLD, Buffer.from(OLD, 'base64').toString('hex')]) expect(shown).not.toContain(secret)
  expect(Object.keys(service)).toEqual([])
})
