import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { createInterrupts } from './interrupts.ts'

function setUp() {
  const signals = new EventEmitter()
  const calls: string[] = []
  let time = 0
  const interrupts = createInterrupts(signals, { onUnhandled: () => calls.push('unhandled'), now: () => time })
  const press = (): void => {
    time += 1_000
    signals.emit('SIGINT')
  }
  return { signals, interrupts, calls, press, pass: (ms: number) => (time += ms) }
}

test('Ctrl+C calls the listener that was added last, never a removed one', () => {
  const { interrupts, calls, press } = setUp()
  interrupts.listen(() => calls.push('outer'))
  const stopListening = interrupts.listen(() => calls.push('inner'))
  press()
  stopListening()
  press()
  expect(calls).toEqual(['inner', 'outer'])
})

test('Ctrl+C without a listener calls onUnhandled', () => {
  const { interrupts, calls, press } = setUp()
  expect(interrupts.wasRaised).toBe(false)
  press()
  expect(calls).toEqual(['unhandled'])
  expect(interrupts.wasRaised).toBe(true)
})

test('two SIGINT signals of one key press count once', () => {
  const { signals, calls, press, pass } = setUp()
  press()
  pass(20)
  signals.emit('SIGINT')
  expect(calls).toEqual(['unhandled'])
  press()
  expect(calls).toEqual(['unhandled', 'unhandled'])
})

test('close() removes the SIGINT listener', () => {
  const { signals, interrupts } = setUp()
  interrupts.close()
  expect(signals.listenerCount('SIGINT')).toBe(0)
})

test('every Ctrl+C key counts, also within the time of a duplicate signal', () => {
  let unhandled = 0
  const interrupts = createInterrupts(new EventEmitter(), { onUnhandled: () => unhandled++, now: () => 0 })
  let handled = 0
  const stopListening = interrupts.listen(() => {
    handled++
    stopListening()
  })
  interrupts.raise()
  interrupts.raise()
  expect([handled, unhandled, interrupts.wasRaised]).toEqual([1, 1, true])
})
