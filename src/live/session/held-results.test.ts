import { expect, test } from 'vitest'
import { systemPorts } from '../../base/ports.ts'
import type { LiveClientMessage, LiveServerMessage } from '../../tool/live-model.ts'
import { QUIET, quietMs, reduceQuiet } from '../conversation/quiet.ts'
import { HeldResults } from './held-results.ts'

/** Held results on a clock that the test sets. */
function start() {
  let now = 1_000
  const timers: { at: number; run(): void }[] = []
  const told: LiveClientMessage[] = []
  let quiet = QUIET
  const model = { isIdle: false, isBlocked: false }
  const held = new HeldResults({
    ports: {
      ...systemPorts,
      setTimer: (run, ms) => {
        const timer = { at: now + ms, run }
        timers.push(timer)
        return () => void timers.splice(timers.indexOf(timer), 1)
      },
    },
    isIdle: () => model.isIdle,
    isBlocked: () => model.isBlocked,
    quietMs: () => quietMs(quiet, now),
    tell: (message) => told.push(message),
  })
  const pass = (ms: number): void => {
    const until = now + ms
    for (;;) {
      const [next] = timers.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)
      if (!next) break
      timers.splice(timers.indexOf(next), 1)
      now = next.at
      next.run()
    }
    now = until
  }
  const receive = (message: LiveServerMessage): void => {
    quiet = reduceQuiet(quiet, { type: 'received', at: now, message })
  }
  const speak = (ms: number): void =>
    receive({ type: 'audio', data: new Uint8Array(ms * 48), mimeType: 'audio/pcm;rate=24000' })
  const add = (text: string, turnComplete = true): void =>
    held.add({ contents: [{ role: 'user', parts: [{ text }] }], turnComplete })
  return { held, told, timers, receive, model, pass, speak, add, now: () => now }
}

test('a result for a model that never ends its turn is sent after the speech was played and some silence', () => {
  const { told, pass, speak, add } = start()
  speak(20_000)
  add('one')
  pass(22_900)
  expect(told).toEqual([])
  pass(200)
  expect(told).toHaveLength(1)
})

test('speech that the user interrupts is not waited for', () => {
  const { told, pass, speak, add, receive } = start()
  speak(20_000)
  receive({ type: 'interrupted' })
  add('one')
  pass(3_000)
  expect(told).toHaveLength(1)
})

test('a user who speaks is not spoken into', () => {
  const { told, pass, add, receive } = start()
  receive({ type: 'activity', state: 'start' })
  add('one')
  pass(60_000)
  expect(told).toEqual([])
  receive({ type: 'activity', state: 'end' })
  pass(6_000)
  expect(told).toHaveLength(1)
})

test('results wait while the model waits for another call, and are sent as one message', () => {
  const { held, told, timers, pass, add, model } = start()
  model.isBlocked = true
  add('one', false)
  add('two')
  pass(60_000)
  expect(told).toEqual([])
  model.isBlocked = false
  model.isIdle = true
  held.send()
  expect(told).toMatchObject([{ type: 'content', contents: [{}, {}], turnComplete: true }])
  expect(timers).toEqual([])
})
