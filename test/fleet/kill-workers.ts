// Kills workers again and again, then Restate, then Postgres, while sessions run.
import { approveAll, auditAll, finishAll, manySessions, submitAll, untilDone } from './finish-sessions.ts'
import { type FleetWorker, startFleet } from './fleet-world.ts'

/** What to kill. */
export interface KillOptions {
  readonly sessions: number
  /** How long workers are killed, in milliseconds. */
  readonly forMs: number
  /** A worker is killed each time this many milliseconds have passed. */
  readonly everyMs: number
}

/** What the kills have left. */
export interface KillReport {
  readonly kills: number
  /** Sessions that were not over in time. */
  readonly unfinished: readonly string[]
  /** What the auditor found, one line for each violation. */
  readonly violations: readonly string[]
  /** How often tools took effect. */
  readonly effects: number
}

const WORKERS = 3
const FINISH_MS = 120_000

/** Runs sessions on three workers while they are killed. */
export async function killWorkers({ sessions: count, forMs, everyMs }: KillOptions): Promise<KillReport> {
  const world = await startFleet({ bodyMs: 30 })
  try {
    const workers: FleetWorker[] = []
    for (let at = 0; at < WORKERS; at++) workers.push(await world.startWorker())
    const sessions = manySessions(count)
    const perKill = Math.ceil(count / Math.max(1, forMs / everyMs))
    let kills = 0
    for (let at = 0; at < count; at += perKill) {
      await submitAll(world, sessions.slice(at, at + perKill))
      await new Promise((resolve) => setTimeout(resolve, everyMs))
      await workers.shift()?.kill()
      kills++
      workers.push(await world.startWorker())
      await approveAll(world)
    }
    await world.restate.killAndStart()
    await world.postgres.send('kill')
    await world.postgres.send('start')
    kills += 2
    const left = await untilDone(() => finishAll(world, sessions, FINISH_MS))
    const violations = await auditAll(world, sessions)
    const effects = world.ledger.lines().filter(({ type }) => type === 'effect').length
    const unfinished = left.map(({ shape, sessionId }) => `${sessionId} (${shape})`)
    return { kills, unfinished, violations, effects }
  } finally {
    await world.close()
  }
}
