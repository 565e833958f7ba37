// Starts the run of a tick: the tick is claimed in the store of schedules, then the first commit of the run has the id of the
// tick. A process may die anywhere between: the next one claims the tick again, and finds the id in the log, or not.

import { messageOf, ToolwrightError, type ToolwrightErrorCode } from '../../../core/error/error.ts'
import type { ScheduleService, StoredSchedule } from '../../../services/schedule/service.ts'
import type { RunContext } from '../../context/run-context.ts'
import { ActiveRun } from '../run/active-run.ts'
import { TickLost, TickRecorded } from '../run/recorded-tick.ts'
import type { StartedRun } from '../run/run-handle.ts'
import type { RunRequest, Unattended } from '../run/run-request.ts'
import type { RunStarter } from '../run/run-starter.ts'
import { afterDeletion, afterFailure, afterStart, afterWait, CLAIM_MS, planTick, type TickPlan } from './plan-tick.ts'
import { type NextTick, ticksOf } from './ticks.ts'

/** What ticks are started with. */
export interface TickParts {
  /** Starts runs. */
  readonly starter: RunStarter
  /** Stores schedules. */
  readonly schedules: ScheduleService
  /** Returns the `runContext` for the run of a session. */
  readonly runContext?:
    | ((session: { userId: string; sessionId: string }) => RunContext | Promise<RunContext>)
    | undefined
  /** How the session is claimed. */
  readonly unattended?: Unattended | undefined
}

type Claim = (TickPlan & { type: 'claim' })['schedule']

/** The session of the next run of a schedule. */
export function sessionOfTick({ uid, sessionId, state }: StoredSchedule): string {
  return sessionId ?? `schedule-${uid}-${state.type === 'ended' ? 'ended' : state.tick}`
}

/** Claims the tick of a schedule that is due and starts its run. Undefined if nothing started: the stored schedule says why. */
export async function startTick(schedule: StoredSchedule, parts: TickParts): Promise<StartedRun | undefined> {
  const { ports } = parts.starter.factory.services
  const next = await ticksOf(schedule.timing)
  const plan = planTick(schedule, next, ports.now())
  if (plan.type === 'delete') {
    await parts.schedules.deleteSchedule(schedule, schedule.revision)
    return undefined
  }
  const claim = { ...plan.schedule, revision: ports.newId() }
  const claimedAt = ports.monotonicNow()
  const isOurs = await parts.schedules.saveSchedule(claim, schedule.revision)
  if (!isOurs || claim.state.type !== 'starting') return undefined
  return await startClaimed({ ...claim, state: claim.state }, next, parts, claimedAt)
}

async function startClaimed(
  claim: Claim,
  next: NextTick,
  parts: TickParts,
  claimedAt: number,
): Promise<StartedRun | undefined> {
  const { ports } = parts.starter.factory.services
  const request = await requestOf(claim, parts).catch((error: unknown) => ({ error }))
  if ('error' in request) return await delay(claim, next, parts, request.error)
  try {
    // suspended for longer than the claim: another worker may have started the run
    if (ports.monotonicNow() - claimedAt > CLAIM_MS / 2) return undefined
    // deleted meanwhile, such as with its user: the run would create a session for it
    if ((await parts.schedules.getSchedule(claim))?.revision !== claim.revision) return undefined
    const run = await parts.starter.start(request)
    parts.starter.factory.activity.continued++
    if (run instanceof ActiveRun) await run.recorded()
    if (run.invocationId !== request.invocationId) throw run.failure?.reason // an overdue invocation came first, and failed
    await save(claim, afterStart(claim, next, request.sessionId, ports.now()), parts)
    return run
  } catch (error) {
    if (error instanceof TickLost) return undefined
    if (!(error instanceof TickRecorded)) return await delay(claim, next, parts, error)
    await save(claim, afterStart(claim, next, request.sessionId, ports.now()), parts)
    return undefined
  }
}

async function requestOf(claim: Claim, { starter, runContext, unattended }: TickParts): Promise<RunRequest> {
  const { appName, id, revision, userId, uid, message, state } = claim
  const sessionId = sessionOfTick(claim)
  const mustExist = claim.sessionId !== undefined
  return {
    userId,
    sessionId,
    invocationId: `e-${starter.factory.services.ports.newId()}`,
    message,
    runConfig: {},
    runContext: await runContext?.({ userId, sessionId }),
    signal: undefined,
    isNew: false,
    unattended,
    tick: {
      claim: { appName, id, revision },
      eventId: `tick-${uid}-${state.tick}`,
      isRetried: state.attempt > 1,
      mustExist,
    },
  }
}

/** Errors after which a tick waits, for any time: its session is in use or paused, or the fleet is full. */
const WAITS: readonly ToolwrightErrorCode[] = ['SESSION_BUSY', 'PAUSED', 'INTERRUPTED', 'RATE_LIMITED']

/** Stores why the run of the claimed tick did not start, and when to try again. */
async function delay(claim: Claim, next: NextTick, parts: TickParts, error: unknown): Promise<undefined> {
  const { services, isClosed } = parts.starter.factory
  const now = services.ports.now()
  const code = error instanceof ToolwrightError ? error.code : undefined
  const reason = messageOf(error)
  if (code === 'NOT_FOUND' && (await isSessionGone(claim, parts))) {
    await save(claim, afterDeletion(claim, now), parts)
    services.logger.warn(`Schedule "${claim.id}" has ended: its session "${claim.sessionId}" was deleted.`)
    return undefined
  }
  const isWaiting = isClosed || (code !== undefined && WAITS.includes(code))
  const delayed = isWaiting ? afterWait(claim, reason, now) : afterFailure(claim, next, reason, now)
  await save(claim, delayed, parts)
  const isFirst = claim.state.failures === 0
  const isGivenUp = delayed.state.type !== 'delayed'
  if (!isWaiting && (isFirst || isGivenUp)) {
    const what = isGivenUp ? 'gives up a tick' : 'could not start the run of a tick, and tries again'
    services.logger.error(`Schedule "${claim.id}" ${what}: ${reason}`, error)
  }
  return undefined
}

async function isSessionGone(claim: Claim, { starter }: TickParts): Promise<boolean> {
  const { appName, userId, sessionId } = claim
  if (sessionId === undefined) return false
  const config = { numRecentEvents: 0 }
  return !(await starter.factory.services.sessionService.getSession({ appName, userId, sessionId, config }))
}

/** Stores what became of a claim, unless another worker has taken it over, or the schedule was changed. */
async function save(claim: Claim, schedule: StoredSchedule, { schedules, starter }: TickParts): Promise<void> {
  const { ports, logger } = starter.factory.services
  try {
    await schedules.saveSchedule({ ...schedule, revision: ports.newId() }, claim.revision)
  } catch (error) {
    // the claim ends: a worker claims the tick again, and finds its message in the log
    logger.warn(`Schedule "${claim.id}" could not be stored: ${messageOf(error)}`, error)
  }
}
