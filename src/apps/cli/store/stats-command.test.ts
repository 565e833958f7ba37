import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventOf, requestOf } from '../../../adapters/testing/suites/session-fixtures.ts'
import { sqlite } from '../../sqlite/sqlite.ts'
import { temporaryFile, temporaryFolder } from '../../sqlite/temporary-file.test-kit.ts'
import { runCommandLine } from '../terminal.test-kit.ts'

async function filledFile(): Promise<string> {
  const file = temporaryFile()
  let time = Date.UTC(2026, 0, 1, 8)
  using services = sqlite(file, { now: () => time })
  const { sessionService, artifactService } = services
  const text = (length: number) => ({ content: { role: 'user', parts: [{ text: 'x'.repeat(length) }] } }) as const
  await sessionService.createSession({ appName: 'shop', userId: 'ada', sessionId: 'old', events: [eventOf('e1')] })
  time += 3_600_000
  const large = { appName: 'shop', userId: 'bob/2', sessionId: 'large' }
  await sessionService.createSession({ ...large, events: [eventOf('e1', text(50_000)), eventOf('e2', text(50_000))] })
  await sessionService.createSession({ appName: 'bank', userId: 'ada', sessionId: 'new' })
  await sessionService.createCopy?.({ ...large, sessionId: 'unfinished' })
  const lease = await sessionService.claim(large)
  await sessionService.append(lease, 2, [], { pending: { opened: [requestOf('r1')], closed: [] } })
  await artifactService.saveArtifact({ ...large, filename: 'a', artifact: { text: 'file' } })
  return file
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

test('toolwright store stats of an empty store has no sessions', async () => {
  const file = temporaryFile()
  sqlite(file).close()
  const { code, out } = await runCommandLine(['store', 'stats', file])
  expect([code, out]).toEqual([0, expect.stringContaining('0 sessions of 0 users in 0 apps')])
})

test.each([
  [['store'], 2, 'Name a command: `toolwright store stats <file>`'],
  [['store', 'stat'], 2, '"stat" is no command of toolwright store'],
  [['store', 'stats'], 2, 'Pass one SQLite file'],
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
