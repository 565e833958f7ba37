import { expect, test, vi } from 'vitest'
import { InMemorySessionService } from './in-memory.ts'
import { watchSessions } from './watch-sessions.ts'

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' }

test('a watched store calls the listener until the watch is stopped', async () => {
  const store = new InMemorySessionService()
  await store.createSession(KEY)
  const listener = vi.fn()
  const stop = watchSessions(store, listener)
  await store.post(KEY, { id: 'i1', type: 'cancel' })
  await vi.waitFor(() => expect(listener).toHaveBeenCalledWith(KEY))
  stop()
  await store.post(KEY, { id: 'i2', type: 'cancel' })
  expect(listener).toHaveBeenCalledOnce()
})

test.each([
  ['returns a promise', async () => () => {}],
  ['rejects', () => Promise.reject(new Error('not connected'))],
  ['returns nothing', () => undefined],
])('stopping the watch of a store whose watch %s throws nothing', async (_what, watch) => {
  const stop = watchSessions({ watch: watch as never }, () => {})
  expect(stop).not.toThrow()
  await Promise.resolve()
})
