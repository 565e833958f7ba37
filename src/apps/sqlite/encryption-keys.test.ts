// Where the encryption keys of a SQLite file come from: the option, the environment, a key file.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { HOME as SESSION } from '../../adapters/testing/suites/session-fixtures.ts'
import type { CredentialKey } from '../../services/credential/service.ts'
import { KEYS_VARIABLE, keySourceOf } from './encryption-keys.ts'
import { startProcess } from './other-process.test-kit.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile, temporaryFolder } from './temporary-file.test-kit.ts'

vi.setConfig({ testTimeout: 60_000 }) // processes start slowly on a busy machine
if (process.platform === 'win32') console.warn('NOT TESTED: modes of key files, which Windows does not have.')

const ONE = Buffer.alloc(32, 1).toString('base64')
const TWO = Buffer.alloc(32, 2).toString('base64')
const HOME: CredentialKey = { appName: 'shop', userId: 'ada', key: 'mail' }
const credential = { authType: 'apiKey', apiKey: 'sk-secret' }

beforeEach(() => vi.stubEnv(KEYS_VARIABLE, undefined))
afterEach(() => vi.unstubAllEnvs())

test('the key file of a SQLite database is created by the first save, for its owner only', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.sessionService.createSession(SESSION)
  expect(await services.credentialService.load(HOME)).toBeUndefined()
  expect(await services.credentialService.delete(HOME)).toBe(false)
  expect(existsSync(`${file}.key`)).toBe(false)
  await services.credentialService.save({ ...HOME, credential })
  expect(readFileSync(`${file}.key`, 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/)
  if (process.platform !== 'win32') expect(statSync(`${file}.key`).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(file)).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

test('encryptionKeys of sqlite() take precedence over the environment, and both over the key file', async () => {
  const file = temporaryFile()
  vi.stubEnv(KEYS_VARIABLE, ` ${ONE} , ${TWO}`)
  using environment = sqlite(file)
  await environment.credentialService.save({ ...HOME, credential })
  using option = sqlite(file, { encryptionKeys: [TWO] })
  await expect(option.credentialService.load(HOME)).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('Add that key to encryptionKeys '),
  })
  await option.credentialService.save({ ...HOME, credential })
  expect((await environment.credentialService.load(HOME))?.credential, 'the second key decrypts').toEqual(credential)
  expect(existsSync(`${file}.key`)).toBe(false)
})

test('sqlite() names TOOLWRIGHT_ENCRYPTION_KEYS when a key is missing in it', async () => {
  const file = temporaryFile()
  using option = sqlite(file, { encryptionKeys: [TWO] })
  await option.credentialService.save({ ...HOME, credential })
  vi.stubEnv(KEYS_VARIABLE, ONE)
  using environment = sqlite(file)
  await expect(environment.credentialService.load(HOME)).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('Add that key to TOOLWRIGHT_ENCRYPTION_KEYS '),
  })
})

test.each(['', `${ONE},`, 'secret', `${ONE};${TWO}`])(
  'sqlite() rejects an invalid TOOLWRIGHT_ENCRYPTION_KEYS without showing it, and creates no file: %j',
  (value) => {
    const file = temporaryFile()
    vi.stubEnv(KEYS_VARIABLE, value)
    expect(() => sqlite(file)).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        message: expect.stringMatching(/^Key \d of \d in TOOLWRIGHT_ENCRYPTION_KEYS must be base64 of 32 bytes/),
      }),
    )
    expect(() => sqlite(file)).not.toThrow(ONE)
    expect(existsSync(file)).toBe(false)
    sqlite(':memory:').close()
  },
)

test('a SQLite database in memory has a random key and creates no file', async () => {
  using services = sqlite(':memory:')
  await services.credentialService.save({ ...HOME, credential })
  expect((await services.credentialService.load(HOME))?.credential).toEqual(credential)
  expect(existsSync(':memory:.key')).toBe(false)
})

