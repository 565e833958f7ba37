import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventOf, requestOf } from '../../../adapters/testing/suites/session-fixtures.ts'
import { newSchema, runSql, serverUrl } from '../../postgres/database.test-kit.ts'
import { postgres } from '../../postgres/postgres.ts'
import { sqlite } from '../../sqlite/sqlite.ts'
import { temporaryFile, temporaryFolder } from '../../sqlite/temporary-file.test-kit.ts'
import { runCommandLine } from '../terminal.test-kit.ts'
import type { StoreServices } from './copied-stores.test-kit.ts'

/** The clock of the store that is filled. */
const clock = { time: 0 }
const now = (): number => clock.time

async function filledFile(): Promise<string> {
  const file = temporaryFile()
  using services = sqlite(file, { now })
  await fill(services)
  return file
}

/** A schema of the shared server with the same content. */
async function filledSchema(): Promise<string> {
  const schema = newSchema()
  await using services = postgres(serverUrl(), { schema, now })
  await fill(services)
  return schema
}

async function fill({ sessionService, artifactService }: StoreServices): Promise<void> {
  clock.time = Date.UTC(2026, 0, 1, 8)
  const text = (length: number) => ({ content: { role: 'user', parts: [{ text: 'x'.repeat(length) }] } }) as const
  await sessionService.createSession({ appName: 'shop', userId: 'ada', sessionId: 'old', events: [eventOf('e1')] })
  clock.time += 3_600_000
  const large = { appName: 'shop', userId: 'bob/2', sessionId: 'large' }
  await sessionService.createSession({ ...large, events: [eventOf('e1', text(50_000)), eventOf('e2', text(50_000))] })
  await sessionService.createSession({ appName: 'bank', userId: 'ada', sessionId: 'new' })
  await sessionService.createCopy?.({ ...large, sessionId: 'unfinished' })
  const lease = await sessionService.claim(large)
  await sessionService.append(lease, 2, [], { pending: { opened: [requestOf('r1')], closed: [] } })
  await artifactService.saveArtifact({ ...large, filename: 'a', artifact: { text: 'file' } })
}

test('toolwright store stats shows sessions, bytes, the oldest and the largest', async () => {
  const file = await filledFile()
  const { code, out } = await runCommandLine(['store', 'stats', file, '--top', '1'])
  expect(code).toBe(0)
  expect(out).toMatch(/^file {7}[\d.]+ kB, 0 B of it free$/m)
  expect(out).toContain(
    'sessions   3 sessions of 3 users in 2 apps\n           bank: 1 session\n           shop: 2 sessions\n',
  )
  expect(out).toMatch(/^log {8}3 entries, 100\.\d kB$/m)
  expect(out).toMatch(/^artifacts {2}1 version, \d+ B$/m)
  expect(out).toContain('pending    1 request\n')
  expect(out).toMatch(/^oldest {5}2026-01-01 08:00 {2}\d+ B, 1 entry {2}shop \/ ada \/ old$/m)
  expect(out).toMatch(/^largest {4}2026-01-01 09:00 {2}100\.\d kB, 2 entries {2}shop \/ bob\/2 \/ large$/m)
})

test('toolwright store stats --json is for programs, and the file stays as it is', async () => {
  const file = await filledFile()
  const before = statSync(file)
  const { out } = await runCommandLine(['store', 'stats', file, '--json'])
  const stats = JSON.parse(out)
  expect(stats).toMatchObject({ sessions: 3, pending: 1, log: { entries: 3 }, artifacts: { versions: 1 } })
  expect(stats.largest.map(({ session }: { session: string }) => session)).toEqual(['large', 'old', 'new'])
  expect(statSync(file)).toMatchObject({ size: before.size, mtimeMs: before.mtimeMs })
})

