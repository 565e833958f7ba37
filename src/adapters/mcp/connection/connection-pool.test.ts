import { expect, test, vi } from 'vitest'
import { systemPorts } from '../../../core/base/ports.ts'
import { IDLE_MS, MAX_OPENS_PER_MINUTE } from '../limits.ts'
import { type McpConnection, RefusedError } from './connection.ts'
import { ConnectionPool, SHARED } from './connection-pool.ts'

interface Fake {
  isOpen: boolean
  isBusy: boolean
  lastUsed: number
  close(): Promise<void>
}

function fake(): McpConnection & Fake {
  const made: Fake = {
    isOpen: true,
    isBusy: false,
    lastUsed: performance.now(),
    close: async () => {
      made.isOpen = false
    },
  }
  return made as McpConnection & Fake
}

/** A pool whose clock and timers the test moves. */
function pool(): { pool: ConnectionPool; clock: { now: number }; timers: { callback: () => void; ms: number }[] } {
  const clock = { now: 0 }
  const timers: { callback: () => void; ms: number }[] = []
  const setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { callback, ms }
    timers.push(timer)
    return () => void timers.splice(timers.indexOf(timer), 1)
  }
  return { pool: new ConnectionPool({ ...systemPorts, monotonicNow: () => clock.now, setTimer }), clock, timers }
}

test('callers of one identity share a connection, and other identities have their own', async () => {
  const { pool: connections } = pool()
  const open = vi.fn(async () => fake())
  const [one, same, other] = await Promise.all([
    connections.get('ada', open),
    connections.get('ada', open),
    connections.get('bob', open),
  ])
  expect(one).toBe(same)
  expect(one).not.toBe(other)
  expect(open).toHaveBeenCalledTimes(2)
})

test('reopens a connection that has died, once for all callers', async () => {
  const { pool: connections } = pool()
  const open = vi.fn(async () => fake())
  const first = (await connections.get(SHARED, open)) as McpConnection & Fake
  first.isOpen = false
  const [second, same] = await Promise.all([connections.get(SHARED, open), connections.get(SHARED, open)])
  expect(second).toBe(same)
  expect(second).not.toBe(first)
  expect(open).toHaveBeenCalledTimes(2)
})

test('tries a second time, after a delay, to reopen a connection that has died', async () => {
  const { pool: connections, timers } = pool()
  const first = (await connections.get(SHARED, async () => fake())) as McpConnection & Fake
  first.isOpen = false
  const open = vi.fn(async () => fake()).mockRejectedValueOnce(new Error('still starting'))
  const reopening = connections.get(SHARED, open)
  await vi.waitFor(() => expect(timers).toHaveLength(1))
  timers[0]?.callback()
  await expect(reopening).resolves.toMatchObject({ isOpen: true })
})

test('does not try again when the server refuses the credential', async () => {
  const { pool: connections } = pool()
  const open = vi.fn(() => Promise.reject(new RefusedError(401, undefined)))
  await expect(connections.get(SHARED, open)).rejects.toThrow('status 401')
  expect(open).toHaveBeenCalledTimes(1)
})

test('opens a connection at most so often within a minute', async () => {
  const { pool: connections, clock } = pool()
  const open = vi.fn(() => Promise.reject(new Error('it dies')))
  for (let at = 0; at < MAX_OPENS_PER_MINUTE; at++)
    await expect(connections.get(SHARED, open)).rejects.toThrow('it dies')
  await expect(connections.get(SHARED, open)).rejects.toThrow('within a minute')
  expect(open).toHaveBeenCalledTimes(MAX_OPENS_PER_MINUTE)
  clock.now = 60_001
  await expect(connections.get(SHARED, open)).rejects.toThrow('it dies')
})

test('closes connections of users that are idle, and keeps busy and shared ones', async () => {
  const { pool: connections, timers } = pool()
  const idle = fake()
  const busy = Object.assign(fake(), { isBusy: true })
  const shared = fake()
  for (const one of [idle, busy, shared]) one.lastUsed = performance.now() - IDLE_MS - 1
  await connections.get('ada', async () => idle)
  await connections.get('bob', async () => busy)
  await connections.get(SHARED, async () => shared)
  timers[0]?.callback()
  await vi.waitFor(() => expect(idle.isOpen).toBe(false))
  expect([busy.isOpen, shared.isOpen]).toEqual([true, true])
  await connections.close()
  expect([busy.isOpen, shared.isOpen]).toEqual([false, false])
})

test('close() fails callers that wait for the connection, instead of opening another one', async () => {
  const { pool: connections } = pool()
  const opened = Promise.withResolvers<McpConnection>()
  const open = vi.fn(() => opened.promise)
  const first = connections.get(SHARED, open)
  const second = expect(connections.get(SHARED, open)).rejects.toThrow('the toolset was closed')
  const closing = connections.close()
  opened.resolve(fake())
  await Promise.all([first, second, closing])
  expect(open).toHaveBeenCalledTimes(1)
  await expect(connections.get(SHARED, async () => fake())).resolves.toMatchObject({ isOpen: true })
})

test('close() closes a connection that is being opened', async () => {
  const { pool: connections } = pool()
  const opened = Promise.withResolvers<McpConnection>()
  const opening = connections.get(SHARED, () => opened.promise)
  const closing = connections.close()
  const made = fake()
  opened.resolve(made)
  await Promise.all([opening, closing])
  expect(made.isOpen).toBe(false)
})
