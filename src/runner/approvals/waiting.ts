// What a session waits for: read off its log, and foretold for what is about to be recorded, so that the list of it
// changes in the same transaction as the log.
import type { SessionView } from '../../agent/loop/session-view.ts'
import { answerIn } from '../../event/code-call.ts'
import { type Event, type NewEntry, type Request, startsWaiting } from '../../event/event.ts'
import type { CallState, Fold } from '../../event/fold.ts'
import type { PendingRequest } from '../../event/pending.ts'
import { pendingOf, requestOf, resultOf, type Where } from './pending.ts'

export interface Waiter {
  readonly view: SessionView
  readonly invocationId: string
  readonly userId: string
  readonly sessionId: string
}

interface Waiting {
  readonly path: string
  readonly request: PendingRequest
}

/** The list to store, and what `SessionView.listed` is once it is stored. */
export interface Listing {
  readonly pending: readonly PendingRequest[]
  readonly listed: ReadonlyMap<string, string>
}

/** Could these entries change what the session waits for? */
export function concernsWaiting({ hasWaited }: SessionView, entries: readonly NewEntry[]): boolean {
  if (hasWaited) return true
  for (let at = 0; at < entries.length; at++) if (startsWaiting(entries[at] as NewEntry)) return true
  return false
}

/**
 * What the session waits for when these are recorded, in all its invocations; undefined when the list in the store says
 * so already. Looks only at invocations that the entries belong to, unless the list has to be stored.
 */
export function waitingAfter(session: Waiter, entries: readonly NewEntry[]): Listing | undefined {
  const { view } = session
  const after = new Map<string, WaitingList>([[session.invocationId, new WaitingList(session, session.invocationId)]])
  for (const entry of entries) {
    const { invocationId } = entry.event ?? entry.record
    const known = after.get(invocationId)
    const waiting = known ?? new WaitingList(session, invocationId)
    if (!known) after.set(invocationId, waiting)
    waiting.add(entry)
  }
  const before = view.listed
  if (before && [...after].every(([id, waiting]) => (before.get(id) ?? '') === waiting.ids())) return undefined
  for (const { fold } of view.open()) {
    if (!after.has(fold.invocationId)) after.set(fold.invocationId, new WaitingList(session, fold.invocationId))
  }
  const lists = [...after].filter(([, waiting]) => waiting.size > 0)
  view.listed = undefined // what the store has is not known until the append has succeeded
  return {
    pending: lists.flatMap(([, waiting]) => waiting.requests()),
    listed: new Map(lists.map(([id, waiting]) => [id, waiting.ids()])),
  }
}

/** What one invocation waits for now. Made anew only when the invocation has changed. */
const known: WeakMap<Fold, { readonly version: number; readonly waiting: readonly Waiting[] }> = new WeakMap()

function waitingIn(fold: Fold, where: Where): readonly Waiting[] {
  const before = known.get(fold)
  if (before?.version === fold.version) return before.waiting
  const waiting = fold
    .waitingCalls()
    .flatMap((call) => pendingOf([call], where).map((request) => ({ path: call.path, request })))
  known.set(fold, { version: fold.version, waiting })
  return waiting
}

/** What one invocation waits for, by call. */
class WaitingList {
  readonly #fold: Fold
  readonly #where: Where
  readonly #calls: Map<string, Waiting[]> = new Map()

  constructor({ view, userId, sessionId }: Waiter, invocationId: string) {
    this.#fold = view.foldOf(invocationId)
    this.#where = { userId, sessionId, invocationId }
    for (const one of waitingIn(this.#fold, this.#where)) this.#push(one)
  }

  get size(): number {
    return this.#calls.size
  }

  ids(): string {
    return this.requests()
      .map(({ id }) => id)
      .join('\n')
  }

  requests(): PendingRequest[] {
    return [...this.#calls.values()].flatMap((waiting) => waiting.map(({ request }) => request))
  }

  add({ event, record }: NewEntry): void {
    if (event?.author === 'user') this.#answer(event)
    else if (event) this.#happen(event)
    else if (record?.type === 'request') this.#ask(record)
    else if (record?.type === 'denial') this.#drop(record.requestId)
  }

  #push(one: Waiting): void {
    const { functionCallId } = one.request
    const beside = this.#calls.get(functionCallId)
    if (beside) beside.push(one)
    else this.#calls.set(functionCallId, [one])
  }

  /** By the id of the request, or of the call when it is the result that is waited for. */
  #drop(id: string): void {
    const callId = this.#fold.request(id)?.request.callId ?? id
    const left = this.#calls.get(callId)?.filter(({ request }) => request.id !== id)
    if (left?.length) this.#calls.set(callId, left)
    else this.#calls.delete(callId)
  }

  #ask(asked: Request): void {
    const call = this.#fold.calls.get(asked.callId)
    if (!call) return
    // of one kind, origin and key only the latest counts; an earlier one that is open was asked by the same attempt
    const request = requestOf(asked, call, this.#where)
    const others = this.#calls
      .get(call.id)
      ?.filter(({ request: { kind, key } }) => kind !== request.kind || key !== request.key)
    this.#calls.delete(call.id)
    for (const one of [...(others ?? []), { path: call.path, request }]) this.#push(one)
  }

  #answer({ content }: Event): void {
    for (const { functionResponse: answer } of content?.parts ?? []) {
      if (answer && !answer.willContinue) this.#drop(answer.id ?? '')
    }
  }

  #happen({ content, errorCode, actions, nodeInfo }: Event): void {
    const left: CallState[] = []
    for (const part of content?.role === 'tool' ? content.parts : []) {
      const answer = answerIn(part)
      const call = answer && this.#fold.calls.get(answer.id ?? '')
      if (!call) continue
      this.#calls.delete(call.id)
      if (this.#fold.hasScope(call.id)) left.push(call)
      if (!answer.willContinue) continue
      const handled: CallState = { ...call, response: answer } // as it will be when this is recorded
      this.#push({ path: call.path, request: resultOf(handled, this.#where) })
    }
    const ended = errorCode !== undefined || actions.endOfAgent ? nodeInfo?.path : undefined
    if (ended === undefined && left.length === 0) return
    for (const [callId, [first]] of this.#calls) {
      const path = first?.path ?? ''
      const isOver = path === ended || path.startsWith(`${ended}/`) || left.some((call) => isInside(path, call))
      if (isOver) this.#calls.delete(callId)
    }
  }
}

/** Was it asked inside the agent, or the code, that this call stands for? */
function isInside(path: string, call: CallState): boolean {
  if (!path.startsWith(`${call.path}/`)) return false
  return (
    path
      .slice(call.path.length + 1)
      .split('/')[0]
      ?.endsWith(`@${call.id}`) ?? false
  )
}
