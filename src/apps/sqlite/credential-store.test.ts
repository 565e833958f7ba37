import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { credentialServiceSuite } from '../../adapters/testing/suites/credential-service-suite.ts'
import { HOSTILE_IDS } from '../../adapters/testing/suites/hostile-ids.ts'
import { eventIds, HOME as SESSION } from '../../adapters/testing/suites/session-fixtures.ts'
import type { CredentialKey } from '../../services/credential/service.ts'
import { SqlCredentialStore } from '../../services/sql/credential-store.ts'
import { openDatabase } from './open-database.ts'
import { openVersion1 } from './schema-version-1.test-kit.ts'
import { type SqliteServices, sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

const OLD = Buffer.alloc(32, 1).toString('base64')
const NEW = Buffer.alloc(32, 2).toString('base64')
const HOME: CredentialKey = { appName: 'shop', userId: 'ada', key: 'mail' }
const credential = { authType: 'apiKey', apiKey: 'sk-secret' }

describe.each([
  ['a SQLite file', () => sqlite(temporaryFile())],
  ['a SQLite database in memory', () => sqlite(':memory:')],
])('%s', (_name, open: () => SqliteServices) => {
  credentialServiceSuite(test, () => {
    const services = open()
    return { service: services.credentialService, close: () => services.close() }
  })
})

function run(file: string, sql: string): void {
  const other = new DatabaseSync(file)
  other.exec(sql)
  other.close()
}

test('credentials in SQLite are loaded by the next process, with generations that go on', async () => {
  const file = temporaryFile()
  const first = sqlite(file)
  const generation = await first.credentialService.save({ ...HOME, credential })
  await first.credentialService.save({ ...HOME, key: 'gone', credential })
  await first.credentialService.delete({ ...HOME, key: 'gone' })
  first.close()
  using second = sqlite(file)
  expect(await second.credentialService.load(HOME)).toEqual({ credential, generation })
  expect(await second.credentialService.save({ ...HOME, key: 'gone', credential })).toBeGreaterThan(generation + 1)
})

test('a SQLite row that is swapped with the row of another user, key or app is rejected', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  const { credentialService } = services
  for (const other of [
    { ...HOME, userId: 'eve' },
    { ...HOME, key: 'calendar' },
    { ...HOME, appName: 'bank' },
  ]) {
    const theirs = { authType: 'apiKey', apiKey: 'theirs' }
    const mine = await credentialService.save({ ...HOME, credential })
    const generation = await credentialService.save({ ...other, credential: theirs })
    const swap = `CREATE TEMP TABLE copy AS SELECT generation, sealed FROM toolwright_credentials;
      UPDATE toolwright_credentials SET sealed =
        (SELECT copy.sealed FROM copy WHERE copy.generation = ${mine + generation} - toolwright_credentials.generation)
      WHERE generation IN (${mine}, ${generation})`
    run(file, swap)
    for (const key of [HOME, other]) {
      await expect(credentialService.load(key)).rejects.toMatchObject({
        code: 'STORAGE',
        message: expect.stringContaining(`Credential "${key.key}" cannot be decrypted`),
      })
    }
    run(file, swap)
    expect((await credentialService.load(HOME))?.credential).toEqual(credential)
    expect((await credentialService.load(other))?.credential).toEqual(theirs)
  }
})

test('a SQLite row whose ids are rewritten to another user is rejected', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.credentialService.save({ ...HOME, credential })
  run(file, "UPDATE toolwright_credentials SET user = 'eve'")
  expect(await services.credentialService.load(HOME)).toBeUndefined()
  await expect(services.credentialService.load({ ...HOME, userId: 'eve' })).rejects.toMatchObject({ code: 'STORAGE' })
})

test.each(["x''", "x'01'", 'zeroblob(40)', 'substr(sealed, 1, length(sealed) - 1)', "sealed || x'00'"])(
  'a damaged credential in SQLite is STORAGE and can be replaced: %s',
  async (damage) => {
    const file = temporaryFile()
    using services = sqlite(file)
    const generation = await services.credentialService.save({ ...HOME, credential })
    run(file, `UPDATE toolwright_credentials SET sealed = CAST(${damage} AS BLOB)`)
    await expect(services.credentialService.load(HOME)).rejects.toMatchObject({
      code: 'STORAGE',
      message: expect.stringContaining('Credential "mail" cannot be decrypted'),
    })
    await services.credentialService.save({ ...HOME, credential, expectedGeneration: generation })
    expect((await services.credentialService.load(HOME))?.credential).toEqual(credential)
  },
)

