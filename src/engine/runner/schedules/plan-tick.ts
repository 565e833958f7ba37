// What a schedule does next, as functions of its stored state, its ticks and the time. All times are milliseconds since the epoch.

import type { ScheduleState, StoredSchedule } from '../../../services/schedule/service.ts'
import { latestTicks, type NextTick } from './ticks.ts'

/** How long a worker has to start the run of a tick. Then another worker may try. */
export const CLAIM_MS = 60_000
/** A tick is missed if no worker has claimed it this long after its time. */
const MISSED_MS = 60_000
/** The most missed ticks that start runs. */
const MAX_MISSED = 100
/** How long a schedule that has ended stays in the list. */
const KEPT_MS = 7 * 24 * 3_600_000
/** How long a tick waits for a session in use, at most, until it tries again. */
const MAX_WAIT_MS = 30_000
/** How long a tick waits after a failure, at most. */
const MAX_RETRY_MS = 300_000
/** After so many failures, a tick is given up. */
const MAX_FAILURES = 8

/** A tick that a worker claims. */
type Claimed = StoredSchedule & { readonly state: ScheduleState & { readonly type: 'starting' } }

/** What a worker does with a schedule that is due. */
export type TickPlan =
  /** Stores the claim, then starts the run of its tick. */
  | { readonly type: 'claim'; readonly schedule: Claimed }
  /** Stores the schedule: its ticks were missed. */
  | { readonly type: 'skip'; readonly schedule: StoredSchedule }
  /** Deletes the schedule, which ended long ago. */
  | { readonly type: 'delete' }

/** Plans the next step of a schedule that is due. */
export function planTick(schedule: StoredSchedule, next: NextTick, now: number): TickPlan {
  const { state, missed } = schedule
  if (state.type === 'ended') return { type: 'delete' }
  if (state.type !== 'waiting') return claim(schedule, state, now)
  const [tick = state.tick] = latestTicks(next, state.tick, now, missed === 'all' ? MAX_MISSED : 1)
  const isMissed = now - tick > MISSED_MS
  if (isMissed && missed === 'skip') return { type: 'skip', schedule: waitFor(schedule, next(now), 'missed', now) }
  return claim(schedule, { tick, attempt: 0, failures: 0 }, now)
}

function claim(
  schedule: StoredSchedule,
  { tick, attempt, failures }: { readonly tick: number; readonly attempt: number; readonly failures: number },
  now: number,
): TickPlan {
  const state = { type: 'starting', tick, attempt: attempt + 1, failures } as const
  return { type: 'claim', schedule: { ...schedule, state, wakeAt: now + CLAIM_MS } }
}

/** The schedule once the message of the claimed tick is recorded in this session. */
export function afterStart(schedule: Claimed, next: NextTick, sessionId: string, now: number): StoredSchedule {
  const { tick } = schedule.state
  return waitFor({ ...schedule, last: { tick, sessionId } }, next(tick), 'completed', now)
}

/** The schedule while the session of the claimed tick is in use or paused. */
export function afterWait(schedule: Claimed, reason: string, now: number): StoredSchedule {
  const { tick, attempt, failures } = schedule.state
  const wakeAt = now + Math.min(1_000 * 2 ** Math.min(attempt - 1, 10), MAX_WAIT_MS)
  return { ...schedule, state: { type: 'delayed', tick, attempt, failures, reason }, wakeAt }
}

/** The schedule after the run of the claimed tick could not start. After some failures, the tick is given up. */
export function afterFailure(schedule: Claimed, next: NextTick, reason: string, now: number): StoredSchedule {
  const { tick, attempt } = schedule.state
  const failures = schedule.state.failures + 1
  if (failures >= MAX_FAILURES) return waitFor(schedule, next(tick), 'failed', now)
  const wakeAt = now + Math.min(1_000 * 2 ** (failures - 1), MAX_RETRY_MS)
  return { ...schedule, state: { type: 'delayed', tick, attempt, failures, reason }, wakeAt }
}

/** The schedule after its session was deleted. */
export function afterDeletion(schedule: StoredSchedule, now: number): StoredSchedule {
  return { ...schedule, state: { type: 'ended', reason: 'session-deleted' }, wakeAt: now + KEPT_MS }
}

/** Waits for a tick; without one the schedule ends for this reason. */
function waitFor(
  schedule: StoredSchedule,
  tick: number | undefined,
  reason: 'completed' | 'missed' | 'failed',
  now: number,
): StoredSchedule {
  if (tick !== undefined) return { ...schedule, state: { type: 'waiting', tick }, wakeAt: tick }
  return { ...schedule, state: { type: 'ended', reason }, wakeAt: now + KEPT_MS }
}
