// Computed values after random deltas are compared with the same values computed from the stored state alone.

import { expect, test } from 'vitest'
import fc from '../../../core/base/fast-check.test-kit.ts'
import type { JsonObject } from '../../../core/base/json.ts'
import type { ReadonlyState } from '../../context/context.ts'
import type { ComputedValue } from './order-computed.ts'
import { failOnReport, keepReports } from './state.test-kit.ts'
import { StateMirror } from './state-mirror.ts'
import { changed } from './watch-conditions.ts'

const STORED = ['k0', 'k1', 'k2', 'user:k3', 'temp:k4', 'c0']

/** The values of the keys. Some results are missing and some computations throw, depending on the input. */
function compute(key: string, from: readonly string[], state: ReadonlyState): unknown {
  const values = from.map((one) => state.get(one) ?? null)
  const size = JSON.stringify(values).length
  if (size % 7 === 0) throw new Error(`${key} fails`)
  if (size % 5 === 0) return undefined
  return size % 3 === 0 ? size : { size, values: size > 300 ? size : values }
}

/** Computed values c0 to c7 in any order. Each depends on stored keys and on values of a lower number. */
const graph = fc
  .tuple(
    fc.array(fc.array(fc.nat(99), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 }),
    fc.array(fc.boolean(), { minLength: 32, maxLength: 32 }),
    fc.infiniteStream(fc.nat(1000)),
  )
  .map(([picks, bare, order]) => {
    const list = picks.map((numbers, at): ComputedValue => {
      const others = Array.from({ length: at }, (_, other) => (bare[other] ? `c${other}` : `derived:c${other}`))
      // "c0" is also a stored key: it hides the computed value from those that depend on the bare name.
      const candidates = [...STORED.filter((key) => at > 0 || key !== 'c0'), ...others]
      const from = [...new Set(numbers.map((number) => candidates[number % candidates.length] as string))]
      return { key: `c${at}`, from, compute: (state) => compute(`c${at}`, from, state) }
    })
    const ranks = new Map(list.map(({ key }) => [key, order.next().value]))
    return list.sort((a, b) => (ranks.get(a.key) ?? 0) - (ranks.get(b.key) ?? 0))
  })

const value = fc.oneof(fc.nat(3), fc.constant(null), fc.boolean(), fc.array(fc.nat(2), { maxLength: 3 }))
const delta: fc.Arbitrary<JsonObject> = fc.dictionary(fc.constantFrom(...STORED), value, { maxKeys: 3 })

const snapshot = ({ state }: StateMirror): Record<string, unknown> =>
  Object.fromEntries(
    state
      .keys()
      .sort()
      .map((key) => [key, state.get(key)]),
  )

test('values computed after random deltas equal values computed from scratch', () => {
  fc.assert(
    fc.property(graph, fc.array(delta, { maxLength: 12 }), (computed, deltas) => {
      const mirror = new StateMirror({ computed, report: keepReports().report })
      const stored = new Map<string, unknown>()
      for (const one of deltas) {
        mirror.apply(one)
        for (const [key, after] of Object.entries(one)) {
          if (after === null) stored.delete(key)
          else stored.set(key, after)
        }
        const fresh = new StateMirror({ computed, initial: stored, report: keepReports().report })
        expect(snapshot(mirror)).toEqual(snapshot(fresh))
      }
    }),
    { numRuns: 1_000 },
  )
})

test('watchers run for exactly the keys whose values differ before and after a random delta', () => {
  fc.assert(
    fc.property(graph, fc.array(delta, { maxLength: 12 }), (computed, deltas) => {
      const keys = [...STORED, ...computed.map(({ key }) => `derived:${key}`)]
      const watchers = keys.map((key) => ({ key, on: changed(), run: () => undefined }))
      const mirror = new StateMirror({ computed, watchers, report: keepReports().report })
      for (const one of deltas) {
        const before = keys.map((key) => JSON.stringify(mirror.state.get(key)))
        const calls = mirror.apply(one).map(({ watcher }) => watcher.key)
        const differing = keys.filter((key, at) => JSON.stringify(mirror.state.get(key)) !== before[at])
        expect(calls).toEqual(differing)
      }
    }),
    { numRuns: 500 },
  )
})

test('a delta computes each value at most once, and none without a changed dependency', () => {
  fc.assert(
    fc.property(graph, fc.array(delta, { maxLength: 8 }), (list, deltas) => {
      const calls: string[] = []
      const computed = list.map((item) => ({ ...item, compute: () => calls.push(item.key) % 3 }))
      const mirror = new StateMirror({ computed, report: failOnReport })
      expect(new Set(calls).size).toBe(list.length)
      for (const one of deltas) {
        calls.length = 0
        const before = snapshot(mirror)
        mirror.apply(one)
        const after = snapshot(mirror)
        expect(new Set(calls).size).toBe(calls.length)
        const keys = new Set([...Object.keys(before), ...Object.keys(after)])
        const changedKeys = new Set(
          [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key])),
        )
        for (const key of calls) {
          const { from } = list.find((item) => item.key === key) as ComputedValue
          expect(
            from.some((dependency) => changedKeys.has(dependency) || changedKeys.has(`derived:${dependency}`)),
          ).toBe(true)
        }
      }
    }),
    { numRuns: 500 },
  )
})
