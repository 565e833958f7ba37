import { expect, test } from 'vitest'
import { EncryptedCredentialService } from './encrypted.ts'
import { MemorySealedStore } from './sealed-store.test-kit.ts'
import type { CredentialKey } from './service.ts'

const OLD = Buffer.alloc(32, 1).toString('base64')
const NEW = Buffer.alloc(32, 2).toString('base64')
const LOST = Buffer.alloc(32, 3).toString('base64')

const keyOf = (index: number): CredentialKey => ({ appName: 'shop', userId: `user ${index % 3}`, key: `key ${index}` })
const credentialOf = (index: number): { authType: string; apiKey: string } => ({
  authType: 'apiKey',
  apiKey: `secret ${index}`,
})

/** A store with ten credentials that are encrypted with a key. */
async function filled(key: string): Promise<{ store: MemorySealedStore; generations: number[] }> {
  const store = new MemorySealedStore()
  const service = new EncryptedCredentialService(store, { encryptionKeys: [key] })
  const generations: number[] = []
  for (let index = 0; index < 10; index++) {
    generations.push(await service.save({ ...keyOf(index), credential: credentialOf(index) }))
  }
  return { store, generations }
}

test('reencrypt() encrypts every credential with the first key and keeps its generation', async () => {
  const { store, generations } = await filled(OLD)
  const rotated = new EncryptedCredentialService(store, { encryptionKeys: [NEW, OLD] })
  await rotated.save({ ...keyOf(10), credential: credentialOf(10) })
  expect(await rotated.reencrypt()).toEqual({ reencrypted: 10, unchanged: 1, skipped: 0, failed: 0 })
  expect(await rotated.reencrypt()).toEqual({ reencrypted: 0, unchanged: 11, skipped: 0, failed: 0 })
  const withoutOld = new EncryptedCredentialService(store, { encryptionKeys: [NEW] })
  for (const [index, generation] of generations.entries()) {
    expect(await withoutOld.load(keyOf(index))).toEqual({ credential: credentialOf(index), generation })
  }
  const first = generations[0] ?? 0
  await withoutOld.save({ ...keyOf(0), credential: credentialOf(0), expectedGeneration: first })
})

test('reencrypt() continues after an interruption with the credentials that are left', async () => {
  const { store } = await filled(OLD)
  const replace = store.replace.bind(store)
  let left = 4
  store.replace = async (row) => {
    if (left-- === 0) throw new Error('The database is gone.')
    return await replace(row)
  }
  const rotated = new EncryptedCredentialService(store, { encryptionKeys: [NEW, OLD] })
  await expect(rotated.reencrypt()).rejects.toThrow('The database is gone.')
  store.replace = replace
  expect(await rotated.reencrypt()).toEqual({ reencrypted: 6, unchanged: 4, skipped: 0, failed: 0 })
})

test('reencrypt() does not overwrite a credential that another writer saves or deletes meanwhile', async () => {
  const { store } = await filled(OLD)
  const rotated = new EncryptedCredentialService(store, { encryptionKeys: [NEW, OLD] })
  const rows = store.list.bind(store)
  store.list = async function* () {
    for await (const row of rows()) {
      if (row.key === 'key 2') await rotated.save({ ...row, credential: credentialOf(99) })
      if (row.key === 'key 3') await rotated.delete(row)
      yield row
    }
  }
  expect(await rotated.reencrypt()).toEqual({ reencrypted: 8, unchanged: 0, skipped: 2, failed: 0 })
  expect((await rotated.load(keyOf(2)))?.credential).toEqual(credentialOf(99))
  expect(await rotated.load(keyOf(3))).toBeUndefined()
})

test('reencrypt() counts credentials that cannot be decrypted and encrypts the others', async () => {
  const { store } = await filled(OLD)
  await new EncryptedCredentialService(store, { encryptionKeys: [LOST] }).save({
    ...keyOf(4),
    credential: credentialOf(4),
  })
  store.tamper(keyOf(5), store.bytes(keyOf(6)))
  store.tamper(keyOf(7), new Uint8Array(3))
  const rotated = new EncryptedCredentialService(store, { encryptionKeys: [NEW, OLD] })
  const result = await rotated.reencrypt()
  expect(result).toMatchObject({ reencrypted: 7, unchanged: 0, skipped: 0, failed: 3 })
  expect(result.firstError).toMatchObject({
    code: 'STORAGE',
    message: expect.stringMatching(/^Credential "key [457]" /),
  })
  expect((await rotated.load(keyOf(6)))?.credential).toEqual(credentialOf(6))
})

test('reencrypt() needs a store that can list', async () => {
  const { store } = await filled(OLD)
  const { load, save, delete: remove } = store
  const small = { load: load.bind(store), save: save.bind(store), delete: remove.bind(store) }
  const service = new EncryptedCredentialService(small, { encryptionKeys: [OLD] })
  expect((await service.load(keyOf(0)))?.credential).toEqual(credentialOf(0))
  await expect(service.reencrypt()).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining('Implement list() and replace() of SealedCredentialStore'),
  })
})
