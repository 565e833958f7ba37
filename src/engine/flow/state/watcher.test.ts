import { describe, expect, test } from 'vitest'
import type { ReadonlyState } from '../../context/context.ts'
import { failOnReport, fakeSession, keepReports, thrownBy, writableStateOf } from './state.test-kit.ts'
import { StateMirror } from './state-mirror.ts'
import { becameTrue, changed, changedTo, crossedAbove } from './watch-conditions.ts'
import type { Watcher } from './watcher.ts'

const sum =
  (...keys: string[]) =>
  (state: ReadonlyState) =>
    keys.reduce((total, key) => total + state.get(key, 0), 0)
const watch = (key: string, on: Watcher['on'] = changed()): Watcher => ({ key, on, run: () => undefined })

describe('watchers', () => {
  test('run in the order of their list, whatever the order of the keys in the delta', () => {
    const watchers = [watch('b'), watch('a'), watch('c'), watch('b', changedTo(2))]
    const mirror = new StateMirror({ watchers, report: failOnReport })
    const calls = mirror.apply({ a: 1, b: 2 })
    expect(calls.map(({ watcher }) => watchers.indexOf(watcher))).toEqual([0, 1, 3])
    expect(calls[0]).toMatchObject({ before: undefined, after: 2 })
  })
  test('do not run for initial values', () => {
    const mirror = new StateMirror({ watchers: [watch('a')], initial: new Map([['a', 1]]), report: failOnReport })
    expect(mirror.apply({ a: 1 })).toEqual([])
  })
  test('do not run for a delta with an equal object', () => {
    const mirror = new StateMirror({
      watchers: [watch('a', () => true)],
      initial: new Map([['a', { x: [1, { y: 2 }], z: 3 }]]),
      report: failOnReport,
    })
    expect(mirror.apply({ a: { z: 3, x: [1, { y: 2 }] } })).toEqual([])
  })
  test('do not run for a change of another key, whatever their condition says', () => {
    const mirror = new StateMirror({ watchers: [watch('a', () => true)], report: failOnReport })
    expect(mirror.apply({ b: 1 })).toEqual([])
  })
  test('do not run when an absent key is deleted', () => {
    const mirror = new StateMirror({ watchers: [watch('a')], report: failOnReport })
    expect(mirror.apply({ a: null })).toEqual([])
  })
  test('see a value that changes and changes back within a turn', () => {
    const mirror = new StateMirror({ watchers: [watch('alarm', becameTrue())], report: failOnReport })
    const deltas = [{ alarm: true }, { alarm: false }, { alarm: true }]
    expect(deltas.map((delta) => mirror.apply(delta).length)).toEqual([1, 0, 1])
  })
  test.each(['user:tier', 'app:tier', 'temp:tier', 'tier'])('run for the key %s', (key) => {
    const mirror = new StateMirror({ watchers: [watch(key)], report: failOnReport })
    expect(mirror.apply({ [key]: 'gold' })).toMatchObject([{ before: undefined, after: 'gold' }])
    expect(mirror.apply({ [key]: null })).toMatchObject([{ before: 'gold', after: undefined }])
  })
  test('run for a computed value, by its derived key and by its bare key', () => {
    const mirror = new StateMirror({
      computed: [{ key: 'score', from: ['a', 'b'], compute: sum('a', 'b') }],
      watchers: [watch('derived:score', crossedAbove(5)), watch('score', crossedAbove(5))],
      initial: new Map([['a', 1]]),
      report: failOnReport,
    })
    expect(mirror.apply({ a: 2 })).toEqual([])
    expect(mirror.apply({ b: 3 })).toMatchObject([
      { before: 2, after: 5 },
      { before: 2, after: 5 },
    ])
    expect(mirror.apply({ a: 3, b: 2 })).toEqual([])
  })
  test('never cross a threshold with a first value', () => {
    const mirror = new StateMirror({ watchers: [watch('n', crossedAbove(5))], report: failOnReport })
    expect([{ n: 9 }, { n: null }, { n: 9 }, { n: 1 }, { n: 9 }].map((delta) => mirror.apply(delta).length)).toEqual([
      0, 0, 0, 0, 1,
    ])
  })
  test('accept a function of both values as condition', () => {
    const doubled = watch('n', (before, after) => Number(after) === 2 * Number(before))
    const mirror = new StateMirror({ watchers: [doubled], initial: new Map([['n', 2]]), report: failOnReport })
    expect([mirror.apply({ n: 4 }).length, mirror.apply({ n: 5 }).length]).toEqual([1, 0])
  })
  test.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['returns a promise', async () => true],
    ['returns a text', () => 'yes'],
  ])('do not run and are reported if their condition %s, and the others run', (_, on) => {
    const { report, problems } = keepReports()
    const mirror = new StateMirror({ watchers: [watch('a', on as unknown as Watcher['on']), watch('a')], report })
    expect(mirror.apply({ a: 1 })).toHaveLength(1)
    expect(problems).toEqual(['The "on" of the watcher of "a" failed and counts as false.'])
  })
  test('get copies, so that they cannot change the state', () => {
    const mirror = new StateMirror({ watchers: [watch('list')], report: failOnReport })
    for (const { after } of mirror.apply({ list: [1] })) (after as number[]).push(2)
    expect(mirror.state.get('list')).toEqual([1])
  })
  test('can write state and send texts when they run', () => {
    const greet: Watcher = {
      key: 'name',
      on: changed(),
      run: ({ after, state, session }) => {
        state.set('greeted', true)
        session.send(`Greet ${after}.`)
      },
    }
    const mirror = new StateMirror({ watchers: [greet], report: failOnReport })
    const session = fakeSession()
    const state = writableStateOf()
    for (const { watcher, before, after } of mirror.apply({ name: 'Ann' }))
      watcher.run({ before, after, state, session })
    expect([session.sent, state.get('greeted')]).toEqual([['Greet Ann.'], true])
  })
  test.each([
    ['an unknown derived key', [watch('derived:totl')], 'Did you mean "derived:total"?'],
    ['a missing condition', [{ key: 'a', run: () => undefined }], 'watchers[0]: on is required.'],
    ['an empty key', [watch('')], 'key must be a string that is not empty'],
    ['a condition that is no function', [{ ...watch('a'), on: 'changed' }], 'on must be a function'],
    ['an unknown option', [{ ...watch('a'), when: 1 }], 'unknown option "when"'],
  ])('are refused with %s', (_, watchers, problem) => {
    const computed = [{ key: 'total', from: ['a'], compute: sum('a') }]
    const error = thrownBy(() => new StateMirror({ computed, watchers: watchers as Watcher[], report: failOnReport }))
    expect(error).toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringContaining(problem) })
  })
})
