// What the HTTP server costs: concurrent runs over SSE, one turn beside a call of the runner, and turns while another user attacks
// the server within its default limits. See README.md.
// usage: npm run bench:server -- [--rounds 5] [--turns 2000] [--seconds 10]
import { spawn } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { checkAttackLimits } from './attack-limits.mjs'
import { installPacked, option } from './prepare.mjs'
import { checkServerLimits } from './server-limits.mjs'

const rounds = option('rounds', 5)
const turns = option('turns', 2_000)
const seconds = option('seconds', 10)
const ATTACK_WORKER = 'attack-worker.mjs'
const folder = installPacked('server', ['hono', '@hono/node-server', 'ws'])

copyFileSync(join(import.meta.dirname, ATTACK_WORKER), join(folder, ATTACK_WORKER))

/** Starts a role of a worker. `line(word)` is what it prints after the word. */
function start(role, settings, worker = 'server-worker.mjs') {
  const child = spawn(process.execPath, [worker, role, JSON.stringify(settings)], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 2],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const exited = new Promise((resolve) => child.on('exit', resolve))
  const wanted = new Map()
  const line = (word) =>
    new Promise((resolve, reject) => {
      wanted.set(word, resolve)
      void exited.then((code) => reject(new Error(`The ${role} exited with ${code} before it printed ${word}.`)))
    })
  createInterface({ input: child.stdout }).on('line', (text) => {
    const [word, ...rest] = text.split(' ')
    wanted.get(word)?.(JSON.parse(rest.join(' ')))
  })
  return { line, end: () => child.stdin.end(), exited }
}

/** Runs the client against a server process of its own; returns what both have measured. */
async function measure(settings) {
  const server = start('server', settings)
  const ready = await server.line('READY')
  const client = start('client', { ...settings, ...ready })
  const measured = await client.line('RESULT')
  await client.exited
  const result = server.line('RESULT')
  server.end()
  const { rssMB } = await result
  await server.exited
  return { ...measured, rssMB, runnerMs: ready.runnerMs }
}

/** The turns of one user while another one attacks. */
async function measureAttack(attack) {
  const file = join(folder, 'attack.db')
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
  const server = start('server', { file }, ATTACK_WORKER)
  const { url } = await server.line('READY')
  const attacker = start('attacker', { url, attack }, ATTACK_WORKER)
  await attacker.line('READY')
  const victim = start('victim', { url, seconds }, ATTACK_WORKER)
  const turns = await victim.line('RESULT')
  await victim.exited
  attacker.end()
  console.log(`     ${attack}: ${JSON.stringify(await attacker.line('RESULT'))} responses, ${turns.turns} turns`)
  await attacker.exited
  const result = server.line('RESULT')
  server.end()
  const { rssMB } = await result
  await server.exited
  return { ...turns, rssMB }
}

const some = await measure({ concurrency: 200, rounds })
const many = await measure({ concurrency: 1_000, rounds: Math.max(1, Math.floor(rounds / 2)) })
const single = await measure({ concurrency: 1, rounds: turns })

const rows = checkServerLimits({ some, many, single })
const names = start('names', {}, ATTACK_WORKER)
for (const attack of await names.line('RESULT')) rows.push(...checkAttackLimits(attack, await measureAttack(attack)))

let isOver = false
for (const { what, measured, max, over } of rows) {
  if (over) isOver = true
  const limit = max === undefined ? '' : ` (at most ${max})`
  console.log(`${over ? 'OVER' : 'ok  '} ${what}: ${measured.toFixed(measured < 10 ? 2 : 0)}${limit}`)
}
process.exitCode = isOver ? 1 : 0
