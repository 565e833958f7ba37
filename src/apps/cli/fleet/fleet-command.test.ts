import { join } from 'node:path'
import type { WorkerReport } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { expect, test } from 'vitest'
import { requestOf } from '../../../adapters/testing/suites/session-fixtures.ts'
import type { SqliteServices } from '../../sqlite/sqlite.ts'
import { temporaryFolder } from '../../sqlite/temporary-file.test-kit.ts'
import { runCommandLine, startCommandLine } from '../terminal.test-kit.ts'

const file = 'test/examples/fixtures/refund.ts'
const appName = 'refund'

interface Store {
  readonly db: string
  readonly services: SqliteServices
}

/** A store with work in every state. */
async function filledStore(): Promise<Store> {
  const db = join(temporaryFolder(), 'app.db')
  const services = sqlite(db)
  const { sessionService } = services
  const keyOf = (sessionId: string) => ({ appName, userId: 'ada', sessionId })
  for (const id of ['running', 'left', 'waiting', "it's\u202e aside", 'idle'])
    await sessionService.createSession(keyOf(id))
  await sessionService.claim(keyOf('running'))
  await sessionService.release(await sessionService.claim(keyOf('left')), { interrupted: true })
  const aside = keyOf("it's\u202e aside")
  await sessionService.release(await sessionService.claim(aside), { setAside: 'Five died.\u001b[2J' })
  const lease = await sessionService.claim(keyOf('waiting'))
  const opened = [requestOf('r1', { sessionId: 'waiting', createdAt: Date.now() / 1_000 - 7_200 })]
  await sessionService.append(lease, 0, [], { pending: { opened, closed: [] } })
  await sessionService.release(lease)
  return { db, services }
}

function reportOf(id: string, part: Partial<WorkerReport> = {}): WorkerReport {
  const counts = { running: 1, continued: 20, crashes: 0, recoveries: [] }
  return { appName, id, engine: 'store', version: '1.0.0', agents: 'aaaa', startedAt: 0, ...counts, ...part }
}

test('toolwright fleet shows workers of two versions, sessions by state, what waits and recovery times', async () => {
  const { db, services } = await filledStore()
  const recoveries = [
    { upToMs: 6_000, count: 98 },
    { upToMs: 15_000, count: 2 },
  ]
  await services.workerService.report(reportOf('w1', { label: 'pod-1', recoveries }))
  await services.workerService.report(reportOf('w2', { label: 'pod\u001b[31m-2', agents: 'bbbb', engine: 'restate' }))
  services.close()
  const { code, out } = await runCommandLine(['fleet', file, '--db', db])
  expect(code).toBe(0)
  expect(out).toContain('workers    2, 2 versions side by side\n')
  expect(out).toMatch(/^ +pod-1 +aaaa +1\.0\.0 +store +1 +20 +0 +1970-01-01 00:00 +[\d.]+ (ms|s) ago$/m)
  expect(out).toMatch(/^ +pod\\x1b\[31m-2 +bbbb +1\.0\.0 +restate/m)
  expect(out).toContain('sessions   1 running, 1 interrupted, 0 posted, 1 waiting, 1 set aside, 1 idle\n')
  expect(out).toContain('pending    1 request; oldest: confirmation for refund, ada / waiting, 2 h old\n')
  expect(out).toContain('recovery   100 sessions of dead workers, half within 6 s, 99 % within 15 s\n')
  expect(out).toContain("set aside  ada / it's\\u{202e} aside: Five died.\\x1b[2J\n")
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may reach the terminal
  expect(out).not.toMatch(/[\u001b\u202e]/)
})

test('toolwright fleet --json is for programs, and needs no key of a model', async () => {
  const { db, services } = await filledStore()
  services.close()
  const { code, out } = await runCommandLine([
    'fleet',
    'test/examples/fixtures/named-models.ts',
    '--app',
    appName,
    '--db',
    db,
    '--json',
  ])
  expect(code).toBe(0)
  const { apps } = JSON.parse(out)
  expect(apps).toEqual([
    expect.objectContaining({
      appName,
      workers: [],
      sessions: { running: 1, interrupted: 1, setAside: 1, posted: 0, waiting: 1, idle: 1 },
      recoveries: { count: 0 },
    }),
  ])
})

test('toolwright fleet --watch looks again until a signal', async () => {
  const { db, services } = await filledStore()
  const fleet = startCommandLine(['fleet', file, '--db', db, '--watch'])
  await fleet.until('workers    none. Start one: toolwright worker <file>')
  await services.workerService.report(reportOf('w1', { label: 'late' }))
  await fleet.until('late')
  fleet.signals.emit('SIGINT')
  expect((await fleet.ended).code).toBe(0)
  services.close()
})

test('toolwright fleet retry has workers continue a session that was set aside, and no other one', async () => {
  const { db, services } = await filledStore()
  const aside = "it's\u202e aside"
  const retry = (session: string) =>
    runCommandLine(['fleet', 'retry', file, '--db', db, '--user', 'ada', `--session=${session}`])
  const { code, out } = await retry(aside)
  expect([code, out]).toEqual([0, "A worker continues session it's\\u{202e} aside of ada.\n"])
  const interrupted = await services.sessionService.interrupted({ appName })
  expect(interrupted.map(({ sessionId }) => sessionId)).toContain(aside)
  for (const session of [aside, 'idle', 'running', 'none']) {
    const refused = await retry(session)
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('of this user is not set aside')])
  }
  expect(await services.sessionService.interrupted({ appName })).toEqual(interrupted)
  services.close()
})

test.each([
  [['fleet'], 'Pass an agent file or a folder'],
  [['fleet', 'retry'], 'Pass one agent file'],
  [['fleet', 'retry', file], '--session is missing'],
])('toolwright %j says what is missing', async (args, message) => {
  const ended = await runCommandLine(args)
  expect([ended.code, ended.errors]).toEqual([2, expect.stringContaining(message)])
})
