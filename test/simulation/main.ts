// npm run simulate -- --seed 42                      prints one seed step by step
// npm run simulate -- --seeds 1000000 --from 0      many seeds on all cores; prints failing seeds and exits with 1
import { parseArgs } from 'node:util'
import { runOnAllCores } from './all-cores.ts'
import { showReport } from './show.ts'
import { simulate } from './simulate.ts'

/** Number of seeds between two progress lines. */
const PROGRESS = 10_000

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '5000' },
    from: { type: 'string', default: '0' },
  },
})

const isKept =
  values.seed === undefined
    ? await runMany(wholeNumber(values.from), wholeNumber(values.seeds))
    : await showOne(wholeNumber(values.seed))
if (!isKept) process.exitCode = 1

async function showOne(seed: number): Promise<boolean> {
  const report = await simulate(seed)
  console.log(showReport(report))
  return report.violations.length === 0
}

async function runMany(from: number, count: number): Promise<boolean> {
  const started = Date.now()
  const { failed } = await runOnAllCores({
    from,
    count,
    onTally: ({ failed }, done) => {
      for (const one of failed) console.log(`${one}\n`)
      if (done % PROGRESS === 0) console.log(`${done} of ${count}`)
    },
  })
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  console.log(`${count} seeds from ${from}: ${failed.length} failed, ${seconds} s`)
  return failed.length === 0
}

function wholeNumber(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 0) return number
  console.error(`"${text}" is not a whole number.`)
  process.exit(2)
}
