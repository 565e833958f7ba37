// What an invocation waits for, for whoever can answer.
import type { SessionView } from '../agent/session-view.ts'
import type { JsonObject } from '../base/json.ts'
import type { Denial } from '../event/event.ts'
import { type CallState, type Fold, openRequests } from '../event/fold.ts'
import type { PendingRequest } from '../event/pending.ts'

interface Where {
  readonly userId: string
  readonly sessionId: string
  readonly invocationId: string
}

export function pendingOf(on: readonly CallState[], { userId, sessionId, invocationId }: Where): PendingRequest[] {
  return on.flatMap((call): PendingRequest[] => {
    const { id, name: tool, agent } = call
    const common = { userId, sessionId, invocationId, functionCallId: id, tool, agent }
    const asked = openRequests(call).map(({ request }): PendingRequest => {
      const { hint, key, schema, payload, createdAt, expiresAt } = request
      return {
        id: request.id,
        kind: request.kind,
        ...common,
        args: request.args,
        createdAt,
        ...(hint !== undefined && { hint }),
        ...(key !== undefined && { key }),
        ...(schema !== undefined && { schema }),
        ...(payload !== undefined && { payload }),
        ...(expiresAt !== undefined && { expiresAt }),
      }
    })
    if (asked.length) return asked
    return call.pending ? [{ id, kind: 'longRunning', ...common, args: call.args as JsonObject }] : []
  })
}

/** What a session waits for, in all its invocations. */
export function waitingIn({
  view,
  userId,
  sessionId,
}: Omit<Where, 'invocationId'> & { view: SessionView }): PendingRequest[] {
  return view
    .open()
    .flatMap(({ fold: { invocationId }, step }) =>
      step.type === 'wait' ? pendingOf(step.on, { userId, sessionId, invocationId }) : [],
    )
}

/** Denials for questions of an invocation that nobody answered in time. */
export function expired(fold: Fold, now: number): Denial[] {
  return fold.openCalls().flatMap((call) =>
    openRequests(call)
      .filter(({ request }) => request.expiresAt !== undefined && request.expiresAt <= now)
      .map(({ request }) => ({
        type: 'denial',
        invocationId: fold.invocationId,
        requestId: request.id,
        reason: 'nobody answered in time',
      })),
  )
}
