import { describe, expect, test } from 'vitest'
import type { ReadonlyState } from '../../context/context.ts'
import type { ComputedValue } from './order-computed.ts'
import { failOnReport, keepReports, stateOf } from './state.test-kit.ts'
import { StateMirror } from './state-mirror.ts'
import { changed } from './watch-conditions.ts'
import type { Watcher } from './watcher.ts'

const sum =
  (...keys: string[]) =>
  (state: ReadonlyState) =>
    keys.reduce((total, key) => total + state.get(key, 0), 0)
const watch = (key: string, on: Watcher['on'] = changed()): Watcher => ({ key, on, run: () => undefined })

describe('computed values', () => {
  /** Two chains: a -> double -> quad, and b -> other. */
  function chains() {
    const calls: string[] = []
    const times = (factor: number, key: string, from: string): ComputedValue => ({
      key,
      from: [from],
      compute: (state) => {
        calls.push(key)
        return factor * state.get(from, 0)
      },
    })
    const mirror = new StateMirror({
      computed: [times(2, 'quad', 'double'), times(1, 'other', 'b'), times(2, 'double', 'a')],
      initial: stateOf({ a: 1, b: 1 }),
      report: failOnReport,
    })
    return { mirror, initial: calls.splice(0), calls }
  }

  test('are computed once each when the session starts, in the order of their dependencies', () => {
    const { mirror, initial } = chains()
    expect(initial).toEqual(['double', 'quad', 'other'])
    expect(mirror.state.get('derived:quad')).toBe(4)
  })
  test('are computed again only if a change affects them, through other computed values, too', () => {
    const { mirror, calls } = chains()
    mirror.apply({ a: 2 })
    expect(calls).toEqual(['double', 'quad'])
    expect(mirror.state.get('derived:quad')).toBe(8)
  })
  test('are not computed again after a delta that changes nothing', () => {
    const { mirror, calls } = chains()
    mirror.apply({ a: 1, b: 1 })
    expect(calls).toEqual([])
  })
  test('see all keys of a delta at once', () => {
    const seen: unknown[] = []
    const mirror = new StateMirror({
      computed: [{ key: 'both', from: ['a', 'b'], compute: (state) => seen.push([state.get('a'), state.get('b')]) }],
      report: failOnReport,
    })
    mirror.apply({ a: 1, b: 2 })
    expect(seen).toEqual([
      [undefined, undefined],
      [1, 2],
    ])
  })
  test.each([[undefined], [null], [Number.NaN]])('lose their old value when compute returns %s', (nothing) => {
    const mirror = new StateMirror({
      computed: [{ key: 'safe', from: ['a'], compute: (state) => (state.get('a') === 1 ? 'old' : nothing) }],
      watchers: [watch('derived:safe')],
      initial: new Map([['a', 1]]),
      report: failOnReport,
    })
    expect(mirror.apply({ a: 2 })).toMatchObject([{ before: 'old', after: undefined }])
    expect(mirror.state.has('derived:safe')).toBe(false)
  })
  test('are removed and reported when compute throws, and the values that depend on them follow', () => {
    const { report, problems, errors } = keepReports()
    const failure = new Error('no rate')
    const mirror = new StateMirror({
      computed: [
        {
          key: 'rate',
          from: ['a'],
          compute: (state) => {
            if (state.get('a') === 2) throw failure
            return 5
          },
        },
        { key: 'hasRate', from: ['derived:rate'], compute: (state) => state.has('derived:rate') },
      ],
      initial: new Map([['a', 1]]),
      report,
    })
    expect(mirror.state.get('derived:hasRate')).toBe(true)
    mirror.apply({ a: 2 })
    expect([mirror.state.has('derived:rate'), mirror.state.get('derived:hasRate')]).toEqual([false, false])
    expect(problems).toEqual(['The compute() of computed value "rate" failed. The value is removed.'])
    expect(errors).toEqual([failure])
    mirror.apply({ a: 3 })
    expect(mirror.state.get('derived:rate')).toBe(5)
  })
  test('of an async compute are refused and reported, and its rejection is handled', async () => {
    const { report, errors } = keepReports()
    const compute = async () => {
      throw new Error('late')
    }
    const mirror = new StateMirror({ computed: [{ key: 'late', from: ['a'], compute }], report })
    await new Promise(setImmediate)
    expect(mirror.state.has('derived:late')).toBe(false)
    expect(errors).toMatchObject([{ message: expect.stringContaining('returned a promise') }])
  })
  test('cannot read keys that are not in from, because their changes would be missed', () => {
    const { report, errors } = keepReports()
    const mirror = new StateMirror({
      computed: [{ key: 'gross', from: ['net'], compute: sum('net', 'tax') }],
      initial: new Map([
        ['net', 1],
        ['tax', 1],
      ]),
      report,
    })
    expect(mirror.state.has('derived:gross')).toBe(false)
    expect(errors).toMatchObject([{ message: expect.stringContaining('reads "tax", which is not in its from list') }])
  })
  test('list only the keys in from that have a value', () => {
    const { state } = new StateMirror({
      computed: [{ key: 'seen', from: ['a', 'b'], compute: (view) => view.keys() }],
      initial: new Map([
        ['a', 1],
        ['c', 1],
      ]),
      report: failOnReport,
    })
    expect(state.get('derived:seen')).toEqual(['a'])
  })
  test('are JSON, and a change of the returned object later has no effect', () => {
    const returned = { at: new Date(0), none: undefined }
    const mirror = new StateMirror({
      computed: [{ key: 'o', from: ['a'], compute: () => returned }],
      report: failOnReport,
    })
    returned.at = new Date(1)
    expect(mirror.state.get('derived:o')).toEqual({ at: '1970-01-01T00:00:00.000Z' })
  })
})
