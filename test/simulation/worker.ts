// A process that runs the seeds it is sent.
import { range, runSeeds } from './seeds.ts'

process.on('message', async ({ from, count }: { from: number; count: number }) => {
  process.send?.(await runSeeds(range(from, count)))
})
