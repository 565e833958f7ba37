// Side-by-side benchmark of agent tool loops. See README.md.
// usage: npm run bench -- [--only toolwright,ai] [--reps 5] [--cold 11] [--out results.json] [--guard]
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { arch, cpus, platform, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkLimits } from './limits.mjs'

const root = dirname(fileURLToPath(import.meta.url))
const opt = (name, fallback) => {
  const i = process.argv.indexOf(`--${name}`)
  return i < 0 ? fallback : process.argv[i + 1]
}
const guard = process.argv.includes('--guard') // our own rows only, and room above the limits: for CI
const reps = Number(opt('reps', guard ? 3 : 5))
const coldReps = Number(opt('cold', 11))
const only = guard ? ['toolwright'] : opt('only')?.split(',')
const median = (xs) => [...xs].sort((a, b) => a - b)[xs.length >> 1]
const log = (s) => process.stderr.write(`${s}\n`)

// ---- adapters and their own, separate installs ---------------------------------------------------
const adapters = []
for (const file of readdirSync(join(root, 'adapters'))
  .filter((f) => f.endsWith('.mjs'))
  .sort()) {
  const name = file.slice(0, -4)
  if (only && !only.includes(name) && name !== 'floor') continue
  adapters.push((await import(`./adapters/${file}`)).default)
}
adapters.sort((a, b) => (b.name === 'floor') - (a.name === 'floor'))

function install(dir, packages) {
  if (existsSync(join(dir, 'node_modules'))) return
  log(`installing ${packages.join(' ')}`)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'package.json'), '{"private":true,"type":"module"}')
  execFileSync('npm', ['i', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
    cwd: dir,
    stdio: ['ignore', 2, 2],
  })
}

/** Our package as npm would publish it. It is always installed again, because its version number does not change. */
function pack(a) {
  const repository = dirname(root)
  a.version = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')).version
  log(`packing ${a.name} ${a.version}`)
  execFileSync('npm', ['pack', '--loglevel=error', '--pack-destination', root], {
    cwd: repository,
    stdio: ['ignore', 2, 2],
  })
  a.install = [join(root, `${a.name}-${a.version}.tgz`)]
  for (const dir of [a.cleanDir, a.runDir]) rmSync(dir, { recursive: true, force: true })
}
for (const a of adapters) {
  a.cleanDir = join(root, 'clean', a.name) // only the package: for S8
  a.runDir = a.extras ? join(root, 'run', a.name) : a.cleanDir // plus the extra packages of the adapter
  if (a.pack) pack(a)
  install(a.cleanDir, a.install)
  if (a.extras) install(a.runDir, [...a.install, ...a.extras])
  copyFileSync(join(root, 'worker.mjs'), join(a.runDir, 'worker.mjs'))
  copyFileSync(join(root, 'adapters', `${a.name}.mjs`), join(a.runDir, `${a.name}.mjs`))
}

// ---- S1-S7, S9: one process per adapter and repetition, adapters interleaved ---------------------
const samples = {} // adapter -> scenario -> metric -> [values]
const errors = {}
function record(name, scenario, metrics) {
  if (metrics.error) {
    slot(errors, name)[scenario] = metrics.error
    return
  }
  for (const [k, v] of Object.entries(metrics)) slot(slot(slot(samples, name), scenario), k, []).push(v)
}
function slot(object, key, empty = {}) {
  object[key] ??= empty
  return object[key]
}
/** Runs a part of worker.mjs in a process of its own. Returns what it has written to stderr when it has no result. */
function work(a, part) {
  const child = spawnSync(process.execPath, ['--expose-gc', 'worker.mjs', a.name, part], {
    cwd: a.runDir,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    timeout: 300_000,
    env: { ...process.env, NODE_ENV: 'production', ...a.env },
  })
  const line = child.stdout.split('\n').find((l) => l.startsWith('RESULT '))
  if (!line) {
    record(a.name, part, { error: `no result: ${child.stderr.slice(-300)}` })
    return child.stderr.slice(-300)
  }
  for (const [s, m] of Object.entries(JSON.parse(line.slice(7)))) record(a.name, s, m)
}
const rotate = (xs, n) => [...xs.slice(n % xs.length), ...xs.slice(0, n % xs.length)]
for (let rep = 0; rep < reps; rep++) {
  for (const a of rotate(adapters, rep * 3)) {
    for (const part of ['loop', 'concurrency']) {
      const t = Date.now()
      const failure = work(a, part)
      const seconds = ((Date.now() - t) / 1000).toFixed(1)
      log(`rep ${rep + 1}/${reps} ${a.name} ${part} ${seconds}s${failure === undefined ? '' : ` FAILED ${failure}`}`)
    }
  }
}

