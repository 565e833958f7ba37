// What a store costs in a long session and in a large paused run. See README.md.
// usage: npm run bench:store -- [--store sqlite|postgres] [--url postgres://...] [--entries 100000] [--reps 5]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPacked, median, option } from './prepare.mjs'

const text = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : process.argv[at + 1]
}
const store = text('store', 'sqlite')
const url = text('url', '')
const entries = option('entries', 100_000)
const reps = option('reps', 5)
if (store !== 'sqlite' && store !== 'postgres') throw new Error(`--store must be sqlite or postgres, got "${store}".`)
if (store === 'postgres' && !url)
  throw new Error('--store postgres needs --url: an empty database of a server that runs.')

const folder = installPacked('store', [])
const data = mkdtempSync(join(tmpdir(), 'toolwright-bench-store-'))

/** Runs a part of the worker in a process of its own. Returns what it has measured. */
function work(part, settings = {}) {
  const given = JSON.stringify({ store, url, data, entries, ...settings })
  const child = spawnSync(process.execPath, ['--expose-gc', 'store-worker.mjs', part, given], {
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

const samples = {}
function measure(part, settings) {
  for (const [metric, value] of Object.entries(work(part, settings))) {
    samples[metric] ??= []
    samples[metric].push(value)
  }
}
try {
  work('fill')
  for (let rep = 0; rep < reps; rep++) measure('turn', { rep })
  for (let rep = 0; rep < reps; rep++) measure('append', { rep })
  for (let rep = 0; rep < reps; rep++) {
    measure('pause', { rep })
    measure('resume', { rep })
  }
} finally {
  rmSync(data, { recursive: true, force: true })
}

const value = (name) => median(samples[name])
const ratio = (name) => median(samples[name].map((one, at) => one / samples[name.replace('long', 'short')][at]))
const thousand = `${Math.round(entries / 1_000)},000`
const rows = [
  ['turn after reopening a session of 50 entries, ms', value('turn short')],
  [`turn after reopening a session of ${thousand} entries, ms`, value('turn long')],
  ['turn after reopening, long over short', ratio('turn long'), { max: 2 }],
  ['append at 10 entries, us', value('append short')],
  [`append at ${thousand} entries, us`, value('append long')],
  ['append, long over short', ratio('append long'), { max: 1.2 }],
  ['run paused after 20 calls of 50 kB, bytes stored over content', value('stored'), { max: 1.3 }],
  ['resume of it in another process, ms', value('resume'), store === 'sqlite' ? { max: 50 } : {}],
]
let isOver = false
for (const [what, measured, { max = Infinity } = {}] of rows) {
  const isKept = measured <= max
  if (!isKept) isOver = true
  const limit = max < Infinity ? ` (at most ${max})` : ''
  console.log(`${isKept ? 'ok  ' : 'OVER'} ${what}: ${measured.toFixed(measured < 10 ? 2 : 0)}${limit}`)
}
process.exitCode = isOver ? 1 : 0
