// What is known of one invocation: log entries go in, answers come out. Nothing here looks at anything but entries.
import { canonicalJson, type JsonObject } from '../base/json.ts'
import { registerShape } from '../base/object-shapes.ts'
import type { FunctionCall, FunctionResponse, Part } from '../content/content.ts'
import { responseIn, codeCallOf } from './code-call.ts'
import type { Denial, Event, Intent, NewEntry, Request } from './event.ts'

export interface CallState {
  readonly id: string
  readonly name: string
  readonly args: JsonObject
  readonly path: string
  /** It is code to run, not a tool to call. */
  readonly isCode: boolean
  /** Its place among the calls of its reply. */
  readonly at: number
  /** Whose model made the call. */
  readonly agent: string
  /** An attempt is under way, or was when the process died: a response ends it. */
  intent: boolean
  /** An attempt was interrupted and somebody was asked again: it may have taken effect. */
  wasInterrupted: boolean
  /** The arguments of that attempt when they were not the model's. */
  intentArgs: JsonObject | undefined
  response: FunctionResponse | undefined
  /** The response is a handle; the result comes later. */
  pending: boolean
  /** The sequence number of the handle: a result that was posted before it is none. */
  pendingSince: number
  /** What humans were asked about it, in order. */
  requests: readonly RequestState[]
}

export interface RequestState {
  readonly request: Request
  /** The sequence number of its record: an answer that was posted before it is none. */
  readonly seq: number
  /** As it was sent; undefined while nobody has answered. */
  answer: JsonObject | undefined
  /** Why it counts as denied without an answer. */
  denied: string | undefined
}

export interface ScopeState {
  readonly path: string
  readonly branch: string | undefined
  readonly isolation: string | undefined
  /** The target of the latest transfer; undefined = the agent the scope started with. */
  active: string | undefined
  transfers: number
  /** The calls of the latest model reply, in order. */
  calls: readonly CallState[]
  /** The latest model reply had no calls. */
  answered: boolean
  escalated: boolean
  skipped: boolean
  /** What the results so far rest on, for the reply that follows them. */
  grounding: JsonObject | undefined
  /** Nothing more happens here. */
  ended: boolean
  error: { readonly code: string; readonly message: string } | undefined
  /** Every agent that did something here, and how often it replied. */
  speakers: readonly Speaker[]
  /** How often the agent was told that its answer does not fit its schema. */
  corrections: number
  /** Calls that failed in the latest reply, and how often in a row by now. */
  failures: Failures | undefined
  earlierFailures: Failures | undefined
  /** How many calls the invocation had made when this scope was opened again: older ones belong to a failed attempt. */
  reopenedAt: number
}

/** How often equal calls have failed, by what they have in common. */
type Failures = Map<string, number>

/** An agent in a scope. */
export interface Speaker {
  readonly name: string
  replies: number
}

/** The `status` of a response to a call that was not run because of a limit. It is no failure of the call. */
export const NOT_RUN = 'not_run'

const NONE: readonly never[] = []
const NO_CALLS: readonly CallState[] = []

export class Fold {
  readonly invocationId: string
  /** Who has control at the root until somebody transfers: the latest transfer of earlier invocations. */
  readonly start: string | undefined
  readonly scopes: Map<string, ScopeState> = new Map()
  readonly calls: Map<string, CallState> = new Map()
  /** Model calls of the whole invocation: their replies, and only they, are marked `turnComplete`. */
  replies = 0
  /** The message that began it. */
  userEvent: Event | undefined
  /** Its events came from elsewhere and say nothing about scopes: it is taken as finished. */
  isForeign = false
  /** Every path that has an event below it. */
  #above: Set<string> | undefined
  #requests: Map<string, RequestState> | undefined
  /** The latest answer inside each agent tool. */
  #answers: Map<string, Event> | undefined
  /** The sequence number of the entry that is being added. */
  #seq = 0
  /** Calls that wait for an answer or a result, or did: those without a final response are still in it. */
  #waiting: Set<CallState> | undefined
  /** Ids of calls that have scopes of their own: agent tools and code. */
  scopedCalls: Set<string> | undefined
  /** Changes with every entry. */
  version = 0

  constructor(invocationId: string, start?: string | undefined) {
    this.invocationId = invocationId
    this.start = start
  }

  /** `seq`: its sequence number in the session's log. */
  add(entry: NewEntry, seq = 0): void {
    this.#seq = seq
    this.version++
    if (entry.event) this.#happen(entry.event)
    else if (entry.record.type === 'intent') this.#intend(entry.record)
    else if (entry.record.type === 'request') this.#ask(entry.record)
    else this.#deny(entry.record)
  }

  /** A question by its id. */
  request(id: string): RequestState | undefined {
    return this.#requests?.get(id)
  }