test('toolwright store stats of a store in Postgres is the same, with the size of the tables', async () => {
  const [file, schema] = [await filledFile(), await filledSchema()]
  const stats = (...args: string[]) => runCommandLine(['store', 'stats', ...args])
  const { code, out } = await stats(serverUrl(), '--schema', schema)
  expect(code).toBe(0)
  expect(out).toMatch(/^tables {5}[\d.]+ kB$/m)
  const withoutSize = (text: string): string[] => text.split('\n').slice(1)
  expect(withoutSize(out)).toEqual(withoutSize((await stats(file)).out))
  const [ofFile, ofSchema] = [await stats(file, '--json'), await stats(serverUrl(), '--schema', schema, '--json')]
  const { fileBytes, ...rest } = JSON.parse(ofSchema.out)
  expect(fileBytes).toBeGreaterThan(100_000)
  const { freeBytes, ...expected } = JSON.parse(ofFile.out)
  expect({ ...rest, fileBytes: 0 }).toEqual({ ...expected, freeBytes: null, fileBytes: 0 })
})

test('toolwright store stats creates and migrates nothing in Postgres, and needs only the right to read', async () => {
  const [schema, role] = [await filledSchema(), `reader_${newSchema().slice(5, 13)}`]
  await runSql(
    `CREATE ROLE "${role}" LOGIN; GRANT USAGE ON SCHEMA "${schema}" TO "${role}"; GRANT SELECT ON ALL TABLES IN SCHEMA "${schema}" TO "${role}";
     UPDATE "${schema}".toolwright_meta SET value = 2 WHERE name = 'schema'`,
  )
  const url = new URL(serverUrl())
  url.username = role
  const { code, out } = await runCommandLine(['store', 'stats', url.href, '--schema', schema])
  expect([code, out]).toEqual([0, expect.stringContaining('3 sessions of 3 users in 2 apps')])
  const unused = newSchema()
  const missing = await runCommandLine(['store', 'stats', serverUrl(), '--schema', unused])
  expect([missing.code, missing.errors]).toEqual([2, expect.stringContaining('has no tables of toolwright')])
  expect(await runSql(`SELECT nspname FROM pg_namespace WHERE nspname = '${unused}'`)).toEqual([])
})

test('toolwright store stats of a server that is away says what to do, without the password', async () => {
  const { code, errors } = await runCommandLine(['store', 'stats', 'postgres://ada:geheim@127.0.0.1:1/shop'])
  expect([code, errors]).toEqual([1, expect.stringContaining('nothing listens at this address')])
  expect(errors).not.toContain('geheim')
})

test('toolwright store stats of an empty store has no sessions', async () => {
  const file = temporaryFile()
  sqlite(file).close()
  const { code, out } = await runCommandLine(['store', 'stats', file])
  expect([code, out]).toEqual([0, expect.stringContaining('0 sessions of 0 users in 0 apps')])
})

test.each([
  [['store'], 2, 'Name a command: `toolwright store stats <store>`'],
  [['store', 'stat'], 2, '"stat" is no command of toolwright store'],
  [['store', 'stats'], 2, 'Pass one SQLite file or URL of Postgres'],
  [['store', 'stats', 'a.db', '--schema', 'shop'], 2, '--schema is for Postgres'],
  [['store', 'stats', 'missing.db'], 2, 'does not exist'],
  [['store', 'stats', 'a.db', '--top', '0'], 2, '--top must be a whole number'],
])('toolwright %j says what to do', async (args, code, message) => {
  const ended = await runCommandLine(args)
  expect([ended.code, ended.errors]).toEqual([code, expect.stringContaining(message)])
})

test('toolwright store stats of another file is an error', async () => {
  const file = join(temporaryFolder(), 'notes.txt')
  writeFileSync(file, 'these are notes, '.repeat(100))
  const { code, errors } = await runCommandLine(['store', 'stats', file])
  expect([code, errors]).toEqual([1, expect.stringContaining('cannot be read as a store of toolwright')])
})
