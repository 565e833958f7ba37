// The other half of the seeds.
import { expect, test } from 'vitest'
import { range, runSeeds } from './seeds.ts'

test('2,500 more conversations keep every promise, and hold everything that can happen', {
  timeout: 300_000,
}, async () => {
  const { failed, never } = await runSeeds(range(2_500, 2_500))
  expect(failed).toEqual([])
  expect(never, 'what the generator should make and did not').toEqual([])
})