  /** Does a call or a request have this id? */
  hasId(id: string): boolean {
    return this.calls.has(id) || (this.#requests?.has(id) ?? false)
  }

  /** Has anything happened at or below this path? */
  hasStarted(path: string): boolean {
    return this.scopes.has(path) || (this.#above?.has(path) ?? false)
  }

  /** The last thing said in an agent tool's scope, or below it. */
  lastReplyIn(isolation: string): Event | undefined {
    return this.#answers?.get(isolation)
  }

  /** How often an equal call has failed in a row, up to now. */
  failedInARow(call: CallState): number {
    const scope = this.scopes.get(call.path)
    if (!scope?.failures && !scope?.earlierFailures) return 0
    const signature = signatureOf(call)
    return scope.failures?.get(signature) ?? scope.earlierFailures?.get(signature) ?? 0
  }

  /** Calls without a final response, the deepest scopes first. */
  openCalls(): CallState[] {
    const open: CallState[] = []
    for (const scope of this.scopes.values()) {
      if (scope.ended) continue
      for (const call of scope.calls) if (this.isOpen(call)) open.push(call)
    }
    return open.sort((a, b) => depthOf(b.path) - depthOf(a.path))
  }

  /** Open calls that wait for an answer or a result, the deepest scopes first. */
  waitingCalls(): CallState[] {
    if (!this.#waiting?.size) return NO_CALLS as CallState[]
    const open = [...this.#waiting].filter(
      (call) => this.scopes.get(call.path)?.calls[call.at] === call && this.isOpen(call),
    )
    return open.length > 1 ? open.sort((a, b) => depthOf(b.path) - depthOf(a.path)) : open
  }

  /** Does a call wait for an answer or a result? */
  get isWaiting(): boolean {
    return this.#waiting !== undefined && this.#waiting.size > 0
  }

  /** A copy to try entries on: what is added to it does not change this fold. */
  copy(): Fold {
    const copy = new Fold(this.invocationId, this.start)
    const requests = new Map<RequestState, RequestState>()
    for (const call of this.calls.values()) {
      for (const asked of call.requests) requests.set(asked, { ...asked })
      const own = call.requests.map((asked) => requests.get(asked) as RequestState)
      copy.calls.set(call.id, { ...call, requests: own })
    }
    const callOf = ({ id }: CallState): CallState => copy.calls.get(id) as CallState
    for (const [path, scope] of this.scopes) {
      const speakers = scope.speakers.map((one) => ({ ...one }))
      const failures = scope.failures && new Map(scope.failures)
      copy.scopes.set(path, { ...scope, calls: scope.calls.map(callOf), speakers, failures })
    }
    copy.replies = this.replies
    copy.userEvent = this.userEvent
    copy.isForeign = this.isForeign
    copy.#above = this.#above && new Set(this.#above)
    copy.scopedCalls = this.scopedCalls && new Set(this.scopedCalls)
    copy.#answers = this.#answers && new Map(this.#answers)
    copy.#waiting = this.#waiting && new Set(Array.from(this.#waiting, callOf))
    copy.#requests = this.#requests && new Map()
    for (const [id, asked] of this.#requests ?? []) copy.#requests?.set(id, requests.get(asked) ?? { ...asked })
    return copy
  }

  /** Does anybody still wait for it? Not when it, or a call it was made inside of, has its response. */
  isOpen(call: CallState): boolean {
    if (call.response && !call.pending) return false
    for (let path = call.path; path !== ''; ) {
      if (this.scopes.get(path)?.ended) return false
      const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
      const outer = this.calls.get(path.slice(path.lastIndexOf('@') + 1))
      if (outer?.path === above && outer.response && !outer.pending) return false
      path = above
    }
    return true
  }

  #happen(event: Event): void {
    const path = event.nodeInfo?.path
    if (path === undefined || event.author === 'user') {
      this.#hear(event)
      return
    }
    const known = this.scopes.get(path)
    const scope = known ?? this.#open(path, event)
    const { content, actions } = event
    if (this.#requests && this.#isRequest(event)) return // the framework's words, not the model's
    if (content?.role !== 'user') speakerOf(scope, event.author)
    if (content?.role === 'model') this.#reply(scope, event)
    else if (content?.role === 'tool') this.#respond(scope, event)
    else if (known && content && event.isolationScope === path && this.#reopen(path)) return
    else if (content && scope.answered) {
      scope.answered = false // told to answer again
      scope.corrections++
    }
    if (actions.transferToAgent !== undefined) {
      scope.active = actions.transferToAgent
      scope.transfers++
      scope.calls = NO_CALLS
      scope.answered = false
    }
    if (actions.escalate) scope.escalated = true
    if (actions.skipSummarization) {
      scope.skipped = true
      if (event.isolationScope !== undefined && content?.role === 'tool') this.#keepAnswer(event.isolationScope, event)
    }
    if (event.errorCode !== undefined) {
      scope.error = { code: event.errorCode, message: event.errorMessage ?? event.errorCode }
      scope.ended = true
    }
    if (actions.endOfAgent) scope.ended = true
  }

  /**
   * A second opening of an agent tool's scope is another attempt: what failed there goes on from where it failed. False
   * when nothing has failed, so that it is no opening.
   */
  #reopen(isolation: string): boolean {
    let hasFailed = false
    for (const scope of this.scopes.values()) {
      if (scope.isolation !== isolation || !scope.error) continue
      hasFailed = true
      scope.error = undefined
      scope.ended = false
      scope.answered = false
      scope.corrections = 0
      scope.failures = undefined
      scope.earlierFailures = undefined
      scope.speakers = scope.speakers.map(({ name }) => ({ name, replies: 0 }))
      scope.reopenedAt = this.calls.size
    }
    return hasFailed
  }

  /** The user's own: a message, or results of long-running calls. */
  #hear(event: Event): void {
    if (event.author !== 'user') {
      this.isForeign = true
      return
    }
    this.userEvent ??= event
    if (event.content)
      for (const part of event.content.parts) if (part.functionResponse) this.#answer(part.functionResponse)
  }

  /** To a question, or the result of a long-running call. */
  #answer(response: FunctionResponse): void {
    const asked = this.#requests?.get(response.id ?? '')
    if (!asked) {
      if (this.calls.get(response.id ?? '')?.pending) this.#settle(response) // nobody else waits for a user's result
    } else if (asked.answer === undefined && asked.denied === undefined) asked.answer = response.response
  }

  /** The event that shows requests to humans. A model's reply is marked `turnComplete` and is never one. */
  #isRequest({ content, turnComplete }: Event): boolean {
    if (turnComplete || content?.role !== 'model') return false
    return content.parts.some(({ functionCall }) => this.#requests?.has(functionCall?.id ?? ''))
  }

  #reply(scope: ScopeState, event: Event): void {
    if (event.turnComplete) {
      this.replies++
      speakerOf(scope, event.author).replies++
    }
    scope.calls = NO_CALLS
    scope.skipped = false
    scope.grounding = undefined
    scope.earlierFailures = scope.failures
    scope.failures = undefined
    let calls: CallState[] | undefined // most replies have none, or one
    const parts = event.content?.parts ?? []
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at] as Part
      const called = part.functionCall ?? (part.executableCode && codeCallOf(parts, at))
      if (!called || !this.#isFree(called.id)) continue
      const call = this.#call(called, calls?.length ?? 0, scope.path, event.author, !part.functionCall)
      if (calls) calls.push(call)
      else calls = [call]
    }
    scope.calls = calls ?? NO_CALLS
    scope.answered = calls === undefined
    if (scope.answered && event.isolationScope !== undefined) {
      this.#keepAnswer(event.isolationScope, event)
    }
  }

