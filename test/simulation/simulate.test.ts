import { expect, test } from 'vitest'
import { simulate } from './simulate.ts'

test('two simulations of the same seed produce identical evidence', async () => {
  for (const seed of [1, 2, 3, 23, 317]) {
    const [first, second] = [await simulate(seed), await simulate(seed)]
    expect(first.evidence.trace.length).toBeGreaterThan(20)
    expect(JSON.stringify(second)).toBe(JSON.stringify(first))
  }
})

test('simulations of different seeds produce different evidence', async () => {
  const [first, second] = [await simulate(1), await simulate(2)]
  expect(second.evidence.trace).not.toEqual(first.evidence.trace)
})
