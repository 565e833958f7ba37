// Kills processes, lets a new one complete what they have left, and reads the result.
import type { Evidence } from './audit/evidence.ts'
import type { CrashWorld, Ending } from './crash-world.ts'
import { openRawStore } from './rows/open-raw-store.ts'
import type { RawStore } from './rows/raw-rows.ts'
import type { DeskOptions } from './victim/desk.ts'

/** A process to kill, with a session of its own. */
export interface Victim {
  readonly desk: DeskOptions
  /** When it kills itself: `c7:2`. */
  readonly death: string
}

/** What became of a victim. */
export interface Killed {
  /** How the victim ended. */
  readonly ending: Ending | Failure
  /** How the process ended that completed the session. */
  readonly recovery: Ending | Failure
  /** What the database finds wrong with itself. */
  readonly damage: readonly string[]
  readonly evidence: Evidence
}

/** A process failed. */
interface Failure {
  readonly type: 'failed'
  readonly error: string
}

/** The time of a background call of a dead process is over then. */
const LATER_MS = 120_000

/** Kills victims. When all are dead, one new process completes their sessions. */
export async function killAndRecover(world: CrashWorld, victims: readonly Victim[]): Promise<readonly Killed[]> {
  const endings = await Promise.all(
    victims.map(({ desk, death }) => settled(world.run({ type: 'converse', desks: [desk], death }))),
  )
  const stores = new Map<string, RawStore>()
  for (const { desk } of victims) if (!stores.has(desk.store)) stores.set(desk.store, await openRawStore(desk.store))
  const rawOf = ({ store }: DeskOptions): RawStore => stores.get(store) as RawStore // opened above
  try {
    for (const { desk } of victims) await rawOf(desk).endLeases(desk.app)
    const recoveries = await recover(
      world,
      victims.map(({ desk }) => ({ ...desk, aheadMs: LATER_MS })),
    )
    const lines = world.ledger.lines()
    return await Promise.all(
      victims.map(async ({ desk }, at) => ({
        ending: endings[at] as Ending, // of each victim
        recovery: recoveries[at] as Ending,
        damage: await rawOf(desk).findDamage(),
        evidence: { rows: await rawOf(desk).rows(desk.app), lines: lines.filter(({ app }) => app === desk.app) },
      })),
    )
  } finally {
    for (const raw of stores.values()) await raw.close()
  }
}

/** Completes all sessions in one process. If that fails, each in a process of its own, which shows the session at fault. */
async function recover(world: CrashWorld, desks: readonly DeskOptions[]): Promise<readonly (Ending | Failure)[]> {
  const finish = (some: readonly DeskOptions[]): Promise<Ending | Failure> =>
    settled(world.run({ type: 'finish', desks: some, death: 'never' }))
  const together = await finish(desks)
  if (together.type !== 'failed') return desks.map(() => together)
  return await Promise.all(desks.map((desk) => finish([desk])))
}

async function settled(running: Promise<Ending>): Promise<Ending | Failure> {
  return await running.catch((error) => ({ type: 'failed', error: String(error) }) as const)
}
