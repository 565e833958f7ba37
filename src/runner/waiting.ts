// What a session waits for: read off its log, and foretold for what is about to be recorded, so that the list of it
// changes in the same transaction as the log.
import type { SessionView } from '../agent/session-view.ts'
import { answerIn } from '../event/code-call.ts'
import type { Event, NewEntry, Request } from '../event/event.ts'
import type { CallState } from '../event/fold.ts'
import type { PendingRequest } from '../event/pending.ts'
import { pendingOf, requestOf, resultOf } from './pending.ts'

export interface Waiter {
  readonly view: SessionView
  readonly userId: string
  readonly sessionId: string
}

interface Waiting {
  readonly path: string
  readonly request: PendingRequest
}

/** Could these entries change what the session waits for? */
export function concernsWaiting({ hasWaited }: SessionView, entries: readonly NewEntry[]): boolean {
  if (hasWaited) return true
  for (let at = 0; at < entries.length; at++) {
    const { event, record } = entries[at] as NewEntry
    if (record ? record.type === 'request' : event?.longRunningToolIds) return true
  }
  return false
}

/** What the session waits for when these are recorded, in all its invocations. */
export function waitingAfter(session: Waiter, entries: readonly NewEntry[]): PendingRequest[] {
  const waiting = new WaitingList(session)
  for (const { event, record } of entries) {
    if (event?.author === 'user') waiting.answer(event)
    else if (event) waiting.happen(event)
    else if (record?.type === 'request') waiting.ask(record)
    else if (record?.type === 'denial') waiting.drop(({ request }) => request.id === record.requestId)
  }
  return waiting.requests()
}

class WaitingList {
  readonly #session: Waiter
  #all: Waiting[]

  constructor(session: Waiter) {
    this.#session = session
    this.#all = session.view.open().flatMap(({ fold }) => {
      const where = this.#where(fold.invocationId)
      return fold
        .openCalls()
        .flatMap((call) => pendingOf([call], where).map((request) => ({ path: call.path, request })))
    })
  }

  requests(): PendingRequest[] {
    return this.#all.map(({ request }) => request)
  }

  drop(isOver: (one: Waiting) => boolean): void {
    this.#all = this.#all.filter((one) => !isOver(one))
  }

  ask(asked: Request): void {
    const call = this.#call(asked.invocationId, asked.callId)
    if (!call) return
    // of one kind, origin and key only the latest counts; an earlier one that is open was asked by the same attempt
    const request = requestOf(asked, call, this.#where(asked.invocationId))
    const { invocationId, kind, key } = request
    this.drop(({ request: one }) => isOfCall(one, invocationId, call.id) && one.kind === kind && one.key === key)
    this.#all.push({ path: call.path, request })
  }

  answer({ invocationId, content }: Event): void {
    for (const { functionResponse: answer } of content?.parts ?? []) {
      if (!answer || answer.willContinue) continue
      this.drop(({ request }) => request.invocationId === invocationId && request.id === answer.id)
    }
  }

  happen(event: Event): void {
    const { invocationId, content, errorCode, actions, nodeInfo } = event
    const isHere = (one: Waiting): boolean => one.request.invocationId === invocationId
    for (const part of content?.role === 'tool' ? content.parts : []) {
      const answer = answerIn(part)
      if (!answer) continue
      const { id = '', willContinue } = answer
      const call = this.#call(invocationId, id)
      this.drop((one) => isHere(one) && (one.request.functionCallId === id || isInside(one.path, call)))
      if (!willContinue || !call) continue
      const handled: CallState = { ...call, response: answer } // as it will be when this is recorded
      this.#all.push({ path: call.path, request: resultOf(handled, this.#where(invocationId)) })
    }
    const path = nodeInfo?.path
    if (path === undefined || (errorCode === undefined && !actions.endOfAgent)) return
    this.drop((one) => isHere(one) && (one.path === path || one.path.startsWith(`${path}/`)))
  }

  #where(invocationId: string): { userId: string; sessionId: string; invocationId: string } {
    const { userId, sessionId } = this.#session
    return { userId, sessionId, invocationId }
  }

  #call(invocationId: string, callId: string): CallState | undefined {
    return this.#session.view.foldOf(invocationId).calls.get(callId)
  }
}

function isOfCall(request: PendingRequest, invocationId: string, callId: string): boolean {
  return request.invocationId === invocationId && request.functionCallId === callId
}

/** Was it asked inside the agent, or the code, that this call stands for? */
function isInside(path: string, call: CallState | undefined): boolean {
  if (!call || !path.startsWith(`${call.path}/`)) return false
  return (
    path
      .slice(call.path.length + 1)
      .split('/')[0]
      ?.endsWith(`@${call.id}`) ?? false
  )
}
