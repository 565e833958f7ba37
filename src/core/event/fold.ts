// The state of one invocation, computed from its log entries and from nothing else.
import type { FunctionResponse, Part } from '../content/content.ts'
import { codeCallOf, responseIn } from './code-call.ts'
import type { AttemptRecord, BackgroundRecord, Denial, Event, Intent, NewEntry, RequestRecord } from './event.ts'
import {
  addAnswer,
  addAttempt,
  addBackground,
  addDenial,
  addInterruption,
  addRequest,
  addResponse,
  type CallState,
  countFailure,
  createCall,
  createScope,
  createToolsetCall,
  isFailure,
  isFinal,
  isReservedPathStep,
  NO_CALLS,
  NOT_RUN,
  type RequestState,
  type RunKind,
  reopenScopes,
  type ScopeState,
  signatureOf,
  speakerOf,
  stillOpen,
} from './invocation-state.ts'
import { depthOf } from './scope.ts'

const NONE: readonly never[] = []
const NO_TOOLSETS: ReadonlyMap<string, CallState[]> = new Map()

/** The members of an event that belong to its scope. */
type ScopeOfEvent = { readonly [K in 'branch' | 'isolationScope']?: Event[K] | undefined }

/** The state of a fold, without what follows from it. */
export interface FoldState {
  /** The id of the invocation. */
  readonly invocationId: string
  /** The agent that is active at the root before the first transfer. */
  readonly start: string | undefined
  /** The sequence number of the first entry. */
  readonly firstSeq: number
  /** The number of model replies in all scopes. */
  readonly replies: number
  /** The user message that started the invocation. */
  readonly userEvent: Event | undefined
  /** Whether another program wrote the events. */
  readonly isForeign: boolean
  /** The scopes, in the order of their first events. */
  readonly scopes: readonly ScopeState[]
  /** The calls, in the order of the log. */
  readonly calls: readonly CallState[]
  /** The calls that stand for toolsets, by scope path. They are in `calls`, too. */
  readonly toolsetCalls: ReadonlyMap<string, CallState[]>
  /** The latest final reply inside each agent tool. */
  readonly lastReplies: readonly (readonly [isolation: string, reply: Event])[]
  /** The calls that wait, or have waited and have no final response. They are in `calls`, too. */
  readonly waiting: readonly CallState[]
}

/** The state of one invocation. `add` is the reducer; everything else reads. */
export class Fold {
  /** The id of the invocation. */
  readonly invocationId: string
  /** The agent that is active at the root before the first transfer: the target of the latest earlier transfer. */
  readonly start: string | undefined
  /** Scopes by path. */
  readonly scopes: Map<string, ScopeState> = new Map()
  /** Calls by id. */
  readonly calls: Map<string, CallState> = new Map()
  /** The sequence number of the first entry. 0: there is none. */
  firstSeq = 0
  /** The number of model replies in all scopes. Only model replies are marked `turnComplete`. */
  replies = 0
  /** The user message that started the invocation. */
  userEvent: Event | undefined
  /** Whether another program wrote the events, without scope paths. Then the invocation counts as finished. */
  isForeign = false
  /** Ids of calls with a scope of their own: agent tools and code. */
  scopedCalls: Set<string> | undefined
  /** Toolsets that requested a credential before they listed their tools, by scope path. Each counts as an open call. */
  toolsetCalls: Map<string, CallState[]> | undefined
  /** Increases with every entry. */
  version = 0
  /** Paths of scopes above a scope with an event. */
  #pathsAbove: Set<string> | undefined
  #requests: Map<string, RequestState> | undefined
  /** The latest final reply inside each agent tool. */
  #lastReplies: Map<string, Event> | undefined
  /** The sequence number of the current entry. */
  #seq = 0
  /** Calls that wait for an answer or a result. An answered call stays in the set until its final response. */
  #waiting: Set<CallState> | undefined

  constructor(invocationId: string, start?: string | undefined) {
    this.invocationId = invocationId
    this.start = start
  }