  #keepAnswer(isolation: string, event: Event): void {
    this.#answers ??= new Map()
    this.#answers.set(isolation, event)
  }

  /** An id names one call. Whoever wrote another of it, it is no call: answers could not be told apart. */
  #isFree(id: string | undefined): boolean {
    return id !== undefined && id !== '' && !this.hasId(id) && !isReservedPathStep(id)
  }

  #call({ id = '', name, args }: FunctionCall, at: number, path: string, agent: string, isCode: boolean): CallState {
    const call: CallState = {
      id,
      name,
      args,
      path,
      isCode,
      at,
      agent,
      intent: false,
      wasInterrupted: false,
      intentArgs: undefined,
      response: undefined,
      pending: false,
      pendingSince: 0,
      requests: NONE,
    }
    this.calls.set(id, call)
    return call
  }

  #respond(scope: ScopeState, event: Event): void {
    if (event.groundingMetadata) scope.grounding = event.groundingMetadata
    const parts = event.content?.parts ?? NONE
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at] as Part
      const answer = part.functionResponse ?? (part.codeExecutionResult && responseIn(part))
      if (answer && this.calls.get(answer.id ?? '')?.path === scope.path) this.#settle(answer)
    }
  }

  #settle(response: FunctionResponse): void {
    const call = this.calls.get(response.id ?? '')
    if (!call || (call.response && !call.pending)) return
    call.intent = false
    if (response.willContinue === true && !call.pending) call.pendingSince = this.#seq
    call.response = response
    call.pending = response.willContinue === true
    if (call.pending) this.#wait(call)
    else this.#waiting?.delete(call)
    if (!call.pending && isFailure(response.response) && response.response.status !== NOT_RUN) this.#fail(call)
  }

  #fail(call: CallState): void {
    const scope = this.scopes.get(call.path)
    if (!scope) return
    const signature = signatureOf(call)
    scope.failures ??= new Map()
    const before = scope.failures.get(signature) ?? scope.earlierFailures?.get(signature) ?? 0
    scope.failures.set(signature, before + 1)
  }

  #wait(call: CallState): void {
    this.#waiting ??= new Set()
    this.#waiting.add(call)
  }

  #intend(intent: Intent): void {
    for (const { id, args } of intent.calls) {
      const call = this.calls.get(id)
      if (!call) continue
      call.intent = true
      call.intentArgs = args
    }
  }

  /** A question ends the attempt it was asked in. */
  #ask(request: Request): void {
    const call = this.calls.get(request.callId)
    if (!call) return
    const asked: RequestState = { request, seq: this.#seq, answer: undefined, denied: undefined }
    call.requests = [...call.requests, asked]
    if (!call.response || call.pending) this.#wait(call)
    if (call.intent && request.origin === 'gate') call.wasInterrupted = true // a gate is before the body
    call.intent = false
    this.#requests ??= new Map()
    this.#requests.set(request.id, asked)
  }

  #deny({ requestId, reason }: Denial): void {
    const asked = this.#requests?.get(requestId)
    if (asked?.answer === undefined && asked) asked.denied = reason
  }

  #open(path: string, { branch, isolationScope }: Event): ScopeState {
    const scope: ScopeState = {
      path,
      branch,
      isolation: isolationScope,
      active: undefined,
      transfers: 0,
      calls: NO_CALLS,
      answered: false,
      escalated: false,
      skipped: false,
      grounding: undefined,
      ended: false,
      error: undefined,
      speakers: NONE,
      corrections: 0,
      failures: undefined,
      earlierFailures: undefined,
      reopenedAt: 0,
    }
    this.scopes.set(path, scope)
    let end = path.length
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      this.#above ??= new Set()
      this.#above.add(path.slice(0, at))
      this.scopedCalls ??= new Set()
      this.scopedCalls.add(path.slice(path.lastIndexOf('@', end - 1) + 1, end))
      end = at
    }
    return scope
  }
}

