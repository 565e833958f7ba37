import { expect, test } from 'vitest'
import { ABANDONED_MS } from '../limits.ts'
import { type ActiveCall, ActiveCalls } from './active-calls.ts'

function callOf(userKey: string): ActiveCall {
  const never = (): Promise<never> => new Promise(() => {})
  return { userKey, elicit: never, sample: never }
}

/** Calls with a clock that the test moves. */
function activeCalls(): { calls: ActiveCalls; clock: { now: number; fire(): void } } {
  const clock = { now: 0, fire: (): void => {} }
  const ports = {
    monotonicNow: () => clock.now,
    setTimer: (callback: () => void) => {
      clock.fire = callback
      return () => {}
    },
  }
  return { calls: new ActiveCalls(ports), clock }
}

test('a question belongs to the only call', async () => {
  const { calls } = activeCalls()
  expect(await calls.findAsking()).toBeUndefined()
  const call = callOf('ada')
  calls.add(call)
  expect(await calls.findAsking()).toBe(call)
})

test('with several calls of one user, waits until the others are answered', async () => {
  const { calls } = activeCalls()
  const [first, second] = [callOf('ada'), callOf('ada')]
  calls.add(first)
  calls.add(second)
  const asking = calls.findAsking()
  calls.delete(first, true)
  expect(await asking).toBe(second)
})

test('with several calls of one user that are not answered, takes the oldest', async () => {
  const { calls, clock } = activeCalls()
  const [first, second] = [callOf('ada'), callOf('ada')]
  calls.add(first)
  calls.add(second)
  const asking = calls.findAsking()
  clock.fire()
  expect(await asking).toBe(first)
})

test('finds no call while calls of two users are under way, also if the second begins during the wait', async () => {
  const { calls, clock } = activeCalls()
  calls.add(callOf('ada'))
  calls.add(callOf('bob'))
  expect(await calls.findAsking()).toBeUndefined()
  const others = activeCalls()
  others.calls.add(callOf('ada'))
  others.calls.add(callOf('ada'))
  const asking = others.calls.findAsking()
  others.calls.add(callOf('bob'))
  others.clock.fire()
  expect(await asking).toBeUndefined()
  expect(clock.now).toBe(0)
})

test('a cancelled call of another user counts for a minute, an answered one does not', async () => {
  const { calls, clock } = activeCalls()
  const [ada, bob, eve] = [callOf('ada'), callOf('bob'), callOf('eve')]
  calls.add(eve)
  calls.delete(eve, true)
  calls.add(ada)
  calls.delete(ada, false)
  calls.add(bob)
  expect(await calls.findAsking()).toBeUndefined()
  clock.now = ABANDONED_MS + 1
  expect(await calls.findAsking()).toBe(bob)
})
