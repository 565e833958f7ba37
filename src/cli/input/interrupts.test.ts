import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { createInterrupts } from './interrupts.ts'

function setUp() {
  const signals = new EventEmitter()
  const heard: string[] = []
  let time = 0
  const interrupts = createInterrupts(signals, { leave: () => heard.push('leave'), now: () => time })
  const press = (): void => {
    time += 1_000
    signals.emit('SIGINT')
  }
  return { signals, interrupts, heard, press, pass: (ms: number) => (time += ms) }
}

test('the last who asked is told, and nobody who took it back', () => {
  const { interrupts, heard, press } = setUp()
  interrupts.listen(() => heard.push('outer'))
  const forget = interrupts.listen(() => heard.push('inner'))
  press()
  forget()
  press()
  expect(heard).toEqual(['inner', 'outer'])
})

test('when nobody listens it is time to leave', () => {
  const { interrupts, heard, press } = setUp()
  expect(interrupts.wasRaised).toBe(false)
  press()
  expect(heard).toEqual(['leave'])
  expect(interrupts.wasRaised).toBe(true)
})

test('one key that arrives as two signals counts once', () => {
  const { signals, heard, press, pass } = setUp()
  press()
  pass(20)
  signals.emit('SIGINT')
  expect(heard).toEqual(['leave'])
  press()
  expect(heard).toEqual(['leave', 'leave'])
})

test('after it is closed the process has its signal back', () => {
  const { signals, interrupts } = setUp()
  interrupts.close()
  expect(signals.listenerCount('SIGINT')).toBe(0)
})

test('a key is heard each time: it never comes twice', () => {
  let left = 0
  const interrupts = createInterrupts(new EventEmitter(), { leave: () => left++, now: () => 0 })
  let heard = 0
  const forget = interrupts.listen(() => {
    heard++
    forget()
  })
  interrupts.raise()
  interrupts.raise()
  expect([heard, left, interrupts.wasRaised]).toEqual([1, 1, true])
})
