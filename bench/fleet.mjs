// What a fleet on Restate costs: a turn beside the same turn on Postgres alone, more workers, paused sessions. See README.md.
// usage: npm run bench:fleet -- [--turns 200] [--sessions 400] [--idle 100000] [--reps 3]
import { fork, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBalancer } from '../examples/fleet/balancer.ts'
import { startRestate } from '../examples/fleet/restate.ts'
import { canLeaveNetwork, withoutNetwork } from '../test/fleet/namespace.ts'
import { startServer } from '../test/postgres/server.ts'
import { checkFleetLimits } from './fleet-limits.mjs'
import { installPacked, option, root } from './prepare.mjs'

const folder = join(root, 'run', 'fleet')
if (!process.argv.includes('--inside')) {
  installPacked('fleet', ['pg', '@restatedev/restate-sdk'])
  // Restate asks for its newest version when it starts: it gets a network without a route
  const line = [process.execPath, ...process.execArgv, ...process.argv.slice(1), '--inside']
  const [command, args] = canLeaveNetwork() ? withoutNetwork(line) : [line[0], line.slice(1)]
  process.exit(spawnSync(command, args, { stdio: 'inherit' }).status ?? 1)
}

const sizes = { turns: option('turns', 200), sessions: option('sessions', 400), idle: option('idle', 100_000) }
const reps = option('reps', 3)
const data = mkdtempSync(join(tmpdir(), 'toolwright-bench-fleet-'))
const [restate, server, balancer] = await Promise.all([
  startRestate(data),
  startServer({ fsync: true }),
  startBalancer(),
])
const secret = randomBytes(32).toString('hex')
const common = {
  ...sizes,
  url: server.url,
  ingress: restate.ingress,
  admin: restate.admin,
  balancer: balancer.url,
  secret,
}
const env = { ...process.env, NODE_ENV: 'production' }
const samples = {}
const note = (values, suffix = '') => {
  for (const [metric, value] of Object.entries(values)) {
    samples[metric + suffix] ??= []
    samples[metric + suffix].push(value)
  }
}

/** Runs a part of the worker program in a process of its own. Returns what it has measured. */
async function work(part) {
  const child = fork(join(folder, 'fleet-worker.mjs'), [part, JSON.stringify(common)], {
    cwd: folder,
    env,
    execArgv: [],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  let out = ''
  child.stdout.on('data', (text) => {
    out += text
  })
  await once(child, 'close')
  const line = out.split('\n').find((one) => one.startsWith('RESULT '))
  if (!line) throw new Error(`${part} failed.`)
  return JSON.parse(line.slice(7))
}

async function startWorker() {
  const child = fork(join(folder, 'fleet-worker.mjs'), ['worker', JSON.stringify(common)], {
    cwd: folder,
    env,
    execArgv: ['--expose-gc'],
  })
  const [{ port }] = await once(child, 'message')
  balancer.ports.add(port)
  child.once('exit', () => balancer.ports.delete(port))
  return child
}

async function heapOf(worker) {
  worker.send('memory')
  return (await once(worker, 'message'))[0].heapMB
}

let isOver = false
try {
  const workers = [await startWorker(), await startWorker()]
  await work('load') // the first sessions compile and register
  for (let rep = 0; rep < reps; rep++) note(await work('turn'))
  for (let rep = 0; rep < reps; rep++) note(await work('load'), ' 2')
  workers.push(await startWorker())
  await work('load')
  for (let rep = 0; rep < reps; rep++) note(await work('load'), ' 3')
  const before = await heapOf(workers[0])
  await work('fill')
  await new Promise((resolve) => setTimeout(resolve, 10_000)) // the sweep looks at them
  note({ 'idle MB': (await heapOf(workers[0])) - before })
  for (const { what, min, max, measured, over } of checkFleetLimits(samples)) {
    if (over) isOver = true
    const limit = max !== undefined ? ` (at most ${max})` : min !== undefined ? ` (at least ${min})` : ''
    console.log(`${over ? 'OVER' : 'ok  '} ${what}: ${measured.toFixed(2)}${limit}`)
  }
  for (const worker of workers) worker.kill('SIGKILL')
} finally {
  balancer.close()
  await restate.close()
  await server.close()
  rmSync(data, { recursive: true, force: true, maxRetries: 3 })
}
process.exit(isOver ? 1 : 0)
