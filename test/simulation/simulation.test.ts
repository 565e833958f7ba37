import { expect, test } from 'vitest'
import { runOnAllCores } from './all-cores.ts'
import { kinds } from './coverage.ts'
import { regressions } from './regressions.ts'
import { runSeeds } from './seeds.ts'

test('2,500 simulated conversations with faults violate no promise', { timeout: 300_000 }, async () => {
  const { failed, happened } = await runOnAllCores({ from: 0, count: 2_500 })
  expect(failed).toEqual([])
  const uncovered = [...kinds.keys()].filter((kind) => !happened[kind])
  expect(uncovered, 'cases that no seed covered').toEqual([])
})

test('seeds that found a bug once find no violation', { timeout: 60_000 }, async () => {
  const { failed } = await runSeeds(regressions)
  expect(failed).toEqual([])
})
