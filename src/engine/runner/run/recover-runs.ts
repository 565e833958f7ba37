import { messageOf } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { RecoverOptions } from '../runner-options.ts'
import { continueSession } from '../work/continue-session.ts'
import { keyOf, type SessionOfApp } from '../work/work-item.ts'
import { type Canceller, type Run, RunHandle } from './run-handle.ts'
import type { RunStarter } from './run-starter.ts'

interface Recovery extends RecoverOptions {
  /** Finds the requests that have expired. */
  findLate(): Promise<readonly PendingRequest[]>
  /** Cancels recovered runs. */
  readonly canceller: Canceller
}

/** Continues the interrupted invocations of an app, and those whose requests have expired. */
export async function recoverRuns(starter: RunStarter, recovery: Recovery): Promise<Run[]> {
  const { running, services, appName } = starter.factory
  const interrupted = await services.sessionService.interrupted({ appName })
  const found = [...interrupted, ...(await recovery.findLate())]
  const sessions = new Map(found.map((one) => [keyOf(one), one]))
  const { where = () => true } = recovery
  // a run of this runner renews its lease, also if that has ended while the process was suspended
  const wanted = [...sessions.values()].filter(
    ({ userId, sessionId }) => running.of({ userId, sessionId }).length === 0 && where({ userId, sessionId }),
  )
  const runs = await Promise.all(wanted.map((session) => recoverOne(starter, session, recovery)))
  return runs.filter((run) => run !== undefined)
}

async function recoverOne(starter: RunStarter, session: SessionOfApp, recovery: Recovery): Promise<Run | undefined> {
  try {
    const continued = await continueSession(starter, session, recovery)
    if (continued.type !== 'run') return undefined
    const { run, request } = continued
    const detached = { ...request, invocationId: run.invocationId, runConfig: { detach: true } }
    return new RunHandle(detached, { start: async () => run }, recovery.canceller)
  } catch (error) {
    const { logger } = starter.factory.services
    logger.error(`Session "${session.sessionId}" could not be recovered: ${messageOf(error)}`, error)
    return undefined
  }
}
