// npm run torture:fleet -- --sessions 500 --minutes 10 --every 5      kills a worker every 5 seconds, and measures recoveries.
// Exits with 1 on a violation, or if the slowest hundredth of the recoveries takes longer than 20 s.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { auditAll, finishAll, keyOf, manySessions } from './finish-sessions.ts'
import { startFleet } from './fleet-world.ts'
import { canLeaveNetwork, withoutNetwork } from './namespace.ts'
import { percentile, RecoveryTimes } from './recovery-times.ts'
import { keepBusy } from './torture-load.ts'
import { WorkerPool } from './worker-pool.ts'

const INSIDE = '--inside'
if (!process.argv.includes(INSIDE)) {
  if (!canLeaveNetwork()) {
    console.error(
      'Restate asks for its newest version when it starts. This machine has no network namespace to keep it in.',
    )
    process.exit(2)
  }
  const [command, args] = withoutNetwork([process.execPath, ...process.execArgv, ...process.argv.slice(1), INSIDE])
  process.exit(spawnSync(command, args, { stdio: 'inherit' }).status ?? 1)
}

const MAX_P99_MS = 20_000
const FINISH_MS = 300_000
/** How many sessions have work at the same time. */
const CONCURRENCY = 24

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '500' },
    minutes: { type: 'string', default: '10' },
    every: { type: 'string', default: '5' },
    inside: { type: 'boolean' },
  },
})
const sessions = manySessions(positive('sessions'))
const [minutes, everyMs] = [positive('minutes'), positive('every') * 1_000]
console.log(`${sessions.length} sessions, a kill every ${everyMs / 1_000} s for ${minutes} minutes`)

const times = new RecoveryTimes()
const world = await startFleet({
  bodyMs: 300,
  onDeed: (worker, { session, deed }) => times.note(worker, session, deed, performance.now()),
})
const pool = new WorkerPool(world)
await pool.fill()
const end = new AbortController()
const busy = keepBusy(world, sessions, { concurrency: CONCURRENCY, signal: end.signal })
const until = performance.now() + minutes * 60_000
while (performance.now() + everyMs <= until) {
  await new Promise((resolve) => setTimeout(resolve, everyMs))
  await pool.killOldest((worker) => times.kill(worker, performance.now()))
}
end.abort()
const messages = await busy
const used = sessions.filter((session) => messages.has(session))
const left = await finishAll(world, used, FINISH_MS)
const sorted = times.sorted(performance.now())
const violations = [
  ...left.map((session) => `${keyOf(session)} is not over.`),
  ...(await auditAll(world, used, messages)),
]
for (const violation of violations) console.log(violation)

const effects = world.ledger.lines().filter(({ type }) => type === 'effect').length
const turns = [...messages.values()].reduce((sum, count) => sum + count, 0)
const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)]
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`
console.log(`${pool.kills} kills, ${used.length} sessions, ${turns} messages, ${effects} effects`)
console.log(
  `${sorted.length} recoveries: p50 ${seconds(p50)}, p99 ${seconds(p99)}, longest ${seconds(sorted.at(-1) ?? 0)}`,
)
console.log(`${violations.length} violations`)
await world.close()
process.exit(violations.length > 0 || p99 > MAX_P99_MS || sorted.length === 0 ? 1 : 0)

function positive(option: 'sessions' | 'minutes' | 'every'): number {
  const number = Number(values[option])
  if (number > 0 && (option !== 'sessions' || Number.isInteger(number))) return number
  console.error(`--${option} must be a number > 0, got "${values[option]}".`)
  process.exit(2)
}
