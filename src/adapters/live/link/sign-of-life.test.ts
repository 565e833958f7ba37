import { expect, test, vi } from 'vitest'
import { ManualClock, settle } from './link.test-kit.ts'
import { SignOfLife } from './sign-of-life.ts'

/** A watched connection that answers pings as long as the test wants. */
function watch(options: { ping?: () => Promise<void>; isPaused?: () => boolean } = {}) {
  const clock = new ManualClock()
  const peer = { isAlive: true, pings: 0 }
  const ping = (): Promise<void> => {
    peer.pings++
    return peer.isAlive ? Promise.resolve() : new Promise(() => {})
  }
  const onSilent = vi.fn()
  const connection = { ...('ping' in options ? options : { ping }) } as never
  const isPaused = options.isPaused ?? (() => false)
  const signs = new SignOfLife(connection, { ports: clock.ports, isPaused, onSilent })
  return { clock, peer, onSilent, signs }
}
async function pass({ clock }: ReturnType<typeof watch>, seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at++) await clock.advance(1_000)
}

test('a connection that answers pings is never lost', async () => {
  const watched = watch()
  await pass(watched, 600)
  expect([watched.onSilent.mock.calls.length, watched.peer.pings]).toEqual([0, 60])
})

test('a connection without a pong for 30 seconds is lost, once', async () => {
  const watched = watch()
  await pass(watched, 25)
  watched.peer.isAlive = false // it has answered at 20 s
  await pass(watched, 24)
  expect(watched.onSilent).not.toHaveBeenCalled()
  await pass(watched, 60)
  expect(watched.onSilent).toHaveBeenCalledOnce()
  expect(watched.clock.timers).toEqual([])
})

test('messages of the model are signs of life, too', async () => {
  const watched = watch()
  watched.peer.isAlive = false
  for (let at = 0; at < 20; at++) {
    await pass(watched, 20)
    watched.signs.seen()
  }
  expect(watched.onSilent).not.toHaveBeenCalled()
})

test('a paused connection and a suspended process are not silent', async () => {
  const paused = watch({ isPaused: () => true })
  paused.peer.isAlive = false
  await pass(paused, 300)
  expect(paused.onSilent).not.toHaveBeenCalled()
  const suspended = watch()
  await suspended.clock.advance(3_600_000)
  await settle()
  expect(suspended.onSilent).not.toHaveBeenCalled()
})

test('a connection that cannot be asked is not watched, and a ping that throws is no answer', async () => {
  expect(watch({}).clock.timers).toEqual([10_000])
  const silent = watch({ ping: undefined as never })
  expect(silent.clock.timers).toEqual([])
  const broken = watch({
    ping: () => {
      throw new Error('closed')
    },
  })
  await pass(broken, 31)
  expect(broken.onSilent).toHaveBeenCalledOnce()
})
