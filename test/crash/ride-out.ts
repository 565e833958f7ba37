// Many sessions at work in one process while something happens to their store, and the audit of all of them.
import { setTimeout as delay } from 'node:timers/promises'
import { audit } from './audit/audit.ts'
import type { CrashStore } from './crash-store.ts'
import type { CrashWorld } from './crash-world.ts'
import type { Shape } from './kill-points.ts'
import type { LedgerLine } from './ledger/ledger-line.ts'
import { openRawStore } from './rows/open-raw-store.ts'
import type { DeskOptions } from './victim/desk.ts'

/** An error that a caller got. */
export type Failure = Extract<LedgerLine, { type: 'failed' }>

/** What a trouble sees of the sessions. */
export interface Watch {
  /** The errors of callers so far. */
  failures(): readonly Failure[]
  /** Waits until this is true. Throws when the sessions have ended before. */
  until(isTrue: () => boolean): Promise<void>
  /** How often tools took effect. */
  effects(): number
}

/** What to ride out. */
export interface RideOutOptions {
  readonly store: CrashStore
  /** How many conversations each session has. */
  readonly conversations: number
  /** How long all of it may take, in milliseconds. */
  readonly maxMs: number
  /** Happens to the store when all sessions are at work. */
  trouble(watch: Watch): Promise<void>
}

/** What came of it. */
export interface RideOutReport {
  /** One line for each violation. */
  readonly violations: readonly string[]
  /** The errors of callers. */
  readonly failures: readonly Failure[]
  /** How often tools took effect. */
  readonly effects: number
}

/** How many runs there are at the same time. */
export const SESSIONS = 50

const SHAPES: readonly Shape[] = ['single', 'parallel', 'gated', 'nested']

/** Has conversations, lets the trouble happen, finishes in a new process, and audits every session. */
export async function rideOut(
  world: CrashWorld,
  { store, conversations, maxMs, trouble }: RideOutOptions,
): Promise<RideOutReport> {
  const place = store.open(world, 'trouble')
  const desks = Array.from({ length: SESSIONS }, (_, at): DeskOptions => {
    const shape = SHAPES[at % SHAPES.length] as Shape
    return { app: `desk-${at}-${shape}`, shape, store: place, isLeftAlone: true }
  })
  let hasEnded = false
  const working = world.run({ type: 'persist', desks, death: 'never', conversations, maxMs }).finally(() => {
    hasEnded = true
  })
  const watch = watchOf(world, () => hasEnded)
  const happened = watch.until(() => watch.effects() >= SESSIONS / 2).then(() => trouble(watch))
  await Promise.allSettled([working, happened]) // no process is left behind when one of them fails
  await working
  await happened
  const failures = watch.failures()
  const raw = await openRawStore(place)
  try {
    for (const { app } of desks) await raw.endLeases(app)
    await world.run({ type: 'persist', desks, death: 'never', conversations: 0, maxMs })
    const lines = world.ledger.lines()
    const violations: string[] = []
    for (const { app } of desks) {
      const own = lines.filter((line) => line.app === app)
      violations.push(...audit({ rows: await raw.rows(app), lines: own }).map((violation) => `${app}: ${violation}`))
    }
    return { violations, failures, effects: watch.effects() }
  } finally {
    await raw.close()
  }
}

function watchOf(world: CrashWorld, hasEnded: () => boolean): Watch {
  const linesOf = <T extends LedgerLine['type']>(type: T): Extract<LedgerLine, { type: T }>[] =>
    world.ledger.lines().filter((line): line is Extract<LedgerLine, { type: T }> => line.type === type)
  return {
    failures: () => linesOf('failed'),
    effects: () => world.ledger.lines().filter(({ type }) => type === 'effect').length,
    async until(isTrue) {
      while (!isTrue()) {
        if (hasEnded()) throw new Error('The sessions have ended before the trouble was over.')
        await delay(20)
      }
    },
  }
}
