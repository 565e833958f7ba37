// Ends an invocation early: answers its open calls, cancels the work they have started, and records why.

import type { NewEntry } from '../../../core/event/event.ts'
import { findTool } from '../../agent/loop/find-tool.ts'
import { cancelWork, forgetConsents, type StartedWork } from '../../dispatch/cancel-work.ts'
import { closingEntries, startedWork } from '../../dispatch/close-scope.ts'
import type { RunData } from './run-data.ts'

/** How an invocation is ended early. */
export interface CloseRunOptions {
  /** Inbox items to remove with the end. Default: those of the run. */
  readonly drained?: readonly string[] | undefined
  /** Leaves alone what long-running calls have started, and does not call the `cancel` functions of their tools. Default false. */
  readonly keepsStartedWork?: boolean | undefined
}

/** Ends an invocation that no agent can continue. */
export async function endWithError(data: RunData, reason: string): Promise<void> {
  const started = startedBy(data)
  if (started.length) await cancelWork(data, started)
  await data.recorder.commit(closingEntries(data, { ...endOf(data, reason, 'AGENT_ERROR'), unrecorded: [], started }))
  await forgetConsents(data, data.fold.calls.values())
}

/** Records a final response to every open call, and that the invocation was cancelled. */
export async function closeAsCancelled(
  data: RunData,
  reason: string,
  { drained = data.progress.drained, keepsStartedWork = false }: CloseRunOptions = {},
): Promise<void> {
  const { recorder } = data
  const startedNow = (): StartedWork[] => (keepsStartedWork ? [] : startedBy(data))
  const started = startedNow()
  if (started.length) await cancelWork(data, started)
  const entries = (): NewEntry[] => {
    const unrecorded = recorder.unrecorded()
    return closingEntries(data, { ...endOf(data, reason, 'CANCELLED'), unrecorded, started: startedNow() })
  }
  await recorder.close(entries, drained)
  // the requests of a copied log have the consents of the original
  if (!keepsStartedWork) await forgetConsents(data, data.fold.calls.values())
}

function endOf<Code extends string>({ tree }: RunData, reason: string, errorCode: Code) {
  const { name } = tree.root
  return { author: name, scope: { path: name }, reason, errorCode }
}

/** What long-running calls of the invocation have started. */
function startedBy(data: RunData): StartedWork[] {
  return startedWork(data.fold, data.recorder.unrecorded(), (call) => findTool(data, call))
}
