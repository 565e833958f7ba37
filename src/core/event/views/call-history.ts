// What the log says about one call besides its state in the fold: times, waits, attempts and events.
import { canonicalJson, type JsonObject } from '../../base/json.ts'
import { callTimeOf } from '../call-time.ts'
import type { Event, FailedAttempt, RequestRecord } from '../event.ts'
import { failedAttemptsOf } from '../failed-attempts.ts'
import { type CallState, isFailure, openRequests, type RequestState } from '../invocation-state.ts'
import { type AnswerMeaning, isGranted, readAnswer } from '../read-answer.ts'
import { TOOLSET_CALL_PREFIX } from '../request-names.ts'
import { agentAt } from '../scope.ts'
import type { CallStatus, CallView, RequestView, TokenCounts, WaitView } from './views.ts'

/** Where and when a call was made. */
interface MadeCall {
  /** The event of the call; empty for a toolset. */
  readonly eventId: string
  /** The invocation. */
  readonly invocationId: string
  /** Seconds since the epoch. */
  readonly madeAt: number
  /** Does its result come later? */
  readonly isLongRunning: boolean
  /** Was it imported? */
  readonly isImported: boolean
  /** 1, or higher for a call that repeats a failed one. */
  readonly attempt: number
  /** The call whose agent or code made this call. */
  readonly parent: string | undefined
}

/** What the view of a call needs from its invocation. */
interface CallSurroundings {
  /** Does the call still need a response? */
  readonly isOpen: boolean
  /** What model calls inside the call used. */
  readonly tokens: TokenCounts | undefined
}

interface Wait extends Omit<WaitView, 'to' | 'answer'> {
  readonly requestId: string | undefined
  to: number | undefined
  answer: AnswerMeaning | undefined
}

/** The history of one call. */
export class CallHistory {
  /** The call in the fold of its invocation. */
  readonly state: CallState
  readonly #made: MadeCall
  readonly #waits: Wait[] = []
  /** When requests were answered, by id. */
  readonly #answeredAt: Map<string, number> = new Map()
  #starts = 0
  #interruptions = 0
  #changedArgs: JsonObject | undefined
  #end: { readonly eventId: string; readonly startedAt?: number; readonly endedAt: number } | undefined
  #failedAttempts: readonly FailedAttempt[] = []

  constructor(state: CallState, made: MadeCall) {
    this.state = state
    this.#made = made
  }

  /** The event of the call. */
  get eventId(): string {
    return this.#made.eventId
  }

  /** Is the final response recorded? */
  get isEnded(): boolean {
    return this.#end !== undefined
  }

  /** The number of the attempt that a later call of the tool in the same scope is. 1 if this call has a result. */
  attemptAfter(args: JsonObject): number {
    const { response, pending } = this.state
    const isRepeated =
      response && !pending ? isFailure(response.response) : canonicalJson(this.state.args) === canonicalJson(args)
    return isRepeated ? this.#made.attempt + 1 : 1
  }

  /** An intent: the body may start from now on. `wasStarted`: an earlier start has no result. */
  addStart(args: JsonObject | undefined, wasStarted: boolean): void {
    this.#starts++
    if (wasStarted) this.#interruptions++
    this.#changedArgs = args
  }

