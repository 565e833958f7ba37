// Checkpoints on SQLite: a process that has not cached the log reads the checkpoint and what follows, and never less than the log.
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { entryOf, eventIds, HOME, write } from '../../adapters/testing/suites/session-fixtures.ts'
import { type SqliteServices, sqlite } from '../../apps/sqlite/sqlite.ts'
import { temporaryFile } from '../../apps/sqlite/temporary-file.test-kit.ts'
import type { Entry } from '../../core/event/event.ts'
import type { HeldLog } from '../session/service.ts'

/** A file with a session of four entries and a checkpoint of the first two. */
async function fileWithCheckpoint(): Promise<string> {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.sessionService.createSession(HOME)
  const lease = await services.sessionService.claim(HOME)
  await services.sessionService.append(lease, 0, [entryOf('e1'), entryOf('e2')])
  const checkpoint = { turns: [1, 'two', null] }
  await services.sessionService.append(lease, 2, [entryOf('e3'), entryOf('e4', { color: 'red' })], { checkpoint })
  await services.sessionService.release(lease)
  return file
}

async function readBy({ sessionService }: SqliteServices): Promise<HeldLog> {
  const lease = await sessionService.claim(HOME)
  const log = await sessionService.read(lease)
  await sessionService.release(lease)
  return log
}

const idsOf = (entries: readonly Entry[] = []): unknown[] => entries.map(({ event }) => event?.id)

function change(file: string, sql: string): void {
  const other = new DatabaseSync(file)
  other.exec(sql)
  other.close()
}

test('another process reads the checkpoint and the entries after it, and the others on demand', async () => {
  using services = sqlite(await fileWithCheckpoint())
  const { sessionService } = services
  const lease = await sessionService.claim(HOME)
  const { entries, checkpoint, state } = await sessionService.read(lease)
  expect(checkpoint).toMatchObject({ seq: 2, state: { turns: [1, 'two', null] } })
  expect(entries.map(({ seq }) => seq)).toEqual([3, 4])
  expect(idsOf(await checkpoint?.entriesBefore())).toEqual(['e1', 'e2'])
  expect(idsOf(await checkpoint?.entriesBefore({ fromSeq: 1 }))).toEqual(['e2'])
  expect(state.get('color')).toBe('red')
  expect(await sessionService.append(lease, 4, [entryOf('e5')])).toBe(5)
  expect(await eventIds(sessionService, HOME)).toEqual(['e1', 'e2', 'e3', 'e4', 'e5'])
})

test('a process that has cached the whole log reads it without the checkpoint', async () => {
  using services = sqlite(await fileWithCheckpoint())
  const { sessionService } = services
  const hot = { ...HOME, sessionId: 's2' }
  await sessionService.createSession(hot)
  const lease = await sessionService.claim(hot)
  const { memo } = await sessionService.read(lease)
  await sessionService.append(lease, 0, [entryOf('e1')])
  await sessionService.append(lease, 1, [entryOf('e2')], { checkpoint: {} })
  const log = await sessionService.read(lease)
  expect(log.checkpoint).toBeUndefined()
  expect([log.memo, idsOf(log.entries)]).toEqual([memo, ['e1', 'e2']])
})

test('a long log before a checkpoint is read in pieces', async () => {
  const file = temporaryFile()
  const text = 'x'.repeat(400_000)
  using first = sqlite(file)
  await first.sessionService.createSession(HOME)
  for (let n = 0; n < 6; n++) await write(first.sessionService, HOME, entryOf(`e${n}`, { text }))
  const lease = await first.sessionService.claim(HOME)
  await first.sessionService.append(lease, 6, [entryOf('last')], { checkpoint: { n: 6 } })
  await first.sessionService.release(lease)
  using second = sqlite(file)
  const { entries, checkpoint } = await second.sessionService.read(await second.sessionService.claim(HOME))
  expect(idsOf(entries)).toEqual(['last'])
  expect(idsOf(await checkpoint?.entriesBefore())).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5'])
})

test.each([
  ['is not JSON', `UPDATE toolwright_checkpoints SET state = '{"a'`],
  ['is not an object', `UPDATE toolwright_checkpoints SET state = '[]'`],
  ['is later than the log', 'UPDATE toolwright_checkpoints SET seq = 5'],
  ['is before the first entry', 'UPDATE toolwright_checkpoints SET seq = 0'],
])('a checkpoint that %s is reported once and ignored', async (_what, sql) => {
  const file = await fileWithCheckpoint()
  change(file, sql)
  const warn = vi.fn()
  using services = sqlite(file, { logger: { warn, error: vi.fn() }, cacheBytes: 0 })
  for (const _again of [1, 2]) {
    const log = await readBy(services)
    expect([log.checkpoint, idsOf(log.entries)]).toEqual([undefined, ['e1', 'e2', 'e3', 'e4']])
  }
  expect(warn.mock.calls).toEqual([[expect.stringContaining('The checkpoint of session "s1" is damaged')]])
})

test.each(['seq = 1', 'seq <= 2'])(
  'reading before a checkpoint fails when the entries with %s are missing',
  async (which) => {
    const file = await fileWithCheckpoint()
    change(file, `DELETE FROM toolwright_entries WHERE ${which}`)
    using services = sqlite(file)
    const { checkpoint } = await services.sessionService.read(await services.sessionService.claim(HOME))
    const message = expect.stringContaining('Entry 1 of session "s1" is damaged')
    await expect(checkpoint?.entriesBefore()).rejects.toMatchObject({ code: 'STORAGE', message })
  },
)

test('the entries before a checkpoint are not read under a lost lease', async () => {
  using services = sqlite(await fileWithCheckpoint())
  const { checkpoint } = await readBy(services)
  await expect(checkpoint?.entriesBefore()).rejects.toMatchObject({ code: 'LEASE_LOST' })
})

test('a new session with the key of a deleted one has no checkpoint', async () => {
  const file = await fileWithCheckpoint()
  using services = sqlite(file)
  await services.sessionService.deleteSession(HOME)
  await services.sessionService.createSession(HOME)
  await write(services.sessionService, HOME, entryOf('f1'), entryOf('f2'), entryOf('f3'))
  using again = sqlite(file)
  const log = await readBy(again)
  expect([log.checkpoint, idsOf(log.entries)]).toEqual([undefined, ['f1', 'f2', 'f3']])
})
