import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../policy/call-tool.test-kit.ts'
import { isTrue } from '../phases/conditions.ts'
import { fakeSession, keepReports, stateOf, writableStateOf } from '../state/state.test-kit.ts'
import type { LivePattern } from './live-pattern.ts'
import { PatternWatcher } from './pattern-watcher.ts'

const run = () => undefined
const on = stateOf({ on: true })
const off = stateOf({ on: false })
const silence: LivePattern = { name: 'silence', sustained: { when: isTrue('on'), ms: 1_000 }, run }
const interruptions: LivePattern = { name: 'interruptions', rate: { of: 'interrupted', count: 3, perMs: 1_000 }, run }
const stuck: LivePattern = { name: 'stuck', turns: { when: isTrue('on'), count: 2 }, run }

function watch(...patterns: LivePattern[]) {
  const clock = new FakeClock()
  const fired: string[] = []
  const reports = keepReports()
  const fire = ({ name }: LivePattern) => void fired.push(name)
  const watcher = new PatternWatcher({ patterns, ports: clock, fire, report: reports.report })
  return { ...reports, clock, fired, watcher }
}

describe('a sustained pattern', () => {
  test('is found when its condition has held for the whole time', async () => {
    const { watcher, clock, fired } = watch(silence)
    watcher.stateChanged(on)
    await clock.advance(999)
    expect(fired).toEqual([])
    await clock.advance(1)
    expect(fired).toEqual(['silence'])
  })
  test('is found once, however long its condition holds and however often state changes', async () => {
    const { watcher, clock, fired } = watch(silence)
    for (let i = 0; i < 10; i++) {
      watcher.stateChanged(on)
      watcher.turnCompleted(on)
      await clock.advance(500)
    }
    expect([fired, clock.timers]).toEqual([['silence'], 0])
  })
  test('starts the time again after a break', async () => {
    const { watcher, clock, fired } = watch(silence)
    watcher.stateChanged(on)
    await clock.advance(900)
    watcher.stateChanged(off)
    watcher.stateChanged(on)
    await clock.advance(900)
    expect(fired).toEqual([])
    await clock.advance(100)
    expect(fired).toEqual(['silence'])
  })
  test('is found again after its condition was false', async () => {
    const { watcher, clock, fired } = watch(silence)
    for (const state of [on, off, on]) {
      watcher.stateChanged(state)
      await clock.advance(2_000)
    }
    expect(fired).toEqual(['silence', 'silence'])
  })
  test('needs no timer while its condition is false', async () => {
    const { watcher, clock } = watch(silence)
    watcher.stateChanged(off)
    expect(clock.timers).toBe(0)
    watcher.stateChanged(on)
    expect(clock.timers).toBe(1)
    watcher.stateChanged(off)
    expect(clock.timers).toBe(0)
  })
  test('does not keep the process alive', () => {
    const backgrounds: (boolean | undefined)[] = []
    const setTimer = (_: () => void, __: number, options?: { background?: boolean }) => {
      backgrounds.push(options?.background)
      return () => undefined
    }
    const ports = { setTimer, monotonicNow: () => 0 }
    new PatternWatcher({ patterns: [silence], ports, fire: run, report: run }).stateChanged(on)
    expect(backgrounds).toEqual([true])
  })
  test('counts a condition that throws as a break, and reports it', async () => {
    const when = (state: typeof on) => {
      if (state === off) throw new Error('broken')
      return true
    }
    const { watcher, clock, fired, problems } = watch({ ...silence, sustained: { when, ms: 1_000 } })
    watcher.stateChanged(on)
    watcher.stateChanged(off)
    await clock.advance(2_000)
    expect([fired, problems]).toEqual([[], ['The condition of pattern "silence" failed and counts as false.']])
  })
})

describe('a rate pattern', () => {
  /** Sends an event after each of these waits. */
  async function send(watching: ReturnType<typeof watch>, ...waits: number[]) {
    for (const ms of waits) {
      await watching.clock.advance(ms)
      watching.watcher.eventSeen('interrupted')
    }
    return watching.fired.length
  }
  test('is found at the event that completes the count within the time', async () => {
    const watching = watch(interruptions)
    expect(await send(watching, 0, 500)).toBe(0)
    expect(await send(watching, 500)).toBe(1)
  })
  test('is not found if the events take longer', async () => {
    expect(await send(watch(interruptions), 0, 500, 501, 500, 501)).toBe(0)
  })
  test('counts only events of its type', async () => {
    const watching = watch(interruptions)
    for (const type of ['interrupted', 'turnComplete', 'error', 'interrupted', 'audio'] as const)
      watching.watcher.eventSeen(type)
    expect(watching.fired).toEqual([])
    watching.watcher.eventSeen('interrupted')
    expect(watching.fired).toEqual(['interruptions'])
  })
  test('is found once while the events go on', async () => {
    expect(await send(watch(interruptions), ...Array(50).fill(100))).toBe(1)
  })
  test('is found once in a steady stream with just enough events', async () => {
    expect(await send(watch(interruptions), ...Array(50).fill(500))).toBe(1)
  })
  test('is not found by time alone', async () => {
    const watching = watch(interruptions)
    await send(watching, 0, 0, 0)
    await watching.clock.advance(100_000)
    watching.watcher.stateChanged(on)
    watching.watcher.turnCompleted(on)
    expect([watching.fired, watching.clock.timers]).toEqual([['interruptions'], 0])
  })
  test('is found again after the rate has dropped', async () => {
    expect(await send(watch(interruptions), 0, 100, 100, 950, 100, 100)).toBe(2)
  })
  test('is found again after a pause', async () => {
    expect(await send(watch(interruptions), 0, 0, 0, 1_001, 0, 0)).toBe(2)
  })
  test('with a count of 1 is found at the first event and after each pause', async () => {
    const watching = watch({ ...interruptions, rate: { of: 'interrupted', count: 1, perMs: 1_000 } })
    expect(await send(watching, 0, 1_000, 1_000)).toBe(1)
    expect(await send(watching, 1_001)).toBe(2)
  })
  test('is not affected when the wall clock is changed', async () => {
    const watching = watch(interruptions)
    await send(watching, 0, 0)
    watching.clock.step(3_600_000)
    expect(await send(watching, 0)).toBe(1)
  })
})

