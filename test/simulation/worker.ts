// A worker process that runs the seeds its parent sends.
import { range, runSeeds } from './seeds.ts'

process.on('message', async ({ from, count }: { from: number; count: number }) => {
  process.send?.(await runSeeds(range(from, count)))
})
