import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { scriptedModel } from '../../adapters/testing/scripted-model.ts'
import { eventIds, eventOf, HOME, requestOf } from '../../adapters/testing/suites/session-fixtures.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile, temporaryFolder } from './temporary-file.test-kit.ts'

const agentThatSays = (...said: string[]) => new LlmAgent({ name: 'clerk', model: scriptedModel(said) })

test('a session continues in another process with its state and artifacts', async () => {
  const file = temporaryFile()
  const first = sqlite(file)
  const runner = new Runner({ appName: 'shop', agent: agentThatSays('Hello.'), ...first })
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Hi', stateDelta: { 'user:name': 'Ada' } })
  await first.artifactService.saveArtifact({ ...HOME, filename: 'a.txt', artifact: { text: 'kept' } })
  await runner.close()
  first.close()

  using second = sqlite(file)
  const model = scriptedModel(['Hello again.'])
  const again = new Runner({ appName: 'shop', agent: new LlmAgent({ name: 'clerk', model }), ...second })
  expect((await again.complete({ userId: 'ada', sessionId: 's1', message: 'Hi' })).text).toBe('Hello again.')
  expect(model.requests[0]?.contents.map(({ parts }) => parts[0]?.text)).toEqual(['Hi', 'Hello.', 'Hi'])
  expect((await second.sessionService.getSession(HOME))?.state).toEqual({ 'user:name': 'Ada' })
  expect(await second.artifactService.loadArtifact({ ...HOME, filename: 'a.txt' })).toEqual({ text: 'kept' })
})

test('spreading sqlite() copies only the services, and closing a runner leaves the file open', async () => {
  using services = sqlite(temporaryFile())
  expect(Object.keys({ ...services })).toEqual([
    'sessionService',
    'artifactService',
    'credentialService',
    'memoryService',
    'scheduleService',
    'limitService',
    'workerService',
  ])
  const runner = new Runner({ appName: 'shop', agent: agentThatSays('Hello.'), ...services })
  await runner.close()
  await services.sessionService.createSession(HOME)
  expect(await services.sessionService.getSession(HOME)).toMatchObject({ id: 's1' })
})

test('a closed SQLite file rejects every method and can be closed again', async () => {
  const services = sqlite(temporaryFile())
  await services.sessionService.createSession(HOME)
  const lease = await services.sessionService.claim(HOME)
  const { state } = await services.sessionService.read(lease)
  services.close()
  services.close()
  const closed = { code: 'STORAGE', message: expect.stringContaining('was closed') }
  await expect(services.sessionService.getSession(HOME)).rejects.toMatchObject(closed)
  await expect(services.sessionService.append(lease, 0, [])).rejects.toMatchObject(closed)
  await expect(services.artifactService.listArtifactKeys(HOME)).rejects.toMatchObject(closed)
  await expect(services.credentialService.load({ ...HOME, key: 'mail' })).rejects.toMatchObject(closed)
  const credential = { authType: 'apiKey', apiKey: 'secret' }
  await expect(services.credentialService.save({ ...HOME, key: 'mail', credential })).rejects.toMatchObject(closed)
  await expect(services.credentialService.delete({ ...HOME, key: 'mail' })).rejects.toMatchObject(closed)
  expect(() => state.get('x')).toThrow(expect.objectContaining(closed))
})

test('a new SQLite file and its write-ahead log are readable by their owner only', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.sessionService.createSession(HOME)
  for (const name of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(name).mode & 0o777).toBe(0o600)
})

test('an existing SQLite file keeps its permissions and its other tables', async () => {
  const file = temporaryFile()
  const own = new DatabaseSync(file)
  own.exec("CREATE TABLE sessions (id TEXT); INSERT INTO sessions VALUES ('mine')")
  const { mode } = statSync(file)
  using services = sqlite(file)
  await services.sessionService.createSession(HOME)
  expect(statSync(file).mode).toBe(mode)
  expect(own.prepare('SELECT * FROM sessions').all()).toMatchObject([{ id: 'mine' }])
  own.close()
})

test('sqlite() accepts a URL, and every :memory: database is separate', async () => {
  const file = temporaryFile()
  using services = sqlite(pathToFileURL(file))
  expect(existsSync(file)).toBe(true)
  using one = sqlite(':memory:')
  using other = sqlite(':memory:')
  await one.sessionService.createSession({ ...HOME, events: [eventOf('e1')] })
  expect(await eventIds(one.sessionService, HOME)).toEqual(['e1'])
  expect(await other.sessionService.getSession(HOME)).toBeUndefined()
  expect(await services.sessionService.getSession(HOME)).toBeUndefined()
})

