import { describe, expect, test } from 'vitest'
import { thrownBy } from '../state/state.test-kit.ts'
import { checkPatterns } from './check-patterns.ts'
import type { LivePattern } from './live-pattern.ts'

const when = () => true
const run = () => undefined
const sustained = { name: 'p', run, sustained: { when, ms: 10 } }
const rate = { name: 'q', run, rate: { of: 'error', count: 2, perMs: 10 } } as const
const turns = { name: 'r', run, turns: { when, count: 2 } }

test('one pattern of each kind is accepted', () => {
  expect(thrownBy(() => checkPatterns([sustained, rate, turns]))).toBeUndefined()
})

describe('patterns are refused', () => {
  test.each([
    ['with a duplicate name', [sustained, { ...turns, name: 'p' }], 'Pattern "p" is defined twice.'],
    ['without a name', [{ run, turns: turns.turns }], 'patterns[0]: name is required.'],
    ['without run', [{ name: 'p', turns: turns.turns }], 'patterns[0]: run is required.'],
    ['without a kind', [{ name: 'p', run }], 'Pattern "p" needs exactly one of sustained, rate and turns.'],
    ['with two kinds', [{ ...sustained, turns: turns.turns }], 'Pattern "p" needs exactly one of'],
    ['with an unknown option', [{ ...sustained, cooldown: 1 }], 'unknown option "cooldown"'],
    [
      'with an unknown option of a kind',
      [{ ...sustained, sustained: { when, ms: 1, every: 1 } }],
      'unknown option "every"',
    ],
    ['with an unknown event', [{ ...rate, rate: { ...rate.rate, of: 'interupted' } }], 'Did you mean "interrupted"?'],
    ['without a condition', [{ ...turns, turns: { count: 2 } }], 'Pattern "r": turns: when is required.'],
    ['as an object instead of a list', { sustained }, 'patterns must be a list'],
  ])('%s', (_, patterns, problem) => {
    const error = thrownBy(() => checkPatterns(patterns as LivePattern[]))
    expect(error).toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringContaining(problem) })
  })
  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '10', undefined])('with %s milliseconds', (ms) => {
    for (const pattern of [
      { ...sustained, sustained: { when, ms } },
      { ...rate, rate: { ...rate.rate, perMs: ms } },
    ])
      expect(thrownBy(() => checkPatterns([pattern as LivePattern]))).toMatchObject({ code: 'INVALID_CONFIG' })
  })
  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2', undefined])('with a count of %s', (count) => {
    for (const pattern of [
      { ...turns, turns: { when, count } },
      { ...rate, rate: { ...rate.rate, count } },
    ])
      expect(thrownBy(() => checkPatterns([pattern as LivePattern]))).toMatchObject({ code: 'INVALID_CONFIG' })
  })
})
