// Disk faults and locks: the error says what to do, and no transaction is written in part.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import {
  entryOf,
  eventIds,
  HOME,
  intentOf,
  requestOf,
  stateOf,
  write,
} from '../../adapters/testing/suites/session-fixtures.ts'
import type { SessionService } from '../../services/session/service.ts'
import { SqlSessionService } from '../../services/sql/session-service.ts'
import { openDatabase } from './open-database.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

const storage = (message: string) => ({ code: 'STORAGE', message: expect.stringContaining(message) })

test('writes to SQLite fail while another program holds the lock too long, reads succeed, and nothing is lost', async () => {
  const file = temporaryFile()
  const clock = { time: 0 }
  using services = sqlite(file, { busyTimeoutMs: 1, now: () => clock.time })
  const { sessionService, artifactService } = services
  await sessionService.createSession(HOME)
  const lease = await sessionService.claim(HOME)
  await sessionService.append(lease, 0, [entryOf('e1')])
  const other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE')
  clock.time += lease.leaseMs // a holder would wait until its lease ends
  const held = storage('raise busyTimeoutMs')
  const artifact = { text: 'x' }
  await expect(sessionService.append(lease, 1, [entryOf('e2')])).rejects.toMatchObject(held)
  await expect(sessionService.createSession({ ...HOME, sessionId: 's2' })).rejects.toMatchObject(held)
  await expect(sessionService.deleteSession(HOME)).rejects.toMatchObject(held)
  await expect(sessionService.claim(HOME)).rejects.toMatchObject(held)
  await expect(sessionService.renew(lease)).rejects.toMatchObject(held)
  await expect(sessionService.release(lease)).rejects.toMatchObject(held)
  await expect(sessionService.post(HOME, { id: 'x', type: 'cancel' })).rejects.toMatchObject(held)
  await expect(artifactService.saveArtifact({ ...HOME, filename: 'a', artifact })).rejects.toMatchObject(held)
  await expect(artifactService.deleteArtifact({ ...HOME, filename: 'a' })).rejects.toMatchObject(held)
  expect(await eventIds(sessionService, HOME)).toEqual(['e1'])
  expect((await sessionService.read(lease)).entries).toHaveLength(1)
  other.exec('COMMIT')
  other.close()
  expect(await sessionService.append(lease, 1, [entryOf('e2')])).toBe(2)
})

test('sqlite() cannot create its tables in a locked file, but can after the unlock', () => {
  const file = temporaryFile()
  const other = new DatabaseSync(file)
  other.exec('BEGIN EXCLUSIVE')
  expect(() => sqlite(file, { busyTimeoutMs: 20 })).toThrow(expect.objectContaining(storage('raise busyTimeoutMs')))
  other.exec('COMMIT')
  other.close()
  sqlite(file).close()
})

test('an append on a full disk stores no partial data', async () => {
  const database = openDatabase(temporaryFile(), { synchronous: 'normal', busyTimeoutMs: 0 })
  const service = serviceOn(database)
  await service.createSession({ ...HOME, state: { 'user:step': 0 } })
  const lease = await service.claim(HOME)
  await service.post(HOME, { id: 'item', type: 'cancel' })
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number }
  database.prepare(`PRAGMA max_page_count = ${pages + 2}`).get()
  const large = entryOf('e2', { text: 'x'.repeat(100_000) })
  const refused = service.append(lease, 0, [entryOf('e1', { 'user:step': 1 }), intentOf('c1'), large], {
    drained: ['item'],
    pending: { opened: [], closed: 'all' as const },
  })
  await expect(refused).rejects.toMatchObject(storage('Free disk space'))
  expect(await eventIds(service, HOME)).toEqual([])
  expect(await stateOf(service, HOME)).toEqual({ 'user:step': 0 })
  expect((await service.read(lease)).entries).toEqual([])
  expect(await service.inbox(lease)).toHaveLength(1)

  database.prepare(`PRAGMA max_page_count = ${pages + 1000}`).get()
  expect(await service.append(lease, 0, [entryOf('e1'), intentOf('c1'), large])).toBe(3)
  database.close()
})

test('a read-only SQLite file can be read', async () => {
  const database = openDatabase(temporaryFile(), { synchronous: 'normal', busyTimeoutMs: 0 })
  const service = serviceOn(database)
  await service.createSession(HOME)
  await write(service, HOME, entryOf('e1'))
  database.prepare('PRAGMA query_only = ON').get()
  await expect(service.claim(HOME)).rejects.toMatchObject(storage('Check the permissions'))
  expect(await eventIds(service, HOME)).toEqual(['e1'])
  database.close()
})

