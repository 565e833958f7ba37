// Kills workers again and again, then Restate, then Postgres, while sessions run.
import { approveAll, auditAll, finishAll, manySessions, submitAll, untilDone } from './finish-sessions.ts'
import { fleetShapes } from './fleet-desk.ts'
import { startFleet } from './fleet-world.ts'
import { plantViolations } from './plant-violations.ts'
import { WorkerPool } from './worker-pool.ts'

/** What to kill. */
export interface KillOptions {
  readonly sessions: number
  /** How many workers are killed. */
  readonly kills: number
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
  /** What the auditor finds once violations are planted: a list for each of them. */
  readonly planted: { readonly [violation: string]: readonly string[] }
}

const FINISH_MS = 240_000
/** How far the clocks of workers are ahead. */
const AHEAD_MS = [0, 600_000, -600_000]
/** Background calls are left to `npm run torture:fleet`, whose workers have equal clocks: when a call counts as late is a time of the clock. */
const SHAPES = fleetShapes.filter((shape) => shape !== 'background')
/** The share of the sessions that run while workers are killed. The others run while Restate and Postgres are. */
const SHARE = 0.8

/** Runs sessions on three workers while they are killed. */
export async function killWorkers({ sessions: count, kills, everyMs }: KillOptions): Promise<KillReport> {
  const world = await startFleet({ bodyMs: 30 })
  try {
    const pool = new WorkerPool(world, AHEAD_MS)
    const sessions = manySessions(count, SHAPES)
    const most = Math.floor(count * SHARE)
    await pool.fill()
    for (let at = 0; at < kills; at++) {
      const share = sessions.slice(Math.floor((most * at) / kills), Math.floor((most * (at + 1)) / kills))
      const passed = new Promise((resolve) => setTimeout(resolve, everyMs))
      await submitAll(world, share)
      await approveAll(world)
      await passed
      await pool.killOldest()
    }
    const middle = Math.floor((most + count) / 2)
    await submitAll(world, sessions.slice(most, middle))
    await world.restate.killAndStart()
    await submitAll(world, sessions.slice(middle))
    await world.postgres.send('kill')
    await world.postgres.send('start')
    const left = await untilDone(() => finishAll(world, sessions, FINISH_MS))
    const violations = await auditAll(world, sessions)
    const effects = world.ledger.lines().filter(({ type }) => type === 'effect').length
    const unfinished = left.map(({ shape, sessionId }) => `${sessionId} (${shape})`)
    await pool.killAll() // they would mend what is planted
    return { kills: pool.kills, unfinished, violations, effects, planted: await plantViolations(world, sessions) }
  } finally {
    await world.close()
  }
}
