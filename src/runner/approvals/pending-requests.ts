// The pending requests of a session, derived from its fold.
import type { SessionView } from '../../agent/loop/session-view.ts'
import { choiceIn } from '../../event/decision.ts'
import type { Denial, NewEntry, Request } from '../../event/event.ts'
import type { Fold } from '../../event/fold.ts'
import { type CallState, openRequests, startsWaiting } from '../../event/invocation-state.ts'
import type { PendingRequest } from '../../event/pending-request.ts'

/** The invocation that waits. */
export interface WaitingInvocation {
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

function pendingRequest(request: Request, call: CallState, invocation: WaitingInvocation): PendingRequest {
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
  const { handle, handledAt, response } = call
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
  }
}

function described(
  { id, name: tool, agent }: CallState,
  { userId, sessionId, invocationId }: WaitingInvocation,
): WaitingInvocation & Pick<PendingRequest, 'functionCallId' | 'tool' | 'agent'> {
  return { userId, sessionId, invocationId, functionCallId: id, tool, agent }
}

/** The list to store with an append, and `SessionView.listed` once it is stored. */
export interface PendingListing {
  /** The pending requests of all invocations of the session. */
  readonly pending: readonly PendingRequest[]
  /** Their ids, by invocation. */
  readonly listed: ReadonlyMap<string, string>
}

/**
 * The pending requests of the session once `entries` are recorded, so that the store changes the list in the same
 * transaction as the log. Each invocation is folded with the entries on a copy. Undefined when the stored list is right.
 */
export function pendingAfter(
  session: WaitingInvocation & { readonly view: SessionView },
  entries: readonly NewEntry[],
): PendingListing | undefined {
  const { view, userId, sessionId } = session
  const pendingIn = (invocationId: string): PendingRequest[] => {
    const own = entries.filter(({ event, record }) => (event ?? record).invocationId === invocationId)
    const calls = foldWith(view.foldOf(invocationId), own).waitingCalls()
    return pendingOf(calls, { userId, sessionId, invocationId })
  }
  const after = new Map([[session.invocationId, pendingIn(session.invocationId)]])
  for (const { event, record } of entries) {
    const { invocationId } = event ?? record
    if (!after.has(invocationId)) after.set(invocationId, pendingIn(invocationId))
  }
  const before = view.listed
  if (before && [...after].every(([id, pending]) => (before.get(id) ?? '') === idsOf(pending))) return undefined
  for (const { fold } of view.open()) {
    if (!after.has(fold.invocationId)) after.set(fold.invocationId, pendingIn(fold.invocationId))
  }
  view.listed = undefined // unknown until the append has succeeded
  const listed = [...after].filter(([, pending]) => pending.length > 0)
  return {
    pending: listed.flatMap(([, pending]) => pending),
    listed: new Map(listed.map(([id, pending]) => [id, idsOf(pending)])),
  }
}

/** The fold after the entries. Only a fold that waits, or starts to, can have other pending requests afterwards. */
function foldWith(fold: Fold, entries: readonly NewEntry[]): Fold {
  if (entries.length === 0 || !(fold.isWaiting || entries.some(startsWaiting))) return fold
  const tentative = fold.copy()
  for (const entry of entries) tentative.add(entry)
  return tentative
}

function idsOf(pending: readonly PendingRequest[]): string {
  return pending.map(({ id }) => id).join('\n')
}

/** Is this invocation unfinished without waiting for an answer or a result? */
export function isAtWork(view: SessionView, invocationId: string): boolean {
  return view.awake().some(({ fold, step }) => fold.invocationId === invocationId && step.type !== 'wait')
}

/** Is any invocation unfinished without waiting for an answer or a result? */
export function isInterrupted(view: SessionView): boolean {
  return view.awake().some(({ step }) => step.type !== 'wait')
}

/** The invocation that can continue because its request expired. */
export function overdueIn(view: SessionView): string | undefined {
  const wasDenied = ({ requests }: CallState): boolean => requests.some(({ denied }) => denied !== undefined)
  return view.awake().find(({ fold, step }) => step.type !== 'wait' && fold.waitingCalls().some(wasDenied))?.fold
    .invocationId
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
