import { expect, test, vi } from 'vitest'
import { MAX_OPEN_CALLS, OPEN_CALL_MS } from '../limits.ts'
import { OpenCalls } from './open-calls.ts'
import type { ServerCall } from './server-call.ts'

/** A call that records its answers. */
function fakeCall(): { call: ServerCall; answer: ReturnType<typeof vi.fn>; abort: ReturnType<typeof vi.fn> } {
  const answer = vi.fn()
  const abort = vi.fn()
  return { call: { answer, abort } as unknown as ServerCall, answer, abort }
}

function makeCalls(): { calls: OpenCalls; timers: { callback: () => void; ms: number }[] } {
  const timers: { callback: () => void; ms: number }[] = []
  const setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { callback, ms }
    timers.push(timer)
    return () => void timers.splice(timers.indexOf(timer), 1)
  }
  return { calls: new OpenCalls({ setTimer }), timers }
}

test('returns an open call once', () => {
  const { calls, timers } = makeCalls()
  const { call } = fakeCall()
  expect(calls.keep('k', { call, inputKey: 'i' })).toBe(true)
  expect(calls.take('other')).toBeUndefined()
  expect(calls.take('k')).toMatchObject({ call, inputKey: 'i' })
  expect(calls.take('k')).toBeUndefined()
  expect(timers).toEqual([])
})

test('declines the question when the time is over', () => {
  const { calls, timers } = makeCalls()
  const { call, answer } = fakeCall()
  calls.keep('k', { call, inputKey: 'i' })
  expect(timers[0]?.ms).toBe(OPEN_CALL_MS)
  timers[0]?.callback()
  expect(answer).toHaveBeenCalledWith({ action: 'decline' })
  expect(calls.take('k')).toBeUndefined()
})

test('keeps a limited number of calls', () => {
  const { calls } = makeCalls()
  for (let at = 0; at < MAX_OPEN_CALLS; at++) calls.keep(String(at), { call: fakeCall().call, inputKey: 'i' })
  expect(calls.keep('more', { call: fakeCall().call, inputKey: 'i' })).toBe(false)
})

test('close() cancels all calls', () => {
  const { calls, timers } = makeCalls()
  const open = [fakeCall(), fakeCall()]
  for (const [at, { call }] of open.entries()) calls.keep(String(at), { call, inputKey: 'i' })
  calls.close()
  for (const { abort } of open) expect(abort).toHaveBeenCalledOnce()
  expect(timers).toEqual([])
})
