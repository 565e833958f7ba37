import { Pool } from 'pg'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { emptyStore } from '../../../test/postgres/empty-store.ts'
import { requestOf } from '../../adapters/testing/suites/session-fixtures.ts'
import { newSchema, runSql, serverUrl } from './database.test-kit.ts'
import { type PostgresServices, postgres } from './postgres.ts'
import type { PostgresOptions } from './postgres-options.ts'

afterEach(() => vi.unstubAllEnvs())

function open(source: Parameters<typeof postgres>[0], options?: PostgresOptions): PostgresServices {
  const services = postgres(source, { schema: newSchema(), ...options })
  onTestFinished(() => services.close())
  return services
}

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }

test('a request that a process of an earlier version has stored expires, too', async () => {
  const schema = newSchema()
  const { sessionService } = open(serverUrl(), { schema })
  await sessionService.createSession(key)
  const lease = await sessionService.claim(key)
  const opened = [requestOf('r1', { sessionId: 's1', expiresAt: 10 })]
  await sessionService.append(lease, 0, [], { pending: { opened, closed: [] } })
  await runSql(`UPDATE "${schema}".toolwright_pending SET expires = NULL`)
  const find = (now: number) => sessionService.overdue?.({ appName: 'shop', now, limit: 9 })
  expect([await find(9_999), await find(10_000)]).toEqual([[], [key]])
})

test.each([
  ['not a URL', 'localhost', 'Write it as postgres://user:password@host:5432/database.'],
  ['a URL of another protocol', 'mysql://ada:geheim@db/shop', 'Write it as postgres://'],
  ['a URL without a database', 'postgres://ada:geheim@db:5432', 'names no database. Add it at the end'],
  ['a URL with an empty database', 'postgres://ada:geheim@db:5432/', 'names no database. Add it at the end'],
  ['options without a database', { host: 'db', password: 'geheim' }, 'database is missing'],
  ['nothing', undefined, 'requires a URL, the options of a pool, or a pool of "pg", got undefined'],
])('%s is refused, without the password', (_name, source, message) => {
  const refusal = errorOf(() => postgres(source as string))
  expect(refusal).toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringContaining(message) })
  expect(String(refusal)).not.toContain('geheim')
})

test.each<[PostgresOptions, string]>([
  [{ leaseMs: 10 }, 'leaseMs must be a number from 1000'],
  [{ statementTimeoutMs: 0 }, 'statementTimeoutMs must be a number >= 100'],
  [{ cacheBytes: -1 }, 'cacheBytes must be a number >= 0'],
  [{ schema: '' }, 'schema must be a string that is not empty'],
  [{ schema: 'pg_mine' }, 'schema must be a name'],
  [{ schema: 'é'.repeat(40) }, 'at most 63 bytes'],
  [{ encryptionKeys: ['short'] }, 'Key 1 of 1 in encryptionKeys'],
  [{ lease: 5 } as PostgresOptions, 'unknown option "lease". Did you mean "leaseMs"?'],
])('the options %j are refused', (options, message) => {
  expect(errorOf(() => postgres('postgres://db/shop', options))).toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining(message),
  })
})

test('a wrong password, an unknown role and an unknown database are errors that say so, without the password', async () => {
  await runSql("DROP ROLE IF EXISTS with_password; CREATE ROLE with_password LOGIN PASSWORD 'right'")
  const address = new URL(serverUrl())
  const urlFor = (login: string, database = 'postgres'): string => `postgres://${login}@${address.host}/${database}`
  const cases: [string, string][] = [
    [urlFor('with_password:geheim'), 'refused the login'],
    [urlFor('nobody_known'), 'refused the login'],
    [urlFor('postgres', 'missing'), 'Postgres database "missing" (127.0.0.1:'],
  ]
  for (const [url, message] of cases) {
    const refusal = await open(url)
      .ready()
      .catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringContaining(message) })
    expect(String((refusal as Error).stack)).not.toContain('geheim')
  }
})

test('a database is found by URL, by URL object, by options and by pool', async () => {
  const schema = newSchema()
  const url = new URL(serverUrl())
  const pool = new Pool({ connectionString: url.href, max: 1 })
  const sources = [
    url.href,
    url,
    { host: url.hostname, port: Number(url.port), user: 'postgres', database: 'postgres' },
    pool,
  ]
  for (const [index, source] of sources.entries()) {
    const services = postgres(source, { schema })
    await services.sessionService.createSession({ ...key, sessionId: `s${index}` })
    expect(await services.sessionService.listSessions(key)).toHaveLength(index + 1)
    await services.close()
  }
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  await pool.end()
})

test('credentials without a key are refused, and sessions work', async () => {
  vi.stubEnv('TOOLWRIGHT_ENCRYPTION_KEYS', undefined)
  const { credentialService, sessionService } = open(serverUrl())
  const credential = { authType: 'apiKey' as const, apiKey: 'sk-secret' }
  const refusal = {
    code: 'INVALID_CONFIG',
    message: expect.stringContaining('Set encryptionKeys, or TOOLWRIGHT_ENCRYPTION_KEYS'),
  }
  await expect(
    credentialService.save({ appName: 'shop', userId: 'ada', key: 'mail', credential }),
  ).rejects.toMatchObject(refusal)
  await sessionService.createSession(key)
  expect(await sessionService.getSession(key)).toMatchObject({ id: 's1' })
})

test('keys of the environment encrypt credentials for all processes', async () => {
  vi.stubEnv('TOOLWRIGHT_ENCRYPTION_KEYS', Buffer.alloc(32, 7).toString('base64'))
  const schema = newSchema()
  const where = { appName: 'shop', userId: 'ada', key: 'mail' }
  const credential = { authType: 'apiKey' as const, apiKey: 'sk-secret' }
  await open(serverUrl(), { schema }).credentialService.save({ ...where, credential })
  expect((await open(serverUrl(), { schema }).credentialService.load(where))?.credential).toEqual(credential)
  const rows = await runSql(`SELECT sealed FROM "${schema}".toolwright_credentials`)
  expect(Buffer.from(rows[0]?.sealed as Buffer).includes('sk-secret')).toBe(false)
})

test('leases end on the clock of the server, not of the process', async () => {
  const schema = newSchema()
  const ahead = open(serverUrl(), { schema, leaseMs: 60_000 })
  await ahead.sessionService.createSession(key)
  const lease = await ahead.sessionService.claim(key)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 })
  onTestFinished(() => void vi.useRealTimers())
  const other = open(serverUrl(), { schema, leaseMs: 60_000 })
  await expect(other.sessionService.claim(key)).rejects.toMatchObject({ code: 'SESSION_BUSY' })
  expect(await ahead.sessionService.renew(lease)).toMatchObject({ epoch: lease.epoch })
})

test('ids that Postgres cannot index are refused, as everywhere, and other ids of the same length are stored', async () => {
  const { sessionService } = emptyStore()
  const random = Array.from({ length: 1000 }, (_, index) =>
    String.fromCharCode(0x4e00 + ((index * 7919) % 20_000)),
  ).join('')
  await expect(
    sessionService.createSession({ appName: random, userId: random, sessionId: random }),
  ).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining('Use shorter ids'),
  })
  await sessionService.createSession({ ...key, sessionId: 'x'.repeat(1000) })
  expect(await sessionService.listSessions(key)).toHaveLength(1)
})

function errorOf(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  return undefined
}
