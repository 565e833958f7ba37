// What the HTTP server costs: concurrent runs over SSE, and one turn beside a call of the runner. See README.md.
// usage: npm run bench:server -- [--rounds 5] [--turns 2000]
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { installPacked, option } from './prepare.mjs'
import { checkServerLimits } from './server-limits.mjs'

const rounds = option('rounds', 5)
const turns = option('turns', 2_000)
const folder = installPacked('server', ['hono', '@hono/node-server', 'ws'])

/** Starts a role of the worker. `line(word)` is what it prints after the word. */
function start(role, settings) {
  const child = spawn(process.execPath, ['server-worker.mjs', role, JSON.stringify(settings)], {
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

const some = await measure({ concurrency: 200, rounds })
const many = await measure({ concurrency: 1_000, rounds: Math.max(1, Math.floor(rounds / 2)) })
const single = await measure({ concurrency: 1, rounds: turns })

let isOver = false
for (const { what, measured, max, over } of checkServerLimits({ some, many, single })) {
  if (over) isOver = true
  const limit = max === undefined ? '' : ` (at most ${max})`
  console.log(`${over ? 'OVER' : 'ok  '} ${what}: ${measured.toFixed(measured < 10 ? 2 : 0)}${limit}`)
}
process.exitCode = isOver ? 1 : 0
