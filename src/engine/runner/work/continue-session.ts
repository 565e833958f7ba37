import { ToolwrightError } from '../../../core/error/error.ts'
import type { StartedRun } from '../run/run-handle.ts'
import type { RunRequest } from '../run/run-request.ts'
import type { RunStarter } from '../run/run-starter.ts'
import type { RecoverOptions } from '../runner-options.ts'
import type { SessionOfApp } from './work-item.ts'

/** How a session is continued. */
interface Continuing extends Pick<RecoverOptions, 'runContext'> {
  /** Whether to leave the session alone unless it has interrupted work or posted answers. Default false. */
  readonly needsWork?: boolean
}

/** A run that continues a session, and the request that started it. */
export interface ContinuedRun {
  /** The run. */
  readonly run: StartedRun
  /** The request. */
  readonly request: RunRequest
}

/**
 * Continues the unfinished invocation of a session: after a crash, an expiry, or a posted answer. Undefined if another process holds
 * the session, or if there is nothing to continue.
 */
export async function continueSession(
  starter: RunStarter,
  { userId, sessionId }: SessionOfApp,
  { runContext: contextOf, needsWork = false }: Continuing,
): Promise<ContinuedRun | undefined> {
  const runContext = await contextOf?.({ userId, sessionId })
  const owner = { userId, sessionId, invocationId: '', runConfig: {}, runContext }
  const request: RunRequest = { ...owner, signal: undefined, isNew: false, needsWork }
  try {
    return { run: await starter.start(request), request }
  } catch (error) {
    const code = error instanceof ToolwrightError ? error.code : undefined
    if (code === 'SESSION_BUSY' || code === 'NOT_FOUND') return undefined
    throw error
  }
}
