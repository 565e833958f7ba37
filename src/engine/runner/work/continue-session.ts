import { ToolwrightError } from '../../../core/error/error.ts'
import type { StartedRun } from '../run/run-handle.ts'
import { RunRefused } from '../run/run-limits.ts'
import type { RunRequest, Unattended } from '../run/run-request.ts'
import type { RunStarter } from '../run/run-starter.ts'
import { SetAside } from '../run/set-aside.ts'
import type { RecoverOptions } from '../runner-options.ts'
import type { SessionOfApp } from './work-item.ts'

/** How a session is continued. */
interface Continuing extends Pick<RecoverOptions, 'runContext'> {
  /** Whether to leave the session alone unless it has interrupted work, posted answers or posted messages. Default false. */
  readonly needsWork?: boolean
  /** How the session is claimed. */
  readonly unattended?: Unattended | undefined
}

/** What came of an attempt to continue a session. */
export type Continued =
  /** A run, and the request that started it. */
  | { readonly type: 'run'; readonly run: StartedRun; readonly request: RunRequest }
  /** Another process holds the session. */
  | { readonly type: 'busy' }
  /** The user or the app has as many runs as it may have. */
  | { readonly type: 'limited'; readonly scope: 'app' | 'user' }
  /** There is nothing to continue, or only an answer can. */
  | { readonly type: 'nothing' }

/** Continues the unfinished invocation of a session: after a crash, an expiry, a posted answer or a posted message. */
export async function continueSession(
  starter: RunStarter,
  { userId, sessionId }: SessionOfApp,
  { runContext: contextOf, needsWork = false, unattended }: Continuing,
): Promise<Continued> {
  const runContext = await contextOf?.({ userId, sessionId })
  const owner = { userId, sessionId, invocationId: '', runConfig: {}, runContext }
  const request: RunRequest = { ...owner, signal: undefined, isNew: false, needsWork, unattended }
  try {
    const run = await starter.start(request)
    starter.factory.activity.continued++
    return { type: 'run', run, request }
  } catch (error) {
    if (error instanceof RunRefused) return { type: 'limited', scope: error.scope }
    if (error instanceof SetAside) return { type: 'nothing' }
    const code = error instanceof ToolwrightError ? error.code : undefined
    if (code === 'SESSION_BUSY') return { type: 'busy' }
    if (code === 'NOT_FOUND' || code === 'PAUSED') return { type: 'nothing' } // a posted message waits while the session is paused
    throw error
  }
}
