// What an invocation waits for, for whoever can answer.
import type { SessionView } from '../../agent/loop/session-view.ts'
import type { CallState } from '../../event/call-state.ts'
import { choiceIn } from '../../event/decision.ts'
import type { Denial, Request } from '../../event/event.ts'
import { type Fold, openRequests } from '../../event/fold.ts'
import type { PendingRequest } from '../../event/pending.ts'

export interface Where {
  readonly userId: string
  readonly sessionId: string
  readonly invocationId: string
}

export function pendingOf(on: readonly CallState[], where: Where): PendingRequest[] {
  return on.flatMap((call): PendingRequest[] => {
    const asked = openRequests(call).map(({ request }) => requestOf(request, call, where))
    if (asked.length) return asked
    return call.pending ? [resultOf(call, where)] : []
  })
}

/** A question about a call. */
export function requestOf(request: Request, call: CallState, where: Where): PendingRequest {
  const { hint, key, schema, editable, payload, createdAt, expiresAt } = request
  return {
    id: request.id,
    kind: request.kind,
    ...common(call, where),
    args: request.args,
    createdAt,
    ...(hint !== undefined && { hint }),
    ...(key !== undefined && { key }),
    ...(schema !== undefined && { schema }),
    ...(editable && { editable }),
    ...(payload !== undefined && { payload }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/** The result of a call that is still at work. */
export function resultOf(call: CallState, where: Where): PendingRequest {
  const { prompt, options } = choiceIn(call.response?.response) ?? {}
  return {
    id: call.id,
    kind: 'longRunning',
    ...common(call, where),
    args: call.args,
    ...(typeof prompt === 'string' && { hint: prompt }),
    ...(options && { schema: { enum: options } }),
  }
}

function common({ id, name: tool, agent }: CallState, { userId, sessionId, invocationId }: Where): Where & Called {
  return { userId, sessionId, invocationId, functionCallId: id, tool, agent }
}

type Called = Pick<PendingRequest, 'functionCallId' | 'tool' | 'agent'>

/** Is this one unfinished, and waits for nobody? */
export function isAtWork(view: SessionView, invocationId: string): boolean {
  return view.awake().some(({ fold, step }) => fold.invocationId === invocationId && step.type !== 'wait')
}

/** Is something unfinished that waits for nobody? */
export function isInterrupted(view: SessionView): boolean {
  return view.awake().some(({ step }) => step.type !== 'wait')
}

/** The invocation that would go on, had anybody looked, because nobody had answered in time. */
export function overdueIn(view: SessionView): string | undefined {
  const wasDenied = ({ requests }: CallState): boolean => requests.some(({ denied }) => denied !== undefined)
  return view.awake().find(({ fold, step }) => step.type !== 'wait' && fold.openCalls().some(wasDenied))?.fold
    .invocationId
}

/** Denials for questions of an invocation that nobody answered in time. */
export function expired(fold: Fold, now: number): Denial[] {
  return fold.waitingCalls().flatMap((call) =>
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
