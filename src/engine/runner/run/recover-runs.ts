import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { RecoverOptions } from '../runner-options.ts'
import { type Canceller, type Run, RunHandle } from './run-handle.ts'
import type { RunStarter } from './run-starter.ts'

interface Recovery extends RecoverOptions {
  /** Finds the requests that have expired. */
  findLate(): Promise<readonly PendingRequest[]>
  /** Cancels recovered runs. */
  readonly canceller: Canceller
}

/** A session of the app. */
interface SessionOfApp {
  readonly userId: string
  readonly sessionId: string
}

/** Continues the interrupted invocations of an app, and those whose requests have expired. */
export async function recoverRuns(starter: RunStarter, recovery: Recovery): Promise<Run[]> {
  const { running, services, appName } = starter.factory
  const interrupted = await services.sessionService.interrupted({ appName })
  const found = [...interrupted, ...(await recovery.findLate())]
  const sessions = new Map(found.map((one) => [JSON.stringify([one.userId, one.sessionId]), one]))
  const { where = () => true } = recovery
  // a run of this runner renews its lease, also if that has ended while the process was suspended
  const wanted = [...sessions.values()].filter(
    ({ userId, sessionId }) => running.of({ userId, sessionId }).length === 0 && where({ userId, sessionId }),
  )
  const runs = await Promise.all(wanted.map((session) => recoverOne(starter, session, recovery)))
  return runs.filter((run) => run !== undefined)
}

async function recoverOne(
  starter: RunStarter,
  { userId, sessionId }: SessionOfApp,
  recovery: Recovery,
): Promise<Run | undefined> {
  const request = { userId, sessionId, invocationId: '', runConfig: {}, signal: undefined, isNew: false }
  try {
    const runContext = await recovery.runContext?.({ userId, sessionId })
    const active = await starter.start({ ...request, runContext })
    const { invocationId } = active
    const detached = { ...request, invocationId, runContext, runConfig: { detach: true } }
    return new RunHandle(detached, { start: async () => active }, recovery.canceller)
  } catch (error) {
    if (error instanceof ToolwrightError && (error.code === 'SESSION_BUSY' || error.code === 'NOT_FOUND')) {
      return undefined // another process holds the session, or the invocation has ended
    }
    const { logger } = starter.factory.services
    logger.error(`Session "${sessionId}" could not be recovered: ${messageOf(error)}`, error)
    return undefined
  }
}
