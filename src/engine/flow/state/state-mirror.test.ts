import { describe, expect, test } from 'vitest'
import type { ReadonlyState } from '../../context/context.ts'
import { failOnReport, keepReports, stateOf } from './state.test-kit.ts'
import { StateMirror } from './state-mirror.ts'
import { changed } from './watch-conditions.ts'
import type { Watcher } from './watcher.ts'

const sum =
  (...keys: string[]) =>
  (state: ReadonlyState) =>
    keys.reduce((total, key) => total + state.get(key, 0), 0)
const watch = (key: string, on: Watcher['on'] = changed()): Watcher => ({ key, on, run: () => undefined })

describe('the state of a live session', () => {
  test('has stored keys of every scope and computed values', () => {
    const { state } = new StateMirror({
      initial: new Map<string, unknown>([
        ['a', 1],
        ['user:b', 2],
        ['app:c', 3],
        ['temp:d', 4],
      ]),
      computed: [
        { key: 'total', from: ['a', 'user:b', 'app:c', 'temp:d'], compute: sum('a', 'user:b', 'app:c', 'temp:d') },
      ],
      report: failOnReport,
    })
    expect(state.get('derived:total')).toBe(10)
    expect(state.has('derived:total')).toBe(true)
    expect(state.keys()).toEqual(['a', 'user:b', 'app:c', 'temp:d', 'derived:total'])
  })
  test('starts from a ReadonlyState as from a map', () => {
    const { state } = new StateMirror({ initial: stateOf({ a: 1 }), report: failOnReport })
    expect(state.get('a')).toBe(1)
  })
  test('finds a computed value by its bare key with get() and with has(), until a value is stored under the key', () => {
    const mirror = new StateMirror({
      computed: [{ key: 'total', from: ['a'], compute: sum('a') }],
      initial: new Map([['a', 1]]),
      report: failOnReport,
    })
    expect([mirror.state.has('total'), mirror.state.get('total')]).toEqual([true, 1])
    mirror.apply({ total: 'stored' })
    expect([mirror.state.get('total'), mirror.state.get('derived:total')]).toEqual(['stored', 1])
  })
  test('returns the fallback for an absent key, and copies of values', () => {
    const mirror = new StateMirror({ initial: new Map([['list', [1]]]), report: failOnReport })
    mirror.state.get<number[]>('list')?.push(2)
    expect(mirror.state.get('list')).toEqual([1])
    expect(mirror.state.get('derived:none', 'fallback')).toBe('fallback')
  })
  test('keeps no reference to the values of a delta', () => {
    const mirror = new StateMirror({ report: failOnReport })
    const list = [1]
    mirror.apply({ list })
    list.push(2)
    expect(mirror.state.get('list')).toEqual([1])
  })
  test('loses a key whose delta is null', () => {
    const mirror = new StateMirror({ initial: new Map([['a', 1]]), report: failOnReport })
    mirror.apply({ a: null })
    expect([mirror.state.has('a'), mirror.state.keys()]).toEqual([false, []])
  })
  test('ignores and reports a write to a derived key', () => {
    const { report, problems } = keepReports()
    const mirror = new StateMirror({
      computed: [{ key: 'total', from: ['a'], compute: sum('a') }],
      watchers: [watch('derived:total')],
      initial: new Map([
        ['a', 1],
        ['derived:total', 98],
      ]),
      report,
    })
    expect(mirror.apply({ 'derived:total': 99 })).toEqual([])
    expect(mirror.state.get('derived:total')).toBe(1)
    expect(mirror.state.keys()).toEqual(['a', 'derived:total'])
    expect(problems).toEqual([expect.stringContaining('State key "derived:total" was written.')])
  })
})
