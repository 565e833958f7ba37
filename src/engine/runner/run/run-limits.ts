// How many runs there may be at the same time, over all processes with the same store.
import { ToolwrightError } from '../../../core/error/error.ts'
import type { PlaceInLine } from '../../../services/limit/service.ts'
import type { SlotUser } from '../../../services/limit/slot-holder.ts'
import type { HeldSlot } from '../../../services/limit/slot-line.ts'
import type { WaitingLimits } from '../../../services/session/waiting-limits.ts'
import type { RunServices } from '../run-services.ts'

/** Limits over all processes whose runners have the same store. */
export interface RunnerLimits {
  /** How many runs may be under way. A paused run is not. Default: any number. */
  readonly runs?: RunLimits | undefined
  /** How many messages of `runner.submit()` may wait for a worker. Default: any number. */
  readonly waiting?: WaitingLimits | undefined
}

/** How many runs may be under way at the same time. */
export interface RunLimits {
  /** Runs of all users of the app. Default: any number. */
  readonly perApp?: number | undefined
  /** Runs of one user. Default: any number. */
  readonly perUser?: number | undefined
}

/** When a caller that is refused may try again, in milliseconds. Workers do, too. */
export const RETRY_AFTER_MS = 1_000

/** A user that is refused keeps a place in line until then, in milliseconds: the next attempt of the user finds it. */
const PLACE: PlaceInLine = { ticket: 'run', waitMs: 3 * RETRY_AFTER_MS }

/** No run may start now. */
export class RunRefused extends ToolwrightError {
  /** Whose runs are too many. */
  readonly scope: 'app' | 'user'

  constructor(scope: 'app' | 'user', max: number) {
    const [whose, option] = scope === 'app' ? ['The app', 'perApp'] : ['The user', 'perUser']
    const problem = `${whose} has as many runs at the same time as it may have: ${max} (limits.runs.${option})`
    super('RATE_LIMITED', `${problem}. Try again in a second.`, { retryAfterMs: RETRY_AFTER_MS })
    this.scope = scope
  }
}

/** Takes the slots of a run. Throws `RunRefused` if there are none. */
export async function takeRunSlots({ slots, limits }: RunServices, user: SlotUser): Promise<HeldSlot> {
  const { perUser, perApp } = limits?.runs ?? {}
  const taken: HeldSlot[] = []
  const release = async (): Promise<void> => {
    for (const slot of taken.splice(0)) await slot.release()
  }
  const take = async (scope: 'app' | 'user', name: string, max: number): Promise<void> => {
    const answer = await slots.take({ name, max }, user, scope === 'app' ? PLACE : undefined)
    if (answer.type === 'full') throw new RunRefused(scope, max)
    taken.push(answer.slot)
  }
  try {
    if (perUser !== undefined) await take('user', `runs of ${user.userId}`, perUser)
    if (perApp !== undefined) await take('app', 'runs', perApp)
    return { release }
  } catch (error) {
    await release()
    throw error
  }
}
