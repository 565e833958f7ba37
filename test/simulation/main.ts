// npm run simulate -- --seed 42                      one seed, step by step
// npm run simulate -- --seeds 1000000 --from 0      many, on all cores; failing ones are named, and the end is an error
import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { replayCommand, showReport, showVerdict } from './show.ts'
import { simulate } from './simulate.ts'

/** Seeds a worker takes at a time. */
const CHUNK = 250

interface Chunk {
  readonly from: number
  readonly count: number
}

interface Failed {
  readonly seed: number
  readonly verdict: string
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '0' },
    worker: { type: 'boolean', default: false },
  },
})

if (values.worker) work()
else if (values.seed !== undefined) await showOne(wholeNumber(values.seed))
else await runMany(wholeNumber(values.from), wholeNumber(values.seeds ?? '5000'))

async function showOne(seed: number): Promise<void> {
  const report = await simulate(seed)
  console.log(showReport(report))
  if (report.violations.length) process.exitCode = 1
}

async function runMany(from: number, count: number): Promise<void> {
  const started = Date.now()
  let next = from
  let done = 0
  let failed = 0
  const hand = (worker: ChildProcess): void => {
    const left = from + count - next
    if (left <= 0) return void worker.disconnect()
    const chunk: Chunk = { from: next, count: Math.min(CHUNK, left) }
    next += chunk.count
    worker.send(chunk)
  }
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = fork(import.meta.filename, ['--worker'], { execArgv: process.execArgv })
      worker.on('message', (found: Failed[]) => {
        done += CHUNK
        failed += found.length
        for (const { seed, verdict } of found) console.log(`seed ${seed}\n${verdict}\nreplay: ${replayCommand(seed)}\n`)
        if (done % (CHUNK * 40) === 0) console.log(`${done} of ${count}, ${failed} failed, ${Date.now() - started} ms`)
        hand(worker)
      })
      worker.on('exit', (code) => (code ? reject(new Error(`A worker ended with ${code}.`)) : resolve()))
      hand(worker)
    })
  await Promise.all(Array.from({ length: availableParallelism() }, one))
  console.log(`${count} seeds from ${from}, ${failed} failed, ${((Date.now() - started) / 1000).toFixed(1)} s`)
  if (failed) process.exitCode = 1
}

function work(): void {
  process.on('message', async ({ from, count }: Chunk) => {
    const failed: Failed[] = []
    for (let seed = from; seed < from + count; seed++) {
      const { violations } = await simulate(seed)
      if (violations.length) failed.push({ seed, verdict: showVerdict(violations) })
    }
    process.send?.(failed)
  })
}

function wholeNumber(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 0) return number
  console.error(`"${text}" is no seed: a seed is a whole number.`)
  process.exit(2)
}
