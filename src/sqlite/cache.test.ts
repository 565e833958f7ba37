// What a process remembers of a log is never behind what is in the file.
import { expect, test } from 'vitest'
import type { HeldLog, SessionService } from '../session/service.ts'
import { entryOf, HOME, intentOf, write } from '../testing/session-fixtures.ts'
import { temporaryFile } from './file.test-kit.ts'
import { sqlite } from './sqlite.ts'

async function readBy(service: SessionService): Promise<HeldLog> {
  const lease = await service.claim(HOME)
  const log = await service.read(lease)
  await service.release(lease)
  return log
}

test('turns of one process find the same memo, and the log with what they appended', async () => {
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

test('what another process appended comes after what is remembered', async () => {
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

test('an append that was undone is not remembered', async () => {
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

test('a session in the place of a deleted one has nothing of it, whoever deleted it', async () => {
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

test('a log that finds no room is read anew, and is the same', async () => {
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

test('the logs used longest ago make room for others', async () => {
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
  expect(await memoOf('a'), 'used lately').toBe(a)
  await memoOf('d')
  expect(await memoOf('a'), 'still').toBe(a)
  expect(await memoOf('b'), 'not used since').not.toBe(b)
})

test('state that another process writes is seen at the next look, and its own is what it has appended', async () => {
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
