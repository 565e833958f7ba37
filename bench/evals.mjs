// What evaluations and statistics cost, through the command. See README.md.
// usage: npm run bench:evals -- [--cases 1000] [--entries 100000] [--reps 3]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPacked, median, option } from './prepare.mjs'

/** The most seconds for 1,000 recorded cases of five calls, on 2 cores. */
const MAX_REPLAY_S = 10
/** The most seconds for the statistics of 100,000 entries on SQLite. */
const MAX_STATS_S = 2

const sizes = { cases: option('cases', 1_000), entries: option('entries', 100_000) }
const reps = option('reps', 3)
const folder = installPacked('evals', [])
const data = mkdtempSync(join(tmpdir(), 'toolwright-bench-evals-'))
const cpuFile = join(data, 'cpu.json')

/** Writes the processor time of the process when it ends. */
const HOOK = `
import { writeFileSync } from 'node:fs'
process.on('exit', () => writeFileSync(${JSON.stringify(cpuFile)}, JSON.stringify(process.cpuUsage())))`

/** Runs a program. Returns its seconds, those of the processor, and what it has printed. */
function time(args) {
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`
  const start = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', hook, ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  const seconds = (performance.now() - start) / 1000
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stdout.slice(-500)} ${stderr.slice(-500)}`)
  const { user, system } = JSON.parse(readFileSync(cpuFile, 'utf8'))
  return { seconds, cpu: (user + system) / 1e6, stdout }
}

/** Shows a row. Returns whether its limit is kept. */
function report(what, max, samples) {
  const seconds = median(samples.map((one) => one.seconds))
  const cpu = median(samples.map((one) => one.cpu))
  const isKept = seconds <= max
  console.log(
    `${isKept ? 'ok  ' : 'OVER'} ${what}: ${seconds.toFixed(2)} s, processor ${cpu.toFixed(2)} s (limit ${max} s)`,
  )
  return isKept
}

const COMMAND = 'node_modules/toolwright/dist/cli/index.js'
const repeat = (measure) => Array.from({ length: reps }, measure)
try {
  const [set, database] = [join(data, 'desk.evalset.json'), join(data, 'app.db')]
  time(['evals-worker.mjs', 'fill', JSON.stringify({ ...sizes, set, database })])
  const replays = repeat(() => {
    const done = time([COMMAND, 'eval', set, '--agent', 'evals-worker.mjs', '--replay'])
    if (!done.stdout.includes(`${sizes.cases} of ${sizes.cases} cases passed`)) throw new Error(done.stdout.slice(-500))
    return done
  })
  const stats = repeat(() => {
    const done = time([COMMAND, 'stats', database, '--json'])
    if (JSON.parse(done.stdout)[0].calls < sizes.entries / 5) throw new Error(done.stdout.slice(-500))
    return done
  })
  const rows = [
    report(`${sizes.cases} recorded cases of five calls replay`, MAX_REPLAY_S, replays),
    report(`stats over ${sizes.entries} entries on SQLite`, MAX_STATS_S, stats),
  ]
  process.exitCode = rows.every(Boolean) ? 0 : 1
} finally {
  rmSync(data, { recursive: true, force: true })
}
