// How many runs there may be at the same time, over all processes with the same store.
import { ToolwrightError } from '../../../core/error/error.ts'
import type { PlaceInLine } from '../../../services/limit/service.ts'
import type { SlotUser } from '../../../services/limit/slot-holder.ts'
import type { HeldSlot } from '../../../services/limit/slot-line.ts'
import type { RunServices } from '../run-services.ts'
import type { StartedRun } from './run-handle.ts'
import type { RunRequest } from './run-request.ts'

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

/** Whose run starts, and where. */
interface Starting {
  readonly appName: string
  readonly request: RunRequest
  readonly services: RunServices
}

/** Takes the slots of a run. */
export type TakeSlots = () => Promise<HeldSlot>

/**
 * Starts a run that releases the slots of its request. Answers may be for a run that is under way: `start` gets a function that takes their
 * slots, once it is known that no other run has their session. Throws `RunRefused` if there are none.
 */
export async function withRunSlots(
  { appName, request, services }: Starting,
  start: (request: RunRequest, takeSlots?: TakeSlots) => Promise<StartedRun>,
): Promise<StartedRun> {
  let slots: HeldSlot | undefined
  const takeSlots = async (): Promise<HeldSlot> => {
    slots = await takeRunSlots(services, { appName, userId: request.userId })
    return slots
  }
  try {
    const isAnswer = request.message !== undefined && !request.invocationId
    return isAnswer ? await start(request, takeSlots) : await start({ ...request, slots: await takeSlots() })
  } catch (error) {
    await slots?.release()
    throw error
  }
}

async function takeRunSlots({ slots, limits }: RunServices, user: SlotUser): Promise<HeldSlot> {
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