  /** A request about the call, which may replace an earlier one. A gate asks before the body: the call has not worked since it was made, or since the gate before. */
  addRequest({ id, kind, origin, createdAt }: RequestRecord): void {
    const open = new Set(openRequests(this.state).map(({ request }) => request.id))
    for (const wait of this.#waits)
      if (wait.to === undefined && wait.requestId !== undefined && !open.has(wait.requestId)) wait.to = createdAt
    const isGate = origin === 'gate'
    const from = isGate ? (this.#waits.at(-1)?.to ?? this.#made.madeAt) : createdAt
    this.#waits.push({ kind, from, requestId: id, to: this.#end?.endedAt, answer: undefined })
  }

  /** The answer to one of the requests. */
  addAnswer(requestId: string, answer: AnswerMeaning, at: number): void {
    this.#answeredAt.set(requestId, at)
    const wait = this.#waits.find((one) => one.requestId === requestId)
    if (wait) Object.assign(wait, { to: wait.to ?? at, answer })
  }

  /** A request that expired. The call waits until its response is recorded. */
  addDenial(requestId: string, answer: AnswerMeaning): void {
    const wait = this.#waits.find((one) => one.requestId === requestId)
    if (wait) wait.answer = answer
  }

  /** A handle or a partial result: the result comes later. */
  addHandle(at: number): void {
    if (this.#waits.some(({ to }) => to === undefined)) return
    this.#waits.push({ kind: 'longRunning', from: at, requestId: undefined, to: undefined, answer: undefined })
  }

  /** The final response. `answer` is set if a client sent it. */
  addResponse(event: Event, answer: AnswerMeaning | undefined): void {
    const { id } = this.state
    const { timestamp } = event
    for (const wait of this.#waits)
      if (wait.to === undefined) Object.assign(wait, { to: timestamp, answer: wait.answer ?? answer })
    const time = callTimeOf(event, id)
    this.#end = { eventId: event.id, ...time }
    this.#failedAttempts = failedAttemptsOf(event, id)
    const last = this.#waits.at(-1)
    // the time between a denial and the response to its call is no work
    if (last && this.#gate() !== 'passed') last.to = Math.max(time.endedAt, this.#made.madeAt)
  }

  /** The call as it is now. */
  view({ isOpen, tokens }: CallSurroundings): CallView {
    const { state } = this
    const { id, name, agent, path, args, handle, isCode } = state
    const { eventId, invocationId, madeAt, isLongRunning, isImported, attempt, parent } = this.#made
    const requests = this.#requests(isOpen)
    const response = state.pending ? undefined : state.response
    return {
      id,
      invocationId,
      kind: id.startsWith(TOOLSET_CALL_PREFIX) ? 'toolset' : isCode ? 'code' : 'tool',
      name,
      agent: agent || agentAt(path), // a toolset has none until its request is shown
      path,
      parent,
      args,
      changedArgs: this.#changedArgs ?? editedArgs(requests),
      status: this.#status(isOpen, requests),
      gate: this.#gate(),
      isLongRunning,
      isImported,
      requests,
      waits: this.#waits.map(({ kind, from, to, answer }) => ({ kind, from, to, answer })),
      attempt,
      starts: this.#starts,
      interruptions: this.#interruptions,
      failedAttempts: this.#failedAttempts,
      handle,
      response,
      error: response && errorIn(response.response),
      madeAt,
      startedAt: this.#end?.startedAt,
      endedAt: this.#end?.endedAt,
      eventId,
      responseId: this.#end?.eventId,
      tokens,
    }
  }

  #requests(isOpen: boolean): RequestView[] {
    if (this.state.requests.length === 0) return []
    const open = new Set(isOpen ? openRequests(this.state) : [])
    return this.state.requests.map((one) => this.#request(one, open.has(one)))
  }

  #request(state: RequestState, isOpen: boolean): RequestView {
    const { id, callId, kind, origin, key, args, hint, payload, schema, editable, createdAt, expiresAt } = state.request
    const answer = meaningOf(state)
    const at = this.#answeredAt.get(id)
    return {
      id,
      callId,
      kind,
      origin,
      args,
      createdAt,
      isOpen,
      ...(key !== undefined && { key }),
      ...(hint !== undefined && { hint }),
      ...(payload !== undefined && { payload }),
      ...(schema && { schema }),
      ...(editable && { editable }),
      ...(expiresAt !== undefined && { expiresAt }),
      answer: answer && (at === undefined ? answer : { ...answer, at }),
    }
  }

  /** Whether the latest gate let the call pass. */
  #gate(): CallView['gate'] {
    const asked = this.state.requests.findLast(({ request }) => request.origin === 'gate')
    if (!asked) return 'passed'
    const answer = meaningOf(asked)
    if (!answer) return 'held'
    return isGranted(answer) ? 'passed' : 'denied'
  }

  #status(isOpen: boolean, requests: readonly RequestView[]): CallStatus {
    const { response, pending, id } = this.state
    if (!response || pending) {
      if (id.startsWith(TOOLSET_CALL_PREFIX) && requests.every(({ answer }) => answer)) return 'completed'
      if (!isOpen) return 'cancelled'
      const isWaiting = pending || this.#made.isLongRunning || requests.some((one) => one.isOpen)
      return isWaiting ? 'waiting' : 'running'
    }
    const { status, errorCode } = response.response
    if (status === 'unknown_outcome') return 'unknown'
    if (!isFailure(response.response)) return 'completed'
    if (isDenial(requests.at(-1)?.answer)) return 'denied'
    return errorCode === 'CANCELLED' ? 'cancelled' : 'failed'
  }
}

/** What the answer to a request means; undefined while there is none. */
function meaningOf({ request, answer, denied }: RequestState): AnswerMeaning | undefined {
  if (answer) return readAnswer(request.kind, answer)
  return denied === undefined ? undefined : { type: 'expired', reason: denied }
}

/** Did a person, or the time limit of the request, refuse? A failed sign-in is a failure. */
function isDenial(answer: AnswerMeaning | undefined): boolean {
  return answer?.type === 'denied' || answer?.type === 'declined' || answer?.type === 'expired'
}

/** The arguments that an approver sent. A tool without effects leaves no intent that has them. */
function editedArgs(requests: readonly RequestView[]): JsonObject | undefined {
  const edited = requests.findLast(({ editable, answer }) => editable && answer?.type === 'approved')?.answer
  return edited?.type === 'approved' ? edited.args : undefined
}

function errorIn(response: JsonObject): CallView['error'] {
  if (!isFailure(response)) return undefined
  const code = typeof response.errorCode === 'string' ? response.errorCode : undefined
  return { code, message: typeof response.error === 'string' ? response.error : (code ?? 'failed') }
}
