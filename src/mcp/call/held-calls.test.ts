import { expect, test, vi } from 'vitest'
import { HOLD_MS, MAX_HELD } from '../limits.ts'
import { HeldCalls } from './held-calls.ts'
import type { ServerCall } from './server-call.ts'

/** A call that records its answers. */
function fakeCall(): { call: ServerCall; answer: ReturnType<typeof vi.fn>; abort: ReturnType<typeof vi.fn> } {
  const answer = vi.fn()
  const abort = vi.fn()
  return { call: { answer, abort } as unknown as ServerCall, answer, abort }
}

function heldCalls(): { held: HeldCalls; timers: { callback: () => void; ms: number }[] } {
  const timers: { callback: () => void; ms: number }[] = []
  const setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { callback, ms }
    timers.push(timer)
    return () => void timers.splice(timers.indexOf(timer), 1)
  }
  return { held: new HeldCalls({ setTimer }), timers }
}

test('returns a held call once', () => {
  const { held, timers } = heldCalls()
  const { call } = fakeCall()
  expect(held.hold('k', { call, inputKey: 'i' })).toBe(true)
  expect(held.take('other')).toBeUndefined()
  expect(held.take('k')).toMatchObject({ call, inputKey: 'i' })
  expect(held.take('k')).toBeUndefined()
  expect(timers).toEqual([])
})

test('declines the question when the time is over', () => {
  const { held, timers } = heldCalls()
  const { call, answer } = fakeCall()
  held.hold('k', { call, inputKey: 'i' })
  expect(timers[0]?.ms).toBe(HOLD_MS)
  timers[0]?.callback()
  expect(answer).toHaveBeenCalledWith({ action: 'decline' })
  expect(held.take('k')).toBeUndefined()
})

test('holds a limited number of calls', () => {
  const { held } = heldCalls()
  for (let at = 0; at < MAX_HELD; at++) held.hold(String(at), { call: fakeCall().call, inputKey: 'i' })
  expect(held.hold('more', { call: fakeCall().call, inputKey: 'i' })).toBe(false)
})

test('close() cancels all calls', () => {
  const { held, timers } = heldCalls()
  const calls = [fakeCall(), fakeCall()]
  for (const [at, { call }] of calls.entries()) held.hold(String(at), { call, inputKey: 'i' })
  held.close()
  for (const { abort } of calls) expect(abort).toHaveBeenCalledOnce()
  expect(timers).toEqual([])
})