// ---- S10: the first turn of a process, many short processes --------------------------------------
for (let rep = 0; rep < coldReps; rep++) for (const a of rotate(adapters, rep)) work(a, 'first')

// ---- S8: cold import, in the clean install -------------------------------------------------------
const probe = (entry) => `${entry ? `await import('${entry}');` : ''}
process.stdout.write('RESULT ' + JSON.stringify({ ms: performance.now(), rssMB: process.memoryUsage.rss() / 1048576 }), () => process.exit(0))`
for (let rep = 0; rep < coldReps; rep++) {
  for (const a of [...rotate(adapters, rep), { name: 'bare-node', cleanDir: root }]) {
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', probe(a.entry)], {
      cwd: a.cleanDir,
      encoding: 'utf8',
      env: { ...process.env, NODE_ENV: 'production', ...a.env },
    })
    const json = child.stdout.split('RESULT ')[1]
    record(a.name, 'S8', json ? JSON.parse(json) : { error: child.stderr.slice(-400) })
  }
}
for (const a of adapters) {
  const diskMB = bytesOf(join(a.cleanDir, 'node_modules')) / 1e6
  const lock = JSON.parse(readFileSync(join(a.cleanDir, 'node_modules', '.package-lock.json'), 'utf8'))
  record(a.name, 'S8', { diskMB, packages: Object.keys(lock.packages).length })
}

function bytesOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

// ---- report --------------------------------------------------------------------------------------
const med = (name, s, k) => samples[name]?.[s]?.[k] && median(samples[name][s][k])
const num = (x) =>
  x === undefined ? '-' : Math.abs(x) >= 100 ? x.toFixed(0) : Math.abs(x) >= 10 ? x.toFixed(1) : x.toFixed(2)
const plain = (s, k) => (n) => num(med(n, s, k))
const ratio = (s, k) => (n) => {
  const v = med(n, s, k),
    f = med('floor', s, k)
  return v === undefined
    ? errors[n]?.[s]
      ? 'error'
      : '-'
    : n === 'floor'
      ? num(v)
      : `${num(v)} (${(v / f).toFixed(v / f >= 10 ? 0 : 1)}x)`
}
const growth = (s) => (n) =>
  med(n, s, 'late') === undefined ? '-' : `${(med(n, s, 'late') / med(n, s, 'early')).toFixed(1)}x`