describe.skipIf(process.platform === 'win32')('a key file', () => {
  test.each(['644', '640', '604', '660', '610', '602'])(
    'with mode %s is refused with the command to fix it',
    async (mode) => {
      const file = temporaryFile()
      using services = sqlite(file)
      await services.credentialService.save({ ...HOME, credential })
      chmodSync(`${file}.key`, Number.parseInt(mode, 8))
      using again = sqlite(file)
      const refused = {
        code: 'INVALID_CONFIG',
        message: `The key file "${file}.key" is refused: other users may access it (mode ${mode}). Run: chmod 600 ${file}.key`,
      }
      await expect(again.credentialService.load(HOME)).rejects.toMatchObject(refused)
      await expect(again.credentialService.save({ ...HOME, credential })).rejects.toMatchObject(refused)
      chmodSync(`${file}.key`, 0o600)
      expect((await again.credentialService.load(HOME))?.credential).toEqual(credential)
    },
  )

  test('of a database that is opened through a symbolic link is next to the database', async () => {
    const file = temporaryFile()
    using services = sqlite(file)
    await services.credentialService.save({ ...HOME, credential })
    const link = join(temporaryFolder(), 'link.db')
    symlinkSync(file, link)
    using linked = sqlite(link)
    expect((await linked.credentialService.load(HOME))?.credential).toEqual(credential)
    expect(existsSync(`${link}.key`)).toBe(false)
  })

  test('of a database that is created through a symbolic link is next to the database', async () => {
    const file = temporaryFile()
    const link = join(temporaryFolder(), 'link.db')
    symlinkSync(file, link)
    using linked = sqlite(link)
    await linked.credentialService.save({ ...HOME, credential })
    using services = sqlite(file)
    expect((await services.credentialService.load(HOME))?.credential).toEqual(credential)
  })

  test('in a path with special characters is quoted for the shell', async () => {
    const file = join(temporaryFolder(), "it's $HOME.db")
    using services = sqlite(file)
    writeFileSync(`${file}.key`, `${ONE}\n`, { mode: 0o644 })
    chmodSync(`${file}.key`, 0o644)
    await expect(services.credentialService.save({ ...HOME, credential })).rejects.toThrow(
      `Run: chmod 600 '${dirname(file)}/it'\\''s $HOME.db.key'`,
    )
  })
})

test('a lost key file is not replaced while the SQLite database has credentials', async () => {
  const file = temporaryFile()
  const first = sqlite(file)
  await first.credentialService.save({ ...HOME, credential })
  first.close()
  renameSync(`${file}.key`, `${file}.moved`)
  using services = sqlite(file)
  const refused = {
    code: 'INVALID_CONFIG',
    message: expect.stringContaining(`The key file "${file}.key" is missing, but the database holds credentials.`),
  }
  await expect(services.credentialService.load(HOME)).rejects.toMatchObject(refused)
  await expect(services.credentialService.save({ ...HOME, credential })).rejects.toMatchObject(refused)
  expect(existsSync(`${file}.key`)).toBe(false)
  renameSync(`${file}.moved`, `${file}.key`)
  expect((await services.credentialService.load(HOME))?.credential).toEqual(credential)
  unlinkSync(`${file}.key`)
  using empty = sqlite(file)
  expect(await empty.credentialService.delete(HOME), 'a credential can be deleted without its key').toBe(true)
  await empty.credentialService.save({ ...HOME, credential })
  expect(existsSync(`${file}.key`)).toBe(true)
})

test('another key is put into the first line of a key file, and old credentials still load', async () => {
  const file = temporaryFile()
  using running = sqlite(file)
  await running.credentialService.save({ ...HOME, credential })
  const old = readFileSync(`${file}.key`, 'utf8')
  writeFileSync(`${file}.key`, `${ONE}\n${old}`)
  using rotated = sqlite(file)
  expect((await rotated.credentialService.load(HOME))?.credential).toEqual(credential)
  expect(await rotated.credentialService.reencrypt()).toMatchObject({ reencrypted: 1, failed: 0 })
  expect((await running.credentialService.load(HOME))?.credential, 'a running process reads the file again').toEqual(
    credential,
  )
  writeFileSync(`${file}.key`, `${ONE}\n`)
  using withoutOld = sqlite(file)
  expect((await withoutOld.credentialService.load(HOME))?.credential).toEqual(credential)
})

