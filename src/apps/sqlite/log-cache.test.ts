// A cached log is never older than the log in the file.
import { expect, test } from 'vitest'
import { entryOf, HOME, intentOf, write } from '../../adapters/testing/suites/session-fixtures.ts'
import type { HeldLog, SessionService } from '../../services/session/service.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

async function readBy(service: SessionService): Promise<HeldLog> {
  const lease = await service.claim(HOME)
  const log = await service.read(lease)
  await service.release(lease)
  return log
}

test('the log cache returns the same memo and the appended entries in one process', async () => {
  using services = sqlite(temporaryFile())
  const { sessionService } = services
  await sessionService.createSession(HOME)
  const first = await readBy(sessionService)
  await write(sessionService, HOME, entryOf('e1'), intentOf('c1'))
  const second = await readBy(sessionService)
  expect(second.memo).toBe(first.memo)
  expect(second.entries).toEqual([
    { seq: 1, ...entryOf('e1') },
    { seq: 2, ...intentOf('c1') },
  ])
})

test('the log cache adds entries that another process appended', async () => {
  const file = temporaryFile()
  using here = sqlite(file)
  using there = sqlite(file)
  await here.sessionService.createSession(HOME)
  await write(here.sessionService, HOME, entryOf('e1'))
  const before = await readBy(here.sessionService)
  await write(there.sessionService, HOME, entryOf('e2'), intentOf('c1'))
  await write(here.sessionService, HOME, entryOf('e3'))
  const after = await readBy(here.sessionService)
  expect(after.memo).toBe(before.memo)
  expect(after.entries).toEqual([
    { seq: 1, ...entryOf('e1') },
    { seq: 2, ...entryOf('e2') },
    { seq: 3, ...intentOf('c1') },
    { seq: 4, ...entryOf('e3') },
  ])
  expect(await readBy(there.sessionService)).toMatchObject({ entries: after.entries })
})

test('the log cache ignores an append that was rolled back', async () => {
  using services = sqlite(temporaryFile())
  const { sessionService } = services
  await sessionService.createSession(HOME)
  const lease = await sessionService.claim(HOME)
  await sessionService.read(lease)
  const looped: { self?: unknown } = {}
  looped.self = looped
  await expect(sessionService.append(lease, 0, [entryOf('e1'), entryOf('e2', looped as never)])).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining('cannot be stored'),
  })
  await expect(sessionService.append(lease, 3, [entryOf('e1')])).rejects.toMatchObject({ code: 'STALE_APPEND' })
  expect((await sessionService.read(lease)).entries).toEqual([])
})

test('the log cache has no entries of a deleted session for a new one with the same key', async () => {
  const file = temporaryFile()
  using here = sqlite(file)
  using there = sqlite(file)
  await here.sessionService.createSession(HOME)
  await write(here.sessionService, HOME, entryOf('e1'), entryOf('e2'))
  const before = await readBy(here.sessionService)
  await there.sessionService.deleteSession(HOME)
  await there.sessionService.createSession(HOME)
  await write(there.sessionService, HOME, entryOf('f1'), entryOf('f2'))
  const after = await readBy(here.sessionService)
  expect(after.memo).not.toBe(before.memo)
  expect(after.entries.map(({ event }) => event?.id)).toEqual(['f1', 'f2'])
})

test('a log that is larger than the cache is read from the file', async () => {
  using services = sqlite(temporaryFile(), { cacheBytes: 0 })
  const { sessionService } = services
  await sessionService.createSession(HOME)
  await write(sessionService, HOME, entryOf('e1'))
  const first = await readBy(sessionService)
  const second = await readBy(sessionService)
  expect(second.memo).not.toBe(first.memo)
  expect(second.entries).toEqual(first.entries)
  const lease = await sessionService.claim(HOME)
  const { state } = await sessionService.read(lease)
  await sessionService.append(lease, 1, [entryOf('e2', { color: 'red' })])
  expect(state.get('color')).toBe('red')
  expect((await sessionService.read(lease)).entries).toHaveLength(2)
})

test('the log cache evicts the least recently used logs', async () => {
  using services = sqlite(temporaryFile(), { cacheBytes: 10_000 })
  const { sessionService } = services
  const memoOf = async (sessionId: string) => {
    const lease = await sessionService.claim({ ...HOME, sessionId })
    const { memo } = await sessionService.read(lease)
    await sessionService.release(lease)
    return memo
  }
  for (const sessionId of ['a', 'b', 'c', 'd']) {
    await sessionService.createSession({ ...HOME, sessionId })
    await write(sessionService, { ...HOME, sessionId }, entryOf('e1', { text: 'x'.repeat(3000) }))
  }
  const [a, b] = [await memoOf('a'), await memoOf('b')]
  expect(await memoOf('a')).toBe(a)
  await memoOf('c')
  expect(await memoOf('a'), 'recently used').toBe(a)
  await memoOf('d')
  expect(await memoOf('a'), 'still cached').toBe(a)
  expect(await memoOf('b'), 'evicted').not.toBe(b)
})

test('the state reader sees the commits of other processes at the next read', async () => {
  const file = temporaryFile()
  using here = sqlite(file)
  using there = sqlite(file)
  const sibling = { ...HOME, sessionId: 's2' }
  await here.sessionService.createSession(HOME)
  await here.sessionService.createSession(sibling)
  const lease = await here.sessionService.claim(HOME)
  const { state } = await here.sessionService.read(lease)
  await here.sessionService.append(lease, 0, [entryOf('e1', { color: 'red', 'user:name': 'Ada' })])
  expect([state.get('color'), state.get('user:name'), state.get('app:news')]).toEqual(['red', 'Ada', undefined])
  await write(there.sessionService, sibling, entryOf('f1', { color: 'blue', 'user:name': 'Eve', 'app:news': [1] }))
  expect([state.get('color'), state.get('user:name'), state.get('app:news')]).toEqual(['red', 'Eve', [1]])
  expect([...state.keys()]).toEqual(['app:news', 'user:name', 'color'])
  await write(there.sessionService, sibling, entryOf('f2', { 'user:name': null }))
  expect([...state.keys()]).toEqual(['app:news', 'color'])
})
