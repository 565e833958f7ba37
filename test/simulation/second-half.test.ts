// The other half of the seeds.
import { expect, test } from 'vitest'
import { range, runSeeds } from './seeds.ts'

test('2,500 more conversations keep every promise', { timeout: 300_000 }, async () => {
  const { failed } = await runSeeds(range(2_500, 2_500))
  expect(failed).toEqual([])
})