test.each([
  ['an empty file', (path: string) => writeFileSync(path, '', { mode: 0o600 }), 'There is no key in the key file'],
  ['another text', (path: string) => writeFileSync(path, 'sk-secret', { mode: 0o600 }), 'must be base64 of 32 bytes'],
  ['a folder', (path: string) => mkdirSync(path, { mode: 0o700 }), 'it is not a file with keys'],
  [
    'a large file',
    (path: string) => writeFileSync(path, 'x'.repeat(1_000_000), { mode: 0o600 }),
    'it is not a file with keys',
  ],
])(
  'sqlite() rejects %s as the key file without showing it, and does not overwrite it',
  async (_what, make, message) => {
    const file = temporaryFile()
    using services = sqlite(file)
    make(`${file}.key`)
    const error: unknown = await services.credentialService.save({ ...HOME, credential }).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringContaining(message) })
    expect(error).toMatchObject({ message: expect.stringContaining(`${file}.key`) })
    expect(inspect(error)).not.toContain('sk-secret')
    rmSync(`${file}.key`, { recursive: true })
    await services.credentialService.save({ ...HOME, credential })
    expect((await services.credentialService.load(HOME))?.credential).toEqual(credential)
  },
)

test('several processes that save their first credential at once use one key file', async () => {
  const others = await Promise.all(Array.from({ length: 4 }, () => startProcess()))
  for (let round = 0; round < 5; round++) {
    const file = temporaryFile()
    await Promise.all(others.map((other) => other.do('open', file)))
    await Promise.all(
      others.map((other, index) => other.do('credential', 'save', { ...HOME, key: `key ${index}`, credential })),
    )
    expect(readdirSync(dirname(file)).filter((name) => /key/.test(name))).toEqual(['app.db.key'])
    using services = sqlite(file)
    for (const index of others.keys()) {
      const stored = await services.credentialService.load({ ...HOME, key: `key ${index}` })
      expect(stored?.credential, `credential of process ${index}`).toEqual(credential)
    }
  }
})

test('keySourceOf() names the source of the keys without showing them', () => {
  const file = temporaryFile()
  const real = { type: 'file', path: `${file}.key` }
  expect(keySourceOf(':memory:')).toEqual({ type: 'random' })
  expect(keySourceOf(file)).toEqual(real)
  sqlite(file).close()
  expect(keySourceOf(file)).toEqual(real)
  vi.stubEnv(KEYS_VARIABLE, ONE)
  expect(keySourceOf(file)).toEqual({ type: 'environment' })
  expect(keySourceOf(':memory:')).toEqual({ type: 'random' })
  expect(keySourceOf(file, [TWO])).toEqual({ type: 'option' })
})

test('printing the services of sqlite() shows no key', async () => {
  using services = sqlite(temporaryFile(), { encryptionKeys: [ONE] })
  await services.credentialService.save({ ...HOME, credential })
  const shown = inspect(services, { depth: 9, showHidden: true }) + JSON.stringify(services)
  for (const secret of [ONE, 'sk-secret']) expect(shown).not.toContain(secret)
})

test('SQLite holds no copy of an encryption key', async () => {
  const file = temporaryFile()
  using services = sqlite(file, { encryptionKeys: [ONE] })
  await services.credentialService.save({ ...HOME, credential })
  const other = new DatabaseSync(file)
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  other.close()
  const bytes = readFileSync(file)
  for (const form of [ONE, Buffer.from(ONE, 'base64')]) expect(bytes.includes(form)).toBe(false)
})