test.each([
  ['a folder', () => temporaryFolder(), 'it is a folder'],
  ['a file in a missing folder', () => join(temporaryFolder(), 'no', 'app.db'), 'Create it first'],
  ['a file in a file', () => join(fileWith('x'), 'app.db'), 'Create it first'],
  ['a text file', () => fileWith('these are notes, '.repeat(100)), 'is not a SQLite database'],
  ['a blank path', () => ' ', 'requires the path of a file'],
  ['a number', () => 7 as unknown as string, 'requires the path of a file'],
  ['a path with NUL', () => `${temporaryFile()}\0.db`, 'requires the path of a file'],
  ['a URL in a string', () => `file:${temporaryFile()}`, 'is a URL in a string'],
  ['an https URL', () => new URL('https://example.com/app.db'), 'requires the path of a file'],
])('sqlite() rejects %s with advice', (_what, path, message) => {
  expect(() => sqlite(path())).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(message) }),
  )
})

test.each([
  ['synchronous', { synchronous: 'off' as 'full' }],
  ['busyTimeoutMs', { busyTimeoutMs: -1 }],
  ['leaseMs', { leaseMs: Number.NaN }],
  ['leaseMs', { leaseMs: 999 }],
  ['leaseMs', { leaseMs: 86_400_001 }],
  ['cacheBytes', { cacheBytes: Number.POSITIVE_INFINITY }],
  ['encryptionKeys', { encryptionKeys: [] }],
  ['encryptionKeys', { encryptionKeys: [Buffer.alloc(31).toString('base64')] }],
  ['encryptionKeys', { encryptionKeys: Buffer.alloc(32).toString('base64') as unknown as string[] }],
])('sqlite() rejects an invalid %s and creates no file', (name, options) => {
  const file = temporaryFile()
  expect(() => sqlite(file, options)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(name) }),
  )
  expect(existsSync(file)).toBe(false)
})

test('looking for interrupted runs reads no idle sessions', () => {
  const file = temporaryFile()
  sqlite(file).close()
  const connection = new DatabaseSync(file)
  const plan = connection
    .prepare('EXPLAIN QUERY PLAN SELECT id FROM toolwright_sessions WHERE app = ? AND epoch <> 0 ORDER BY id')
    .all('shop')
  connection.close()
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining('toolwright_sessions_held')])
})

test('a request that a process of an earlier version has stored expires, too, and finding it reads no other requests', async () => {
  const file = temporaryFile()
  const services = sqlite(file)
  const { sessionService } = services
  for (const [sessionId, expiresAt] of Object.entries({ late: 10, early: 5, other: 10 })) {
    await sessionService.createSession({ ...HOME, sessionId })
    const lease = await sessionService.claim({ ...HOME, sessionId })
    const opened = [requestOf(`r-${sessionId}`, { sessionId, expiresAt, args: { expiresAt: 1 } })]
    await sessionService.append(lease, 0, [], { pending: { opened, closed: [] } })
  }
  const connection = new DatabaseSync(file)
  connection.exec("UPDATE toolwright_pending SET expires = NULL WHERE body NOT LIKE '%other%'")
  connection.exec("UPDATE toolwright_pending SET body = '{' WHERE body LIKE '%early%'") // damaged
  const find = async (now: number): Promise<string[]> =>
    ((await sessionService.overdue?.({ appName: HOME.appName, now, limit: 9 })) ?? []).map(({ sessionId }) => sessionId)
  expect([await find(9_999), (await find(10_000)).sort()]).toEqual([[], ['late', 'other']])
  const plan = connection.prepare('EXPLAIN QUERY PLAN SELECT session FROM toolwright_pending WHERE expires <= ?').all(1)
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining('toolwright_pending_expires')])
  connection.close()
  services.close()
})

test('a SQLite file with a newer or unknown schema version is rejected unchanged', () => {
  const file = temporaryFile()
  sqlite(file).close()
  const newer = new DatabaseSync(file)
  const version = newer.prepare("SELECT value FROM toolwright_meta WHERE name = 'schema'").get()?.value
  newer.exec("UPDATE toolwright_meta SET value = 99 WHERE name = 'schema'")
  expect(() => sqlite(file)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringMatching(/newer.*99.*Update Toolwright/) }),
  )
  newer.exec(`UPDATE toolwright_meta SET value = ${version} WHERE name = 'schema'`)
  sqlite(file).close()
  newer.exec("DELETE FROM toolwright_meta WHERE name = 'schema'")
  expect(() => sqlite(file)).toThrow('has no valid schema version')
  newer.close()
})

test('a SQLite file name with characters that SQLite interprets is used literally', () => {
  const file = join(temporaryFolder(), 'a b?mode=memory&x=%41#é.db')
  sqlite(file).close()
  expect(existsSync(file)).toBe(true)
})

function fileWith(text: string): string {
  const file = temporaryFile()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}
