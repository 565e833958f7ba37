// Seeds on all cores: workers take a few at a time, until none is left.
import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Tally } from './seeds.ts'

/** Seeds a worker takes at a time. */
const CHUNK = 100

export interface ManySeeds {
  readonly from: number
  readonly count: number
  /** Called when some more are done. */
  readonly onTally?: (tally: Tally, done: number) => void
}

export async function runOnAllCores({ from, count, onTally }: ManySeeds): Promise<Tally> {
  const failed: string[] = []
  const happened: { [kind: string]: number } = {}
  let next = from
  let done = 0
  /** Gives a worker its next seeds; how many, 0 when none is left. */
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