const kb = (s) => (n) => (med(n, s, 'heapB') === undefined ? '-' : (med(n, s, 'heapB') / 1024).toFixed(1))
const rows = [
  ['S1 one call, us/turn', ratio('S1', 'us')],
  ['S1 turns 1-1,000, us/turn', ratio('S1', 'firstUs')],
  ['S1 retained heap, KB/turn', kb('S1')],
  ['S2 8 parallel calls, us/turn', ratio('S2', 'us')],
  ['S2 retained heap, KB/turn', kb('S2')],
  ['S1k one call, sessions kept, us/turn', ratio('S1k', 'us')],
  ['S2k 8 parallel calls, sessions kept, us/turn', ratio('S2k', 'us')],
  [
    'S3 50-call chain, us/step (whole)',
    (n) => {
      const v = med(n, 'S3', 'us')
      return v === undefined
        ? '-'
        : n === 'floor'
          ? num(v / 51)
          : `${num(v / 51)} (${(v / med('floor', 'S3', 'us')).toFixed(0)}x)`
    },
  ],
  ['S3 steps 1-10, us/step', plain('S3', 'early')],
  ['S3 steps 41-50, us/step', plain('S3', 'late')],
  ['S3 growth', growth('S3')],
  ['S3 retained heap, KB/chain', kb('S3')],
  ['S4 turns 41-60, us/turn', plain('S4', 'early')],
  ['S4 turns 181-200, us/turn', ratio('S4', 'late')],
  ['S4 growth', growth('S4')],
  ['S4 session heap, KB/turn', kb('S4')],
  ['S5 1,000 tools, us/turn', ratio('S5', 'us')],
  ['S5 agent set-up, ms', plain('S5', 'setupMs')],
  ['S5 retained heap, KB/turn', kb('S5')],
  ['S6 1,000 concurrent, wall ms', ratio('S6', 'ms')],
  ['S6 peak RSS, MB', plain('S6', 'peakMB')],
  ['S6 RSS growth, MB', plain('S6', 'growMB')],
  ['S7 streaming, us/delta', ratio('S7', 'us')],
  ['S7 retained heap, KB/500 deltas', kb('S7')],
  ['S8 import done, ms after process start', plain('S8', 'ms')],
  ['S8 RSS after import, MB', plain('S8', 'rssMB')],
  ['S8 install, MB', plain('S8', 'diskMB')],
  ['S8 packages', plain('S8', 'packages')],
  ['S9 8 tools of 20 ms, wall ms', plain('S9', 'ms')],
  ['S10 first turn of a process, ms after import', plain('S10', 'ms')],
]
const names = adapters.map((a) => a.name)
const table = [
  `| | ${adapters.map((a) => `${a.name} ${a.version}`).join(' | ')} |`,
  `|---|${names.map(() => '---:').join('|')}|`,
  ...rows.map(([label, cell]) => `| ${label} | ${names.map(cell).join(' | ')} |`),
].join('\n')
const machine = {
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  memoryGB: Math.round(totalmem() / 2 ** 30),
  system: `${platform()} ${release()} ${arch()}`,
}
const footer = `Bare node: ${num(med('bare-node', 'S8', 'ms'))} ms, ${num(med('bare-node', 'S8', 'rssMB'))} MB. Node ${machine.node}, ${machine.cores} cores (${machine.cpu}), ${machine.memoryGB} GB, ${machine.system}; ${reps} repetitions, medians; (Nx) = times the floor.`
console.log(`${table}\n\n${footer}`)
if (Object.keys(errors).length) console.log('\nErrors:', JSON.stringify(errors, null, 2))
const out = opt('out', join(root, 'results.json'))
writeFileSync(
  out,
  JSON.stringify({ ...machine, date: new Date().toISOString(), reps, coldReps, samples, errors }, null, 1),
)
writeFileSync(out.replace(/\.json$/, '.md'), `${table}\n\n${footer}\n`)

// ---- limits of Toolwright, checked when it was measured -------------------------------------
if (names.includes('toolwright')) {
  const checked = checkLimits(med, { scenarios: process.env.BENCH_ONLY?.split(','), guard })
  console.log(`\nLimits of toolwright${guard ? ', with the room of the guard' : ''}`)
  for (const { what, max, measured, over } of checked) {
    console.log(
      `${over ? 'OVER' : 'ok  '} ${what}: ${Number.isFinite(measured) ? num(measured) : 'not measured'} (${max === Infinity ? 'not judged' : `at most ${num(max)}`})`,
    )
  }
  if (checked.some(({ over }) => over)) process.exitCode = 1
}
