// Half of the seeds; the other half runs beside it.
import { expect, test } from 'vitest'
import { regressions } from './regressions.ts'
import { range, runSeeds } from './seeds.ts'

test('2,500 conversations keep every promise, whatever happens to their processes', { timeout: 300_000 }, async () => {
  const { failed, never } = await runSeeds(range(0, 2_500))
  expect(failed).toEqual([])
  expect(never, 'what the generator should make and did not').toEqual([])
})

test('seeds that once found something find nothing any more', { timeout: 60_000 }, async () => {
  const { failed } = await runSeeds(regressions)
  expect(failed).toEqual([])
})
