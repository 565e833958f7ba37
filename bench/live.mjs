// What a live session costs, beside the bare @google/genai client against the same local server. See README.md.
// usage: npm run bench:live -- [--minutes 10] [--sessions 200] [--calls 3000]
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { installPacked, median, option } from './prepare.mjs'

const minutes = option('minutes', 10)
const sessions = option('sessions', 200)
const calls = option('calls', 3_000)
const folder = installPacked('live', ['@google/genai', 'ws'])

/** Starts a role of the worker. `result` is what it prints last. */
function start(role, settings) {
  const args = ['--expose-gc', 'live-worker.mjs', role, JSON.stringify(settings)]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['pipe', 'pipe', 2],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const lines = createInterface({ input: child.stdout })
  const wanted = new Map()
  const line = (word) => new Promise((resolve) => wanted.set(word, resolve))
  lines.on('line', (text) => {
    const [word, ...rest] = text.split(' ')
    wanted.get(word)?.(rest.length ? JSON.parse(rest.join(' ')) : undefined)
  })
  return { line, end: () => child.stdin.end(), exited: new Promise((resolve) => child.on('exit', resolve)) }
}

/** Runs a client against a server process of its own; returns what both have measured. */
async function measure(client, settings) {
  const server = start('server', settings)
  const url = await server.line('READY')
  const running = start(client, { ...settings, url })
  const clientResult = await running.line('RESULT')
  await running.exited
  const serverResult = server.line('RESULT')
  server.end()
  const result = { ...(await serverResult), ...clientResult }
  await server.exited
  return result
}

const ratios = []
for (let rep = 0; rep < 3; rep++) {
  const bare = await measure('bare-calls', { calls })
  const ours = await measure('toolwright-calls', { calls })
  ratios.push({ bare: bare.callUs, ours: ours.callUs })
}
const callBare = median(ratios.map(({ bare }) => bare))
const callOurs = median(ratios.map(({ ours }) => ours))

const short = Math.min(minutes, 1)
const bare = await measure('bare-audio', { sessions, minutes: short })
const ours = await measure('toolwright-audio', { sessions, minutes })
const rows = [
  ['tool call to response, bare client, us', callBare],
  ['tool call to response, Toolwright, us', callOurs],
  ['tool call to response, times the bare client', callOurs / callBare, 2],
  [`${sessions} sessions, model audio to consumer, bare client, p99 ms`, bare.outP99],
  [`${sessions} sessions, model audio to consumer, Toolwright, p99 ms`, ours.outP99],
  ['model audio to consumer, added p99 ms', ours.outP99 - bare.outP99, 50],
  [`${sessions} sessions, microphone to server, bare client, p99 ms`, bare.inP99],
  [`${sessions} sessions, microphone to server, Toolwright, p99 ms`, ours.inP99],
  ['microphone to server, added p99 ms', ours.inP99 - bare.inP99, 50],
  ['frames lost', ours.lost, 0],
  [`heap after ${minutes} minutes over heap after the first tenth`, ours.heapGrowth, 1.1],
  ['heap per session, kB', ours.heapKbPerSession],
]
let isOver = false
for (const [what, measured, max = Number.POSITIVE_INFINITY] of rows) {
  const isKept = measured <= max
  if (!isKept) isOver = true
  const limit = max < Number.POSITIVE_INFINITY ? ` (at most ${max})` : ''
  console.log(`${isKept ? 'ok  ' : 'OVER'} ${what}: ${measured.toFixed(measured < 10 ? 2 : 0)}${limit}`)
}
process.exitCode = isOver ? 1 : 0
