import { expect, test } from 'vitest'
import { runOnAllCores } from './all-cores.ts'
import { kinds } from './coverage.ts'
import { regressions } from './regressions.ts'
import { runSeeds } from './seeds.ts'

test('5,000 conversations keep every promise, whatever happens to their processes', { timeout: 300_000 }, async () => {
  const { failed, happened } = await runOnAllCores({ from: 0, count: 5_000 })
  expect(failed).toEqual([])
  const never = [...kinds.keys()].filter((kind) => !happened[kind])
  expect(never, 'what the generator should make and did not').toEqual([])
})

test('seeds that once found something find nothing any more', { timeout: 60_000 }, async () => {
  const { failed } = await runSeeds(regressions)
  expect(failed).toEqual([])
})
