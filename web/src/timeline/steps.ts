import { describeAnswer } from '../../../src/core/event/read-answer.ts'
import type { CallView, InvocationView, MarkView, ReplyView, WaitView } from '../../../src/core/event/views/views.ts'
import { attemptOf } from '../calls/attempt-of.ts'
import type { Mark, Step, StepStatus, Wait } from './timeline.ts'

/** What the views of the log do not say. */
export interface StepOptions {
  /** When open steps end, in milliseconds since the epoch. */
  readonly end: number
  /** Is a run of the session under way? */
  readonly isRunning: boolean
}

/** The steps of an invocation, by the time they began. */
export function stepsOf(invocation: InvocationView, options: StepOptions): readonly Step[] {
  const { replies, calls, scopes } = invocation
  const parents = new Map(scopes.map(({ path, parent }) => [path, parent]))
  return [
    ...replies.map((reply) => ({ ...replyStep(reply), parent: parents.get(reply.path) })),
    ...calls.map((call) => callStep(call, options)),
    ...(options.isRunning ? nextReply(invocation, options) : []),
  ].sort((one, other) => one.from - other.from || one.to - other.to)
}

function replyStep({ eventId, isModel, agent, path, usage, fallback, text, error, ...times }: ReplyView): Step {
  return {
    id: eventId,
    kind: isModel ? 'model' : 'agent',
    name: isModel ? 'Model call' : 'Agent step',
    agent,
    path,
    eventId,
    from: milliseconds(times.startedAt),
    to: milliseconds(times.endedAt),
    waits: [],
    status: error ? 'failed' : 'done',
    gate: 'passed',
    attempt: 1,
    usage,
    failedModels: fallback?.from,
    result: text,
    error: error && `${error.code}: ${error.message}`,
  }
}

function callStep(call: CallView, { end, isRunning }: StepOptions): Step {
  const { id, kind, name, agent, path, eventId, responseId, args, changedArgs, gate, failedAttempts, error } = call
  const from = milliseconds(call.waits.length === 0 ? (call.startedAt ?? call.madeAt) : call.madeAt)
  const to = endOf(call)
  return {
    id,
    kind: 'tool',
    name: kind === 'toolset' ? `Sign-in for ${name}` : name,
    agent,
    path,
    eventId,
    responseId,
    from,
    to: to === undefined ? end : Math.max(milliseconds(to), from),
    waits: call.waits.map((wait) => waitOf(wait, end)),
    status: statusOf(call, isRunning),
    gate,
    attempt: attemptOf(call),
    failedAttempts,
    args: kind === 'toolset' ? { hint: call.requests[0]?.hint } : (changedArgs ?? args),
    result: call.response?.response,
    error: error?.message,
    parent: call.parent,
    call,
  }
}

/** When a call ended. A toolset has no response: its last answer ends it. */
function endOf({ kind, status, endedAt, waits }: CallView): number | undefined {
  return kind === 'toolset' && status === 'completed' ? waits.at(-1)?.to : endedAt
}

function waitOf({ kind, from, to, answer }: WaitView, end: number): Wait {
  const until = to === undefined ? end : milliseconds(to)
  return { kind, from: milliseconds(from), to: until, answer: answer && describeAnswer(answer) }
}

function statusOf({ status, endedAt }: CallView, isRunning: boolean): StepStatus {
  if (status === 'completed') return 'done'
  if (status === 'waiting') return 'waiting'
  if (endedAt !== undefined) return 'failed'
  return isRunning ? 'running' : 'interrupted'
}

/** The model call of a run under way. It has no event yet. */
function nextReply({ status, updatedAt, replies, calls }: InvocationView, { end: to }: StepOptions): Step[] {
  if (status !== 'running' || calls.some((call) => call.status === 'running')) return []
  const { agent, path } = replies.at(-1) ?? { agent: 'agent', path: 'agent' }
  const id = `next-${replies.length + calls.length}`
  const from = milliseconds(updatedAt)
  const open = { eventId: '', waits: [], status: 'running', gate: 'passed', attempt: 1 } as const
  return [{ id, kind: 'model', name: 'Model call', agent, path, from, to, ...open }]
}

/** A point in time, in words. */
export function markOf(mark: MarkView, calls: readonly CallView[]): Mark {
  return { kind: mark.type, at: milliseconds(mark.at), label: labelOf(mark, calls), eventId: mark.eventId }
}

function labelOf(mark: MarkView, calls: readonly CallView[]): string {
  switch (mark.type) {
    case 'message':
      return mark.text === '' ? 'Message' : mark.text
    case 'answer':
      return `${calls.find(({ id }) => id === mark.callId)?.name ?? ''}: ${describeAnswer(mark.answer)}`
    case 'transfer':
      return `Transfer to ${mark.to}`
    case 'error':
      return `${mark.code}: ${mark.message}`
  }
}

function milliseconds(seconds: number): number {
  return seconds * 1000
}
