// Runs seeds on all cores. Each worker process takes a few seeds at a time.
import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Tally } from './seeds.ts'

/** The number of seeds that a worker takes at a time. */
const CHUNK = 100

export interface ManySeeds {
  readonly from: number
  readonly count: number
  /** Called after every batch of seeds. */
  readonly onTally?: (tally: Tally, done: number) => void
}

export async function runOnAllCores({ from, count, onTally }: ManySeeds): Promise<Tally> {
  const failed: string[] = []
  const happened: { [kind: string]: number } = {}
  let next = from
  let done = 0
  /** Sends a worker its next seeds. Returns their number, 0 if none is left. */
  const hand = (worker: ChildProcess): number => {
    const some = Math.min(CHUNK, from + count - next)
    if (some === 0) worker.disconnect()
    else worker.send({ from: next, count: some })
    next += some
    return some
  }
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = fork(join(import.meta.dirname, 'worker.ts'), { execArgv: ['--conditions=toolwright:source'] })
      let at = 0
      worker.on('message', (tally: Tally) => {
        done += at
        failed.push(...tally.failed)
        for (const [kind, times] of Object.entries(tally.happened)) happened[kind] = (happened[kind] ?? 0) + times
        onTally?.(tally, done)
        at = hand(worker)
      })
      worker.on('error', reject)
      worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`A worker ended with ${code}.`))))
      at = hand(worker)
    })
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return { failed, happened }
}
