// What stores cost: long sessions, large paused runs, appends over a bare database, commits, idle sessions. See README.md.
// usage: npm run bench:store -- [--store sqlite,postgres] [--url postgres://...] [--entries 100000] [--appends 2000] [--idle 10000] [--reps 5]
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../test/postgres/server.ts'
import { installPacked, option, root } from './prepare.mjs'
import { checkStoreLimits } from './store-limits.mjs'

const text = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : process.argv[at + 1]
}
const stores = text('store', 'sqlite,postgres').split(',')
const other = stores.find((store) => store !== 'sqlite' && store !== 'postgres')
if (other !== undefined) throw new Error(`--store must be sqlite, postgres or both with a comma, got "${other}".`)
const sizes = { entries: option('entries', 100_000), appends: option('appends', 2_000), idle: option('idle', 10_000) }
const reps = option('reps', 5)
const COSTS = 'store-costs-worker.mjs'
const folder = installPacked('store', [])
copyFileSync(join(root, COSTS), join(folder, COSTS))

/** Runs a part of a worker in a process of its own. Returns what it has measured. */
function work(part, settings, worker = 'store-worker.mjs') {
  const child = spawnSync(process.execPath, ['--expose-gc', worker, part, JSON.stringify({ ...sizes, ...settings })], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    timeout: 1_800_000,
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const line = child.stdout.split('\n').find((one) => one.startsWith('RESULT '))
  if (!line) throw new Error(`${part} failed: ${child.stderr.slice(-500)}`)
  return JSON.parse(line.slice(7))
}

/** The samples of each metric of a store. */
function measureStore(given) {
  const samples = {}
  const measure = (part, settings, worker) => {
    for (const [metric, value] of Object.entries(work(part, { ...given, ...settings }, worker))) {
      samples[metric] ??= []
      samples[metric].push(value)
    }
  }
  measure('fill')
  for (let rep = 0; rep < reps; rep++) measure('turn', { rep })
  for (let rep = 0; rep < reps; rep++) measure('append', { rep })
  for (let rep = 0; rep < reps; rep++) {
    measure('pause', { rep })
    measure('resume', { rep })
  }
  // a server decides itself how it writes to its disk
  for (let rep = 0; rep < reps; rep++)
    for (const synchronous of given.store === 'sqlite' ? ['normal', 'full'] : ['normal'])
      measure('rate', { rep, synchronous }, COSTS)
  for (let rep = 0; rep < reps; rep++) measure('late', { rep }, COSTS)
  measure('commits', { rep: 0 }, COSTS)
  measure('fillIdle', {}, COSTS)
  measure('idle', {}, COSTS)
  return samples
}

/** Shows what was measured. Returns whether a limit is broken. */
function report(store, samples) {
  console.log(
    `\n${store}: ${Object.entries(sizes)
      .map(([name, size]) => `${size} ${name}`)
      .join(', ')}, ${reps} reps`,
  )
  const checked = checkStoreLimits(store, samples)
  for (const { what, min, max, measured, over } of checked) {
    const limit = max !== undefined ? ` (at most ${max})` : min !== undefined ? ` (at least ${min})` : ''
    console.log(`${over ? 'OVER' : 'ok  '} ${what}: ${measured?.toFixed(measured < 10 ? 2 : 0)}${limit}`)
  }
  return checked.some(({ over }) => over)
}

let isOver = false
for (const store of stores) {
  const data = mkdtempSync(join(tmpdir(), 'toolwright-bench-store-'))
  const ownUrl = text('url')
  // commits wait for the disk, as those of a real server do
  const server = store === 'postgres' && !ownUrl ? await startServer({ fsync: true }) : undefined
  try {
    if (report(store, measureStore({ store, data, url: ownUrl ?? server?.url ?? '' }))) isOver = true
  } finally {
    await server?.close()
    rmSync(data, { recursive: true, force: true })
  }
}
process.exitCode = isOver ? 1 : 0