describe('a turns pattern', () => {
  /** Ends a turn with each of these states. */
  function endTurns(...states: (typeof on)[]) {
    const { watcher, fired } = watch(stuck)
    for (const state of states) watcher.turnCompleted(state)
    return fired.length
  }
  test.each([
    ['is found when its condition holds at consecutive ends of turns', [on, on], 1],
    ['is not found before', [on], 0],
    ['is not found if a turn between ends without its condition', [on, off, on, off, on], 0],
    ['is found once while its condition holds', [on, on, on, on, on, on], 1],
    ['is found again after a turn ended without its condition', [on, on, off, on, on], 2],
  ])('%s', (_, states, times) => expect(endTurns(...states)).toBe(times))

  test('does not count changes of state, events or time as turns', async () => {
    const { watcher, clock, fired } = watch(stuck, silence)
    watcher.turnCompleted(on)
    for (let i = 0; i < 5; i++) {
      watcher.stateChanged(on)
      watcher.eventSeen('turnComplete')
      await clock.advance(500)
    }
    expect(fired).toEqual(['silence'])
  })
  test('counts a condition that throws as false, and reports it', () => {
    let isBroken = false
    const when = () => {
      if (isBroken) throw new Error('broken')
      return true
    }
    const { watcher, fired, problems } = watch({ ...stuck, turns: { when, count: 2 } })
    watcher.turnCompleted(on)
    isBroken = true
    watcher.turnCompleted(on)
    isBroken = false
    watcher.turnCompleted(on)
    expect([fired.length, problems.length]).toEqual([0, 1])
  })
})

describe('a watcher of patterns', () => {
  test('leaves no timer when it is closed, and finds nothing any more', async () => {
    const { watcher, clock, fired } = watch(silence, interruptions, stuck)
    watcher.stateChanged(on)
    watcher.close()
    expect(clock.timers).toBe(0)
    watcher.stateChanged(off)
    watcher.stateChanged(on)
    for (let i = 0; i < 3; i++) {
      watcher.eventSeen('interrupted')
      watcher.turnCompleted(on)
    }
    await clock.advance(5_000)
    expect([fired, clock.timers]).toEqual([[], 0])
  })
  test('finds nothing more if it is closed while a pattern is found', () => {
    const fired: string[] = []
    const watcher: PatternWatcher = new PatternWatcher({
      patterns: [stuck, { ...stuck, name: 'second' }],
      ports: new FakeClock(),
      report: run,
      fire: ({ name }) => {
        fired.push(name)
        watcher.close()
      },
    })
    watcher.turnCompleted(on)
    watcher.turnCompleted(on)
    expect(fired).toEqual(['stuck'])
  })
  test('reports a pattern that cannot be run, and follows the others', () => {
    const { report, problems } = keepReports()
    const fired: string[] = []
    const fire = ({ name }: LivePattern): void => {
      if (name === 'stuck') throw new Error('closed')
      fired.push(name)
    }
    const patterns = [stuck, { ...stuck, name: 'second' }]
    const watcher = new PatternWatcher({ patterns, ports: new FakeClock(), report, fire })
    watcher.turnCompleted(on)
    watcher.turnCompleted(on)
    expect([fired, problems]).toEqual([['second'], ['Pattern "stuck" was found, but could not run.']])
  })
  test('gives the found pattern, which can write state and send texts', () => {
    const state = writableStateOf()
    const session = fakeSession()
    const help: LivePattern = {
      ...stuck,
      run: ({ state, session }) => {
        state.set('helped', true)
        session.send('Offer help.')
      },
    }
    const fire = (pattern: LivePattern): void => void pattern.run({ state, session })
    const watcher = new PatternWatcher({ patterns: [help], ports: new FakeClock(), report: run, fire })
    watcher.turnCompleted(on)
    watcher.turnCompleted(on)
    expect([state.get('helped'), session.sent]).toEqual([true, ['Offer help.']])
  })
})
