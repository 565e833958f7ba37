// What workers post that run the bodies of background calls for an engine: attempts, and progress.
import type { AttemptRecord } from '../../../core/event/event.ts'
import type { CallState } from '../../../core/event/invocation-state.ts'
import type { PostedItem } from '../../../services/session/service.ts'
import type { OpenInvocation, ReadonlyView } from '../../agent/loop/session-view.ts'

/** A posted attempt. */
export type PostedAttempt = Extract<PostedItem, { readonly type: 'attempt' }>

/** Posted progress. */
export type PostedProgress = Extract<PostedItem, { readonly type: 'progress' }>

/** A background call of an unfinished invocation whose body an engine has a worker run. */
export interface EngineCall {
  /** The call. */
  readonly call: CallState
  /** Its invocation. */
  readonly fold: OpenInvocation['fold']
}

/** The background call with this id. Undefined if it does not wait for its body, or no engine runs that. */
export function findEngineCall(view: ReadonlyView, callId: string): EngineCall | undefined {
  for (const { fold } of view.open()) {
    const call = fold.calls.get(callId)
    if (call?.pending && call.background?.engine && fold.isOpen(call)) return { call, fold }
  }
  return undefined
}

/**
 * The record of an attempt. Undefined if the call no longer waits, its result is posted, or another attempt was recorded since the
 * worker has read the log: two workers never begin both.
 */
export function attemptRecord(
  view: ReadonlyView,
  { id, callId, after, crashes, until }: Omit<PostedAttempt, 'type' | 'seq'>,
  items: readonly PostedItem[],
): AttemptRecord | undefined {
  const found = findEngineCall(view, callId)
  if (!found || found.call.background?.engine?.attempt?.id !== after) return undefined
  if (items.some((item) => item.type === 'result' && item.callId === callId)) return undefined
  return { type: 'attempt', invocationId: found.fold.invocationId, callId, id, crashes, until }
}
