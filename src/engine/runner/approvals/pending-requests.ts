// The pending requests of a session, derived from its fold, and what changes in them when entries are recorded.

import { canonicalJson } from '../../../core/base/json.ts'
import { choiceIn } from '../../../core/event/decision.ts'
import type { Denial, NewEntry, RequestRecord } from '../../../core/event/event.ts'
import type { Fold } from '../../../core/event/fold.ts'
import { type CallState, openRequests, startsWaiting } from '../../../core/event/invocation-state.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { waitingCallsAfter } from '../../../core/event/waiting-calls-after.ts'
import type { PendingChanges, SessionKey } from '../../../services/session/service.ts'
import type { OpenInvocation, ReadonlyView } from '../../agent/loop/session-view.ts'

/** The invocation that waits. */
interface WaitingInvocation {
  /** The user of the session. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The invocation. */
  readonly invocationId: string
}

/** The pending requests of these calls: their open requests, or the result of a long-running call. */
export function pendingOf(calls: readonly CallState[], invocation: WaitingInvocation): PendingRequest[] {
  return calls.flatMap((call): PendingRequest[] => {
    const requests = openRequests(call).map(({ request }) => pendingRequest(request, call, invocation))
    if (requests.length) return requests
    return call.pending ? [pendingResult(call, invocation)] : []
  })
}

function pendingRequest(request: RequestRecord, call: CallState, invocation: WaitingInvocation): PendingRequest {
  const { hint, key, schema, editable, payload, createdAt, expiresAt, authConfig } = request
  const authUri = authConfig?.exchangedAuthCredential?.oauth2?.authUri
  return {
    id: request.id,
    kind: request.kind,
    ...described(call, invocation),
    args: request.args,
    createdAt,
    ...(hint !== undefined && { hint }),
    ...(key !== undefined && { key }),
    ...(schema !== undefined && { schema }),
    ...(editable && { editable }),
    ...(payload !== undefined && { payload }),
    ...(authUri !== undefined && { authUri }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

function pendingResult(call: CallState, invocation: WaitingInvocation): PendingRequest {
  const { handle, handledAt, response, background } = call
  const { prompt, options } = choiceIn(response?.response) ?? {}
  return {
    id: call.id,
    kind: 'longRunning',
    ...described(call, invocation),
    args: call.args,
    ...(handledAt !== undefined && { createdAt: handledAt }),
    ...(handle && { handle }),
    ...(typeof prompt === 'string' && { hint: prompt }),
    ...(options && { schema: { enum: options } }),
    ...(background?.until !== undefined && { expiresAt: background.until }),
  }
}

function described(
  { id, name: tool, agent }: CallState,
  { userId, sessionId, invocationId }: WaitingInvocation,
): WaitingInvocation & Pick<PendingRequest, 'functionCallId' | 'tool' | 'agent'> {
  return { userId, sessionId, invocationId, functionCallId: id, tool, agent }
}

/** The requests that open and close once `entries` are recorded, so that the store changes its list in the same transaction. */
export function pendingChanges(
  view: ReadonlyView,
  entries: readonly NewEntry[],
  key: SessionKey,
): PendingChanges | undefined {
  const opened: PendingRequest[] = []
  const closed: string[] = []
  for (const [fold, own] of entriesByFold(view, entries)) {
    if (!fold.isWaiting && !own.some(startsWaiting)) continue
    const before = new Map(pendingIn(fold, fold.waitingCalls(), key).map((request) => [request.id, request]))
    for (const request of pendingIn(fold, waitingCallsAfter(fold, own), key)) {
      const known = before.get(request.id)
      if (!known || canonicalJson(known) !== canonicalJson(request)) opened.push(request)
      before.delete(request.id)
    }
    closed.push(...before.keys())
  }
  return opened.length + closed.length > 0 ? { opened, closed } : undefined
}

/** The complete list once `entries` are recorded. */
export function relisted(view: ReadonlyView, entries: readonly NewEntry[], key: SessionKey): PendingChanges {
  const added = entriesByFold(view, entries)
  for (const { fold } of view.open()) if (!added.has(fold)) added.set(fold, [])
  const opened = [...added].flatMap(([fold, own]) => pendingIn(fold, waitingCallsAfter(fold, own), key))
  return { opened, closed: 'all' }
}

function pendingIn(
  { invocationId }: Fold,
  calls: Parameters<typeof pendingOf>[0],
  { userId, sessionId }: SessionKey,
): PendingRequest[] {
  return pendingOf(calls, { userId, sessionId, invocationId })
}

/** The entries of each invocation. Edits of the state belong to none. */
function entriesByFold(view: ReadonlyView, entries: readonly NewEntry[]): Map<Fold, NewEntry[]> {
  const found = new Map<Fold, NewEntry[]>()
  for (const entry of entries) {
    const fold = view.foldFor(entry)
    if (!fold) continue
    const own = found.get(fold)
    if (own) own.push(entry)
    else found.set(fold, [entry])
  }
  return found
}

/** Is this invocation unfinished without waiting for an answer or a result? */
export function isAtWork(view: ReadonlyView, invocationId: string): boolean {
  return view.awake().some(({ fold, step }) => fold.invocationId === invocationId && step.type !== 'wait')
}

/** Is any invocation unfinished without waiting for an answer or a result? */
export function isInterrupted(view: ReadonlyView): boolean {
  return view.awake().some(({ step }) => step.type !== 'wait')
}

/** The invocation that can continue because its request expired, or because its background call was interrupted. */
export function overdueIn(awake: readonly OpenInvocation[]): string | undefined {
  const isOverdue = ({ requests, isLost }: CallState): boolean =>
    isLost || requests.some(({ denied }) => denied !== undefined)
  return awake.find(({ fold, step }) => step.type !== 'wait' && fold.waitingCalls().some(isOverdue))?.fold.invocationId
}

/** The background calls of an invocation whose time is over. `now`: seconds since the epoch. */
export function lateIn(fold: Fold, now: number): CallState[] {
  return fold.waitingCalls().filter(({ pending, background }) => pending && (background?.until ?? now + 1) <= now)
}

/** Denials for the expired requests of an invocation. `now`: seconds since the epoch. */
export function expired(fold: Fold, now: number): Denial[] {
  return fold.waitingCalls().flatMap((call) =>
    openRequests(call)
      .filter(({ request }) => request.expiresAt !== undefined && request.expiresAt <= now)
      .map(({ request }) => ({
        type: 'denial',
        invocationId: fold.invocationId,
        requestId: request.id,
        reason: 'the request expired without an answer',
      })),
  )
}