  /** A fold in a state that was stored. Further entries change it as they would have changed the stored fold. */
  static restore({ invocationId, start, scopes, calls, toolsetCalls, ...stored }: FoldState): Fold {
    const fold = new Fold(invocationId, start)
    fold.version = 1 // it has entries
    fold.firstSeq = stored.firstSeq
    fold.replies = stored.replies
    fold.userEvent = stored.userEvent
    fold.isForeign = stored.isForeign
    for (const scope of scopes) Object.assign(fold.#openScope(scope.path, { isolationScope: scope.isolation }), scope)
    for (const call of calls) fold.#addCall(call)
    const requests = calls.flatMap((call) => call.requests).sort((one, other) => one.seq - other.seq)
    // of two requests with one id, the later one counts
    if (requests.length) fold.#requests = new Map(requests.map((state) => [state.request.id, state]))
    if (toolsetCalls.size) fold.toolsetCalls = new Map(toolsetCalls)
    for (const [isolation, event] of stored.lastReplies) fold.#setLastReply(isolation, event)
    for (const call of stored.waiting) fold.#addWaiting(call)
    return fold
  }

  /** What a store must keep, so that `restore` makes an equal fold. */
  get stored(): FoldState {
    const { invocationId, start, firstSeq, replies, userEvent, isForeign } = this
    return {
      invocationId,
      start,
      firstSeq,
      replies,
      userEvent,
      isForeign,
      scopes: [...this.scopes.values()],
      calls: [...this.calls.values()],
      toolsetCalls: this.toolsetCalls ?? NO_TOOLSETS,
      lastReplies: [...(this.#lastReplies ?? NONE)],
      waiting: [...(this.#waiting ?? NONE)],
    }
  }

  /** Adds the next entry. `seq`: its sequence number in the session's log. */
  add(entry: NewEntry, seq = 0): void {
    this.#seq = seq
    if (this.firstSeq === 0) this.firstSeq = seq
    this.version++
    if (entry.event) this.#foldEvent(entry.event)
    else if (entry.record.type === 'intent') this.#foldIntent(entry.record)
    else if (entry.record.type === 'request') this.#foldRequest(entry.record)
    else if (entry.record.type === 'denial') this.#foldDenial(entry.record)
    else if (entry.record.type === 'background') this.#foldBackground(entry.record)
    else if (entry.record.type === 'attempt') this.#foldAttempt(entry.record)
    else if (entry.record.type === 'interruption') this.#foldInterruption(entry.record.callId)
  }

  /** The request with this id. */
  request(id: string): RequestState | undefined {
    return this.#requests?.get(id)
  }

  /** Does a call or a request have this id? */
  hasId(id: string): boolean {
    return this.calls.has(id) || (this.#requests?.has(id) ?? false)
  }

  /** Does the scope at this path, or one below it, have an event? */
  hasStarted(path: string): boolean {
    return this.scopes.has(path) || (this.#pathsAbove?.has(path) ?? false)
  }

  /** The latest final reply in the scope of an agent tool, or below it. */
  lastReplyIn(isolation: string): Event | undefined {
    return this.#lastReplies?.get(isolation)
  }

  /** How often in a row equal calls have failed so far. */
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
    const open = [...this.#waiting].filter((call) => this.#isCurrent(call) && this.isOpen(call))
    return open.length > 1 ? open.sort((a, b) => depthOf(b.path) - depthOf(a.path)) : open
  }

  /** Does its scope still wait for the call, or is it a toolset? */
  #isCurrent(call: CallState): boolean {
    if (this.scopes.get(call.path)?.calls.includes(call)) return true
    return this.toolsetCalls?.get(call.path)?.includes(call) ?? false
  }

  /** Does a call wait for an answer or a result? */
  get isWaiting(): boolean {
    return this.#waiting !== undefined && this.#waiting.size > 0
  }

  /** Does the call still need a response? False when the call, or a call around its scope, has a final response. */
  isOpen(call: CallState): boolean {
    if (isFinal(call)) return false
    for (let path = call.path; path !== ''; ) {
      if (this.scopes.get(path)?.ended) return false
      const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
      const outer = this.calls.get(path.slice(path.lastIndexOf('@') + 1))
      if (outer?.path === above && isFinal(outer)) return false
      path = above
    }
    return true
  }

  #foldEvent(event: Event): void {
    const path = event.nodeInfo?.path
    if (path === undefined || event.author === 'user') {
      this.#foldUserEvent(event)
      return
    }
    const known = this.scopes.get(path)
    const scope = known ?? this.#openScope(path, event)
    const { content, actions } = event
    if (this.#requests && this.#showsRequests(event)) {
      // the framework wrote it, not the model
      for (const call of this.toolsetCalls?.get(path) ?? NO_CALLS) call.agent ||= event.author
      return
    }
    if (content?.role !== 'user') speakerOf(scope, event.author)
    if (content?.role === 'model') this.#foldReply(scope, event)
    else if (content?.role === 'tool') this.#foldResponses(scope, event)
    else if (known && content && event.isolationScope === path && reopenScopes(this, path)) return
    else if (content && scope.answered) {
      scope.answered = false // a request to correct the reply
      scope.corrections++
    }
    if (actions.transferToAgent !== undefined) {
      scope.active = actions.transferToAgent
      scope.transfers++
      scope.calls = stillOpen(scope.calls) ?? NO_CALLS // calls that run in the background of a live session
      scope.answered = false
    }
    if (actions.escalate) scope.escalated = true
    if (actions.skipSummarization) {
      scope.skipped = true
      if (event.isolationScope !== undefined && content?.role === 'tool')
        this.#setLastReply(event.isolationScope, event)
    }
    if (event.errorCode !== undefined) {
      scope.error = { code: event.errorCode, message: event.errorMessage ?? event.errorCode }
      scope.ended = true
    }
    if (actions.endOfAgent) scope.ended = true
  }

  /** Adds a message, an answer to a request, or a result of a long-running call. */
  #foldUserEvent(event: Event): void {
    if (event.author !== 'user') {
      this.isForeign = true
      return
    }
    this.userEvent ??= event
    if (event.content)
      for (const part of event.content.parts) if (part.functionResponse) this.#foldAnswer(part.functionResponse)
  }

  /** Adds the answer to a request, or the result of a long-running call. */
  #foldAnswer(response: FunctionResponse): void {
    const request = this.#requests?.get(response.id ?? '')
    if (!request) {
      if (this.calls.get(response.id ?? '')?.pending) this.#foldResponse(response) // users send results of pending calls only
    } else addAnswer(request, response.response)
  }

  /** Is it the event that shows requests to the client? Model replies are marked `turnComplete`; such an event is not. */
  #showsRequests({ content, turnComplete }: Event): boolean {
    if (turnComplete || content?.role !== 'model') return false
    return content.parts.some(({ functionCall }) => this.#requests?.has(functionCall?.id ?? ''))
  }

  #foldReply(scope: ScopeState, event: Event): void {
    if (event.turnComplete) {
      this.replies++
      speakerOf(scope, event.author).replies++
    }
    const open = stillOpen(scope.calls)
    scope.skipped = false
    scope.grounding = undefined
    scope.earlierFailures = scope.failures
    scope.failures = undefined
    let calls: CallState[] | undefined // most replies have none, or one
    const parts = event.content?.parts ?? []
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as Part
      const called = part.functionCall ?? (part.executableCode && codeCallOf(parts, index))
      if (!called || !this.#isNewCallId(called.id)) continue
      const at = calls?.length ?? 0
      const isCode = !part.functionCall
      const madeIn: RunKind = event.live === true ? 'live' : 'text'
      const made = { path: scope.path, agent: event.author, at, isCode, madeIn }
      const call = this.#addCall(createCall(called, made))
      if (calls) calls.push(call)
      else calls = [call]
    }
    scope.calls = calls && open ? [...open, ...calls] : (calls ?? open ?? NO_CALLS)
    scope.answered = scope.calls === NO_CALLS
    if (scope.answered && event.isolationScope !== undefined) this.#setLastReply(event.isolationScope, event)
  }

  #setLastReply(isolation: string, event: Event): void {
    this.#lastReplies ??= new Map()
    this.#lastReplies.set(isolation, event)
  }

  /** Is the call id new? A second call with the same id is ignored: responses name only the id. */
  #isNewCallId(id: string | undefined): boolean {
    return id !== undefined && id !== '' && !this.hasId(id) && !isReservedPathStep(id)
  }

