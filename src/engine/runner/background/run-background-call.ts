// Runs the body of a background call for an engine, without the lease of its session. The log says what to run, and the inbox takes what
// comes of it.

import { ToolwrightError } from '../../../core/error/error.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import { runForEngine, withoutAgent } from '../../dispatch/run-for-engine.ts'
import { latestEndOfAttempt } from '../../dispatch/run-in-background.ts'
import { Cancelled } from '../run/cancelled.ts'
import type { RunFactory } from '../run/run-factory.ts'
import type { RecoverOptions } from '../runner-options.ts'
import type { SessionCall } from '../work/session-engine.ts'
import { wakeWorker } from '../work/wake-worker.ts'
import type { BackgroundTasks } from './background-tasks.ts'
import { type Attempt, beginAttempt } from './begin-attempt.ts'
import { LatestProgress } from './body-recorder.ts'
import { type DispatchedBody, openBody } from './open-body.ts'
import { postResult } from './post-result.ts'
import { UnheldLog } from './unheld-log.ts'
import { AttemptWatch } from './watch-attempt.ts'

/** What is left of a background call once a worker has run its body. */
export type BodyResult =
  /** Nothing: its result is posted, or the call was ended. */
  | { readonly type: 'done' }
  /** The body, for another worker: this one stops. */
  | { readonly type: 'interrupted' }

/** How the body of a background call is run. */
export interface BodyOptions extends Pick<RecoverOptions, 'runContext'> {
  /** Hands the call over to another worker, if its body may run again. Otherwise the body runs to its end. */
  readonly signal: AbortSignal
  /** How many processes in a row may die with the call. */
  readonly maxCrashes: number
  /** Whether the attempt before has handed the call over: it counts as no crash. */
  readonly isHandedOver: boolean
}

/** The parts of a runner. */
interface Parts {
  readonly factory: RunFactory
  readonly background: BackgroundTasks
}

const DONE: BodyResult = { type: 'done' }
const INTERRUPTED: BodyResult = { type: 'interrupted' }

/** Runs the body of a background call, unless it has a result. Throws if the store fails, or another worker has just begun. */
export async function runBackgroundCall(
  { factory, background }: Parts,
  { session: key, callId }: SessionCall,
  { signal, maxCrashes, isHandedOver, runContext: contextOf }: BodyOptions,
): Promise<BodyResult> {
  const { services } = factory
  factory.throwIfClosed()
  await background.endOfCall(key, callId) // the engine has lost the connection to an attempt that this process still runs
  const log = await UnheldLog.open(key, factory)
  const found = log?.find(callId)
  if (!log || !found) return DONE
  const progress = new LatestProgress()
  const runContext = await contextOf?.({ userId: key.userId, sessionId: key.sessionId })
  const body = await openBody(log, found, { factory, runContext, progress })
  const before = found.call.background?.engine?.attempt
  const attempt: Attempt = {
    id: services.ports.newId(),
    callId,
    ...(before && { after: before.id }),
    crashes: before && !isHandedOver ? before.crashes + 1 : 0,
    until: latestEndOfAttempt(services, body.tool),
  }
  switch (await beginAttempt(log, attempt, { factory, signal })) {
    case 'interrupted':
      return INTERRUPTED
    case 'outrun':
      throw new ToolwrightError('SESSION_BUSY', `Another worker has just begun background call "${callId}". Try again.`)
    case 'begun': {
      const watch = new AttemptWatch(log, attempt, { services, stop: body.stop, progress })
      const end = background.add(key, callId, body.stop)
      try {
        if (!(await runAttempt(body, { key, attempt, services, maxCrashes, signal })))
          return isForAnother(body, factory) ? INTERRUPTED : DONE
      } finally {
        watch.close()
        end()
      }
    }
  }
  await wakeWorker(services, key)
  return DONE
}

interface Running {
  readonly key: SessionKey
  readonly attempt: Attempt
  readonly services: RunFactory['services']
  readonly maxCrashes: number
  readonly signal: AbortSignal
}

/** Runs a body, and posts its result. False: it was stopped before it had one. */
async function runAttempt(
  { batch, call, args, stop, tool }: DispatchedBody,
  { key, attempt, services, maxCrashes, signal }: Running,
): Promise<boolean> {
  const mayRunAgain = tool?.effect === 'none' || tool?.effect === 'idempotent'
  const handOver = (): void => {
    if (mayRunAgain) stop.stop(HANDED_OVER)
  }
  signal.addEventListener('abort', handOver)
  try {
    if (signal.aborted) handOver()
    if (stop.stopped) return false
    const { crashes } = attempt
    const outcome = batch ? await runForEngine(batch, call, { args, crashes, maxCrashes }) : withoutAgent(call)
    await postResult(services, key, attempt, outcome)
    return true
  } catch (error) {
    if (stop.stopped) return false
    throw error
  } finally {
    signal.removeEventListener('abort', handOver)
  }
}

const HANDED_OVER = new Cancelled('The body runs again in another process.')

/** Was the body stopped because its process ends? Otherwise the call was ended, or another worker runs it. */
function isForAnother({ stop }: DispatchedBody, factory: RunFactory): boolean {
  return stop.stopped?.reason === HANDED_OVER || factory.isClosed
}
