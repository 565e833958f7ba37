// kill -9 at random: two processes at a time over one store, each with a session of every shape, again and again.
import { Random } from '../simulation/random.ts'
import { audit } from './audit/audit.ts'
import type { CrashWorld, Ending } from './crash-world.ts'
import { shapes } from './kill-points.ts'
import { openRawStore } from './rows/open-raw-store.ts'
import type { DeskOptions } from './victim/desk.ts'

/** What to kill. */
export interface RandomKillOptions {
  /** What `openStore()` takes. */
  readonly store: string
  /** Distinguishes the sessions from those of other calls on the same store. */
  readonly name: string
  /** How many processes to kill. */
  readonly kills: number
  readonly seed: number
  /** Called after each kill. */
  readonly onKill?: ((ending: Ending) => void) | undefined
}

/** What the kills have done. */
export interface RandomKillReport {
  /** One line for each violation. */
  readonly violations: readonly string[]
  /** How often tools took effect. */
  readonly effects: number
}

const LANES = ['left', 'right'] as const

/** All sessions together take about this many steps for one message each. */
const MOST_STEPS = 1_200
/** A process has started, and works, after this time. */
const [EARLIEST_MS, LATEST_MS] = [60, 400]

/** The time of a background call of a dead process is over for the next one. */
const LATER_MS = 120_000

/** Kills processes, then lets a last one finish all work, and audits every session. */
export async function killAtRandom(world: CrashWorld, options: RandomKillOptions): Promise<RandomKillReport> {
  const { store } = options
  const lanes = LANES.map((lane, at) => killInLane(world, lane, { ...options, kills: share(options.kills, at) }))
  await Promise.allSettled(lanes) // when one fails, the other one still needs the folder
  const desks = await Promise.all(lanes)
  const lines = world.ledger.lines()
  const raw = await openRawStore(store)
  try {
    const violations = [...(await raw.findDamage())]
    let effects = 0
    for (const { app } of desks.flat()) {
      const own = lines.filter((line) => line.app === app)
      effects += own.filter(({ type }) => type === 'effect').length
      violations.push(...audit({ rows: await raw.rows(app), lines: own }).map((violation) => `${app}: ${violation}`))
    }
    return { violations, effects }
  } finally {
    await raw.close()
  }
}

/** How many of the kills are for a lane. */
function share(kills: number, lane: number): number {
  return Math.floor((kills + lane) / LANES.length)
}

async function killInLane(
  world: CrashWorld,
  lane: string,
  options: RandomKillOptions,
): Promise<readonly DeskOptions[]> {
  const { store, name, kills, seed, onKill } = options
  const random = new Random(seed, lane)
  const raw = await openRawStore(store)
  const desksAt = (kill: number): DeskOptions[] =>
    shapes.map((shape) => ({
      app: `${name}-${lane}-${shape}`,
      shape,
      store,
      hasHistory: lane === 'left', // so that one lane opens its sessions from checkpoints
      aheadMs: kill * LATER_MS,
    }))
  for (let kill = 0; kill < kills; kill++) {
    const isByParent = random.chance(0.25)
    const death = isByParent ? 'never' : `step:${random.between(1, MOST_STEPS)}`
    const killAfterMs = isByParent ? random.between(EARLIEST_MS, LATEST_MS) : undefined
    const ending = await world.run({ type: 'work', desks: desksAt(kill), death }, killAfterMs)
    onKill?.(ending)
    for (const { app } of desksAt(kill)) await raw.endLeases(app)
  }
  await raw.close()
  const desks = desksAt(kills)
  await world.run({ type: 'finish', desks, death: 'never' })
  return desks
}