/** Questions about a call that still wait: of one kind, origin and key only the latest counts. */
export function openRequests({ requests, response, pending }: CallState): RequestState[] {
  if (requests.length === 0 || (response && !pending)) return []
  const asked = new Set<string>()
  const open: RequestState[] = []
  for (let at = requests.length - 1; at >= 0; at--) {
    const one = requests[at] as RequestState
    const question = requestKey(one.request)
    if (one.answer === undefined && one.denied === undefined && !asked.has(question)) open.push(one)
    asked.add(question)
  }
  return open.reverse()
}

/** `1` at the end of a path is a round of a workflow, `t1` the first transfer of a scope: no call is named so. */
export function isReservedPathStep(id: string): boolean {
  return /^t?\d+$/.test(id)
}

/** Equal for requests of one kind, origin and key. */
function requestKey({ kind, origin, key }: Request): string {
  return key === undefined ? `${kind} ${origin}` : `${kind} ${origin} ${key}`
}

/** Does a response say that the call failed? */
export function isFailure(response: JsonObject): boolean {
  const error = Object.hasOwn(response, 'error') ? response.error : undefined
  return error !== null && error !== undefined && error !== false
}

/** How often this agent replied in this scope. */
export function repliesOf(scope: ScopeState | undefined, agentName: string): number {
  const speakers = scope?.speakers ?? NONE
  for (let at = 0; at < speakers.length; at++) if (speakers[at]?.name === agentName) return speakers[at]?.replies ?? 0
  return 0
}

/** Has this agent done anything in this scope? */
export function hasActed(scope: ScopeState | undefined, agentName: string): boolean {
  return scope?.speakers.some((one) => one.name === agentName) ?? false
}

function speakerOf(scope: ScopeState, name: string): Speaker {
  const { speakers } = scope
  for (let at = 0; at < speakers.length; at++) if (speakers[at]?.name === name) return speakers[at] as Speaker
  const first: Speaker = { name, replies: 0 }
  scope.speakers = scope.speakers.length ? [...scope.speakers, first] : [first]
  return first
}

/** Equal for calls of one tool with equal arguments. */
export function signatureOf(call: CallState): string {
  return `${call.name}\n${canonicalJson(call.args)}`
}

/** Does a call wait from this entry on: for an answer, or for the result that follows its handle? */
export function startsWaiting({ event, record }: NewEntry): boolean {
  if (record) return record.type === 'request'
  const { content } = event
  if (content?.role !== 'tool') return false
  const { parts } = content
  for (let at = 0; at < parts.length; at++) if (parts[at]?.functionResponse?.willContinue) return true
  return false
}

function depthOf(path: string): number {
  return path.split('/').length
}

registerShape(() => new Fold(''))