test.each([
  ['invalid JSON', 'UPDATE toolwright_entries SET body = \'{"id":\' WHERE seq = 2', 'Entry 2'],
  ['not an event', "UPDATE toolwright_entries SET body = '[]' WHERE seq = 2", 'Entry 2'],
  [
    'an event without actions',
    'UPDATE toolwright_entries SET body = \'{"id":"e2","author":"x"}\' WHERE seq = 2',
    'Entry 2',
  ],
  ['not a record', "UPDATE toolwright_entries SET body = '7' WHERE seq = 3", 'Entry 3'],
  ['missing', 'DELETE FROM toolwright_entries WHERE seq = 2', 'Entry 2'],
  ['missing at the end', 'DELETE FROM toolwright_entries WHERE seq = 3', 'Entry 3'],
])('reading a log from SQLite fails when an entry is %s', async (_what, damage, which) => {
  const file = temporaryFile()
  using first = sqlite(file)
  await first.sessionService.createSession(HOME)
  await write(first.sessionService, HOME, entryOf('e1'), entryOf('e2'), intentOf('c1'))
  const other = new DatabaseSync(file)
  other.exec(damage)
  other.close()
  using second = sqlite(file)
  const lease = await second.sessionService.claim(HOME)
  await expect(second.sessionService.read(lease)).rejects.toMatchObject(storage(which))
  await second.sessionService.release(lease)
  expect(await eventIds(second.sessionService, { ...HOME, sessionId: 's2' })).toBeUndefined()
})

test.each([
  ['an inbox item that is a number', "UPDATE toolwright_inbox SET body = '3' WHERE item_id = 'x'", ['y'], ['r1', 'r2']],
  [
    'an inbox item without a type',
    `UPDATE toolwright_inbox SET body = '{"id":"z"}' WHERE item_id = 'x'`,
    ['y'],
    ['r1', 'r2'],
  ],
  [
    'a pending request that is invalid JSON',
    `UPDATE toolwright_pending SET body = 'nu' WHERE body LIKE '%r1%'`,
    ['x', 'y'],
    ['r2'],
  ],
  [
    'a pending request with only an id',
    `UPDATE toolwright_pending SET body = '{"id":"r1"}' WHERE body LIKE '%r1%'`,
    ['x', 'y'],
    ['r2'],
  ],
])('a damaged SQLite row is reported once and skipped: %s', async (_what, damage, items, requests) => {
  const file = temporaryFile()
  const warn = vi.fn()
  using services = sqlite(file, { logger: { warn, error: vi.fn() } })
  const { sessionService } = services
  await sessionService.createSession(HOME)
  for (const id of ['x', 'y']) await sessionService.post(HOME, { id, type: 'cancel' })
  const lease = await sessionService.claim(HOME)
  const pending = [requestOf('r1'), requestOf('r2')]
  await sessionService.append(lease, 0, [], { pending: { opened: pending, closed: [] } })
  const other = new DatabaseSync(file)
  other.exec(damage)
  other.close()
  const { appName } = HOME
  for (const _again of [1, 2]) {
    expect((await sessionService.inbox(lease)).map(({ id }) => id)).toEqual(items)
    expect((await sessionService.pending({ appName })).map(({ id }) => id)).toEqual(requests)
  }
  expect(warn).toHaveBeenCalledOnce()
  expect(warn.mock.calls[0]?.[0]).toMatch(/of session "s1" is damaged in the database and was skipped/)
  if (requests.length < 2) {
    const repair = storage('A pending request of session "s1" is damaged in the database. Resume the session')
    await expect(sessionService.pending(HOME)).rejects.toMatchObject(repair)
  }
  await sessionService.append(lease, 0, [], { pending: { opened: pending, closed: 'all' } }) // as resume() does
  expect((await sessionService.pending(HOME)).toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(pending)
})

test.each([
  ['state', "UPDATE toolwright_state SET value = '{\"a'", (service: SessionService) => service.getSession(HOME)],
])('damaged %s in SQLite is reported with an error', async (_what, damage, look) => {
  const file = temporaryFile()
  using services = sqlite(file)
  const { sessionService } = services
  await sessionService.createSession({ ...HOME, state: { color: 'red' } })
  const other = new DatabaseSync(file)
  other.exec(damage)
  other.close()
  await expect(look(sessionService)).rejects.toMatchObject(storage('Restore the file from a backup'))
})

test('a truncated SQLite file is reported with an error', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.sessionService.createSession(HOME)
  await write(services.sessionService, HOME, entryOf('e1', { text: 'x'.repeat(100_000) }))
  services.close()
  const whole = readFileSync(file)
  truncateSync(file, 20_000)
  const opened = (): Promise<unknown> => {
    using cut = sqlite(file)
    return cut.sessionService.getSession(HOME)
  }
  await expect((async () => await opened())()).rejects.toMatchObject({ message: expect.stringContaining('is damaged') })
  writeFileSync(file, whole)
  expect(await opened()).toMatchObject({ id: 's1' })
})

function serviceOn(database: ReturnType<typeof openDatabase>): SessionService {
  const now = () => 0
  const options = { now, newId: () => 'id', leaseMs: 15_000, cacheBytes: 1_000_000, logger: console }
  return new SqlSessionService(database, options)
}
