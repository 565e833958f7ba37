import { expect, test } from 'vitest'
import { withTimeout } from './with-timeout.ts'

function heldTimers() {
  const timers = new Set<() => void>()
  const setTimer = (callback: () => void): (() => void) => {
    timers.add(callback)
    return () => timers.delete(callback)
  }
  return { timers, ports: { setTimer } }
}

test('withTimeout() returns the value of work that ends in time and clears the timer', async () => {
  const { timers, ports } = heldTimers()
  expect(await withTimeout(Promise.resolve('done'), 10, ports, () => 'late')).toBe('done')
  await expect(withTimeout(Promise.reject(new Error('no')), 10, ports, () => 'late')).rejects.toThrow('no')
  expect(timers.size).toBe(0)
})

test('withTimeout() returns or throws the result of onTimeout after the timeout', async () => {
  const { timers, ports } = heldTimers()
  const never = new Promise(() => {})
  const late = withTimeout(never, 10, ports, () => 'late')
  const failed = withTimeout(never, 10, ports, () => {
    throw new Error('too late')
  })
  for (const fire of timers) fire()
  expect(await late).toBe('late')
  await expect(failed).rejects.toThrow('too late')
})