test('reencrypt() of SQLite replaces the key of all credentials, under any ids', async () => {
  const file = temporaryFile()
  const old = sqlite(file, { encryptionKeys: [OLD] })
  const keys = [
    ...HOSTILE_IDS.map((id) => ({ ...HOME, appName: id })),
    ...HOSTILE_IDS.map((id) => ({ ...HOME, userId: id })),
    ...Array.from({ length: 250 }, (_, index) => ({ ...HOME, key: `key ${index}` })),
  ]
  const generations: number[] = []
  for (const key of keys) {
    generations.push(await old.credentialService.save({ ...key, credential: { ...credential, custom: { ...key } } }))
  }
  old.close()
  using rotated = sqlite(file, { encryptionKeys: [NEW, OLD] })
  expect(await rotated.credentialService.reencrypt()).toEqual({
    reencrypted: keys.length,
    unchanged: 0,
    skipped: 0,
    failed: 0,
  })
  using withoutOld = sqlite(file, { encryptionKeys: [NEW] })
  for (const [index, key] of keys.entries()) {
    const stored = await withoutOld.credentialService.load(key)
    expect(stored).toEqual({ credential: { ...credential, custom: { ...key } }, generation: generations[index] })
  }
})

test('reencrypt() of SQLite counts a row with damaged ids as failed and continues', async () => {
  const file = temporaryFile()
  using old = sqlite(file, { encryptionKeys: [OLD] })
  for (const key of ['a', 'b', 'c']) await old.credentialService.save({ ...HOME, key, credential })
  run(file, "UPDATE toolwright_credentials SET key = 'dam\\aged' WHERE key = 'b'")
  using rotated = sqlite(file, { encryptionKeys: [NEW, OLD] })
  expect(await rotated.credentialService.reencrypt()).toMatchObject({ reencrypted: 2, failed: 1 })
})

test('replacing the bytes of an outdated generation in SQLite changes nothing', async () => {
  const database = openDatabase(':memory:', { synchronous: 'normal', busyTimeoutMs: 0 })
  const store = new SqlCredentialStore(database)
  const [one, two, three] = [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)]
  const first = await store.save({ ...HOME, sealed: one })
  const second = await store.save({ ...HOME, sealed: two, expectedGeneration: first })
  expect(await store.replace({ ...HOME, sealed: three, generation: first })).toBe(false)
  expect(await store.load(HOME)).toEqual({ sealed: two, generation: second })
  expect(await store.replace({ ...HOME, sealed: three, generation: second })).toBe(true)
  expect(await store.load(HOME)).toEqual({ sealed: three, generation: second })
  database.close()
})

test('a SQLite file of schema version 1 gets credentials and keeps its sessions', async () => {
  const file = temporaryFile()
  const old = openVersion1(file)
  old.createHeld('s1', 0)
  using services = sqlite(file)
  await services.credentialService.save({ ...HOME, credential })
  expect((await services.credentialService.load(HOME))?.credential).toEqual(credential)
  expect(await services.sessionService.getSession(SESSION)).toMatchObject({ id: 's1' })
  expect(old.claim('s1', Date.now(), 1000), 'a process of version 1 continues').toBeGreaterThan(0)
  old.close()
})

/** Removes the columns that the latest migrations add. */
const BEFORE_FLEETS =
  'DROP INDEX toolwright_pending_expires; ALTER TABLE toolwright_pending DROP COLUMN expires; ' +
  'DROP INDEX toolwright_sessions_set_aside; ' +
  ['holder', 'crashes', 'set_aside'].map((name) => `ALTER TABLE toolwright_sessions DROP COLUMN ${name}`).join('; ')

test('a SQLite file of schema version 3 gets pins and keeps its credentials', async () => {
  const file = temporaryFile()
  const written = sqlite(file)
  await written.credentialService.save({ ...HOME, credential })
  written.close()
  run(file, `${BEFORE_FLEETS}; DROP TABLE toolwright_pins; UPDATE toolwright_meta SET value = 3 WHERE name = 'schema'`)
  using services = sqlite(file)
  expect(await services.sessionService.pins.set({ appName: 'shop' }, 'files', 'a1')).toBe(true)
  expect(await services.sessionService.pins.get({ appName: 'shop' }, 'files')).toBe('a1')
  expect((await services.credentialService.load(HOME))?.credential).toEqual(credential)
})

test('a SQLite file of schema version 2 gets credentials and keeps its sessions', async () => {
  const file = temporaryFile()
  const written = sqlite(file)
  await written.sessionService.createSession(SESSION)
  written.close()
  const version = "UPDATE toolwright_meta SET value = 2 WHERE name = 'schema'"
  run(file, `${BEFORE_FLEETS}; DROP TABLE toolwright_credentials; DROP TABLE toolwright_pins; ${version}`)
  using services = sqlite(file)
  await services.credentialService.save({ ...HOME, credential })
  expect((await services.credentialService.load(HOME))?.credential).toEqual(credential)
  expect(await eventIds(services.sessionService, SESSION)).toEqual([])
})
