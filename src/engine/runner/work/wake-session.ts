// Continues a session for a scheduler, which has one worker at a time continue it, and another one if that dies.

import type { StartedRun } from '../run/run-handle.ts'
import { RETRY_AFTER_MS } from '../run/run-limits.ts'
import type { Unattended } from '../run/run-request.ts'
import type { RunStarter } from '../run/run-starter.ts'
import { interrupted } from '../run/stop-runs.ts'
import type { RecoverOptions } from '../runner-options.ts'
import { startTick } from '../schedules/start-tick.ts'
import { type Continued, continueSession } from './continue-session.ts'
import type { SessionOfApp } from './work-item.ts'

/** What is left of a session once a worker has continued it. */
export type WakeResult =
  /** Nothing, until a caller sends something. */
  | { readonly type: 'idle' }
  /** A request, which expires then, in milliseconds since the epoch. */
  | { readonly type: 'waits'; readonly until: number }
  /** Work, for later: another process holds the session. */
  | { readonly type: 'busy' }
  /** Work, for later: the user or the app has as many runs as it may have. */
  | { readonly type: 'limited'; readonly retryAfterMs: number }
  /** Work, for another worker: this one stops. */
  | { readonly type: 'interrupted' }

/** How a session is woken. */
export interface WakeOptions extends Pick<RecoverOptions, 'runContext'>, Unattended {
  /** Leaves the run interrupted, for another worker. */
  readonly signal: AbortSignal
  /** The schedule whose tick the session is woken for. */
  readonly scheduleId?: string | undefined
}

/** What a worker does next with a session. */
type Step = Exclude<Continued, { type: 'run' }> | { readonly type: 'run'; readonly run: StartedRun }

/** Continues a session until nothing is left to do in it. Throws if a run fails. */
export async function wakeSession(
  starter: RunStarter,
  session: SessionOfApp,
  options: WakeOptions,
): Promise<WakeResult> {
  const { signal, scheduleId, runContext, takeOver, maxCrashes } = options
  const how = { runContext, needsWork: true, unattended: { takeOver, maxCrashes } }
  let next: Step | undefined
  if (scheduleId !== undefined) next = await startNamedTick(starter, scheduleId, options)
  for (;;) {
    if (signal.aborted) return { type: 'interrupted' }
    next ??= await continueSession(starter, session, how)
    if (next.type === 'busy') return next
    if (next.type === 'limited') return { type: 'limited', retryAfterMs: RETRY_AFTER_MS }
    if (next.type === 'nothing') return await whatIsLeft(starter, session)
    if (!(await hasEnded(next.run, signal))) return { type: 'interrupted' }
    next = undefined
  }
}

/** Starts the tick of a schedule, if it is due. */
async function startNamedTick(
  starter: RunStarter,
  id: string,
  { runContext, takeOver, maxCrashes }: WakeOptions,
): Promise<Step | undefined> {
  const { appName, services } = starter.factory
  const schedules = services.scheduleService
  const schedule = await schedules.getSchedule({ appName, id })
  if (!schedule || schedule.wakeAt > services.ports.now()) return undefined
  const run = await startTick(schedule, {
    starter,
    schedules,
    runContext,
    unattended: { takeOver, maxCrashes },
  })
  return run && { type: 'run', run }
}

/** Waits for the end of a run; false if the signal ended it. Throws if it failed. */
async function hasEnded(run: StartedRun, signal: AbortSignal): Promise<boolean> {
  run.events.close() // no consumer comes
  const stop = (): void => run.stop(interrupted())
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  await run.finished
  signal.removeEventListener('abort', stop)
  if (run.failure && signal.aborted) return false
  if (run.failure) throw run.failure.reason
  return true
}

async function whatIsLeft(starter: RunStarter, { userId, sessionId }: SessionOfApp): Promise<WakeResult> {
  const { appName, services } = starter.factory
  const pending = await services.sessionService.pending({ appName, userId, sessionId })
  const until = Math.min(...pending.map(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt * 1_000))
  return Number.isFinite(until) ? { type: 'waits', until } : { type: 'idle' }
}