  #addCall(call: CallState): CallState {
    this.calls.set(call.id, call)
    return call
  }

  #foldResponses(scope: ScopeState, event: Event): void {
    if (event.groundingMetadata) scope.grounding = event.groundingMetadata
    const parts = event.content?.parts ?? NONE
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at] as Part
      const response = part.functionResponse ?? (part.codeExecutionResult && responseIn(part))
      if (!response || this.calls.get(response.id ?? '')?.path !== scope.path) continue
      this.#foldResponse(response, event.timestamp)
    }
  }

  /** `at`: the time of the event. A result of a client needs none: its call is pending already. */
  #foldResponse(response: FunctionResponse, at?: number): void {
    const call = this.calls.get(response.id ?? '')
    if (!call || isFinal(call)) return
    addResponse(call, response, this.#seq, at)
    if (call.pending) this.#addWaiting(call)
    else this.#waiting?.delete(call)
    if (!call.pending && isFailure(response.response) && response.response.status !== NOT_RUN)
      countFailure(this.scopes.get(call.path), call)
  }

  #addWaiting(call: CallState): void {
    this.#waiting ??= new Set()
    this.#waiting.add(call)
  }

  #foldIntent(intent: Intent): void {
    for (const { id, args } of intent.calls) {
      const call = this.calls.get(id)
      if (!call) continue
      call.intent = true
      call.intentArgs = args
    }
  }

  #foldRequest(request: RequestRecord): void {
    const call = this.calls.get(request.callId) ?? this.#addToolset(request)
    if (!call) return
    const state: RequestState = { request, seq: this.#seq, answer: undefined, denied: undefined }
    addRequest(call, state)
    if (!isFinal(call)) this.#addWaiting(call)
    this.#requests ??= new Map()
    this.#requests.set(request.id, state)
  }

  #addToolset(request: RequestRecord): CallState | undefined {
    const call = createToolsetCall(request)
    if (!call) return undefined
    const { path } = request
    this.#addCall(call)
    this.toolsetCalls ??= new Map()
    this.toolsetCalls.set(path, [...(this.toolsetCalls.get(path) ?? []), call])
    return call
  }

  #foldDenial({ requestId, reason }: Denial): void {
    const request = this.#requests?.get(requestId)
    if (request) addDenial(request, reason)
  }

  #foldBackground({ calls }: BackgroundRecord): void {
    for (const one of calls) {
      const call = this.calls.get(one.id)
      if (call) addBackground(call, one)
    }
  }

  #foldAttempt(attempt: AttemptRecord): void {
    const call = this.calls.get(attempt.callId)
    if (call) addAttempt(call, attempt)
  }

  #foldInterruption(callId: string): void {
    const call = this.calls.get(callId)
    if (call) addInterruption(call)
  }

  #openScope(path: string, { branch, isolationScope }: ScopeOfEvent): ScopeState {
    const scope = createScope({ path, branch, isolation: isolationScope })
    this.scopes.set(path, scope)
    let end = path.length
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      this.#pathsAbove ??= new Set()
      this.#pathsAbove.add(path.slice(0, at))
      this.scopedCalls ??= new Set()
      this.scopedCalls.add(path.slice(path.lastIndexOf('@', end - 1) + 1, end))
      end = at
    }
    return scope
  }
}
