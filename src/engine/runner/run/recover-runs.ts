import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { FailedRecovery, RecoverOptions } from '../runner-options.ts'
import { continueSession } from '../work/continue-session.ts'
import { keyOf, type SessionOfApp } from '../work/work-item.ts'
import { describeFailure, failedListing, failedSession, recoveredRuns } from './recovered-runs.ts'
import { type Canceller, type RecoveredRuns, type Run, RunHandle } from './run-handle.ts'
import type { RunStarter } from './run-starter.ts'

interface Recovery extends RecoverOptions {
  /** Finds the requests that have expired. */
  findLate(): Promise<readonly PendingRequest[]>
  /** Cancels recovered runs. */
  readonly canceller: Canceller
}

/**
 * Continues the interrupted invocations of an app, and those whose requests have expired. What fails is reported, and the rest goes on.
 * Throws if the interrupted sessions cannot be listed: nothing is continued then.
 */
export async function recoverRuns(starter: RunStarter, recovery: Recovery): Promise<RecoveredRuns> {
  const { running, services, appName } = starter.factory
  const failed: FailedRecovery[] = []
  const report = (one: FailedRecovery, error: unknown): void => {
    failed.push(one)
    services.logger.error(describeFailure(one, appName), error)
  }
  const interrupted = await services.sessionService.interrupted({ appName })
  const late = await recovery.findLate().catch((error: unknown) => {
    report(failedListing(error), error)
    return []
  })
  const sessions = new Map([...interrupted, ...late].map((one) => [keyOf(one), one]))
  const { where = () => true } = recovery
  // a run of this runner renews its lease, also if that has ended while the process was suspended
  const wanted = [...sessions.values()].filter(
    ({ userId, sessionId }) => running.of({ userId, sessionId }).length === 0 && where({ userId, sessionId }),
  )
  const recoverOne = (session: SessionOfApp): Promise<Run | undefined> =>
    continueOne(starter, session, recovery).catch((error: unknown) => {
      report(failedSession(session, error), error)
      return undefined
    })
  const runs = await Promise.all(wanted.map(recoverOne))
  return recoveredRuns(
    runs.filter((run) => run !== undefined),
    failed,
  )
}

async function continueOne(starter: RunStarter, session: SessionOfApp, recovery: Recovery): Promise<Run | undefined> {
  const continued = await continueSession(starter, session, recovery)
  if (continued.type !== 'run') return undefined
  const { run, request } = continued
  const detached = { ...request, invocationId: run.invocationId, runConfig: { detach: true } }
  return new RunHandle(detached, { start: async () => run }, recovery.canceller)
}
