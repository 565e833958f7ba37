import { canonicalJson, type JsonObject } from '../../base/json.ts'
import { type Content, type FunctionResponse, type Part, textOf } from '../../content/content.ts'
import { responseIn } from '../code-call.ts'
import type { Denial, Event, Intent, Interruption, NewEntry, RequestRecord } from '../event.ts'
import { Fold } from '../fold.ts'
import type { CallState, ScopeState } from '../invocation-state.ts'
import { showsRequests } from '../invocation-state.ts'
import { type AnswerMeaning, readAnswer } from '../read-answer.ts'
import { agentAt } from '../scope.ts'
import { CallHistory } from './call-history.ts'
import { ReadyTimes } from './ready-times.ts'
import type { CallView, InvocationView, MarkView, ReplyView, ScopeView, TokenCounts } from './views.ts'

const NO_TOKENS: TokenCounts = { input: 0, output: 0 }

/**
 * Reads the entries of one invocation. The fold decides what they mean: which calls are open, what answers a request, which scope
 * has ended. The reader adds what only people want to know: times, attempts, tokens.
 */
export class InvocationReader {
  readonly #fold: Fold
  readonly #calls: Map<string, CallHistory> = new Map()
  readonly #replies: ReplyView[] = []
  readonly #marks: MarkView[] = []
  readonly #scopes: Map<string, { readonly startedAt: number; updatedAt: number }> = new Map()
  readonly #ready = new ReadyTimes()
  /** Tokens by scope path and by call id; of the whole invocation under the empty key. */
  readonly #tokens: Map<string, TokenCounts> = new Map()
  /** The latest calls of each tool in each scope. */
  readonly #latest: Map<string, CallHistory> = new Map()
  /** Answers that were read before their requests, as in a page that streams. */
  readonly #earlyAnswers: Map<string, { readonly response: JsonObject; readonly event: Event }> = new Map()
  readonly #views: Map<string, CallView> = new Map()
  #view: InvocationView | undefined
  #startedAt: number | undefined
  #updatedAt = 0
  /** After a message or a response, until the next reply. */
  #owesReply = false

  /** `start`: the target of the latest transfer in earlier invocations. */
  constructor(invocationId: string, start: string | undefined) {
    this.#fold = new Fold(invocationId, start)
  }

  /** Adds the next entry. An event is in the form of `toNormalEvent()`. */
  add({ event, record }: NewEntry, seq: number): void {
    this.#view = undefined
    if (event) this.#addEvent(event, seq)
    else if (record.type === 'intent') this.#addIntent(record, seq)
    else if (record.type === 'request') this.#addRequest(record, seq)
    else if (record.type === 'denial') this.#addDenial(record, seq)
    else if (record.type === 'background' || record.type === 'attempt') this.#fold.add({ record }, seq)
    else if (record.type === 'interruption') this.#addInterruption(record, seq)
  }

  /** The state of a call. Undefined if the invocation has no such call. */
  callState(id: string): CallState | undefined {
    return this.#calls.get(id)?.state
  }

  /** The first call of this tool without a response: other programs record responses without ids. */
  openCallOf(name: string): string | undefined {
    for (const { state } of this.#calls.values()) if (state.name === name && !state.response) return state.id
    return undefined
  }

  /** A call as it is now. The same object until the call changes. */
  call(id: string): CallView | undefined {
    const history = this.#calls.get(id)
    if (!history) return undefined
    let view = this.#views.get(id)
    if (!view) {
      view = history.view({ isOpen: this.#fold.isOpen(history.state), tokens: this.#tokens.get(id) })
      this.#views.set(id, view)
    }
    return view
  }

  /** The invocation as it is now. The same object until something changes. */
  view(): InvocationView {
    this.#view ??= this.#makeView()
    return this.#view
  }

  #makeView(): InvocationView {
    const calls = Array.from(this.#calls.keys(), (id) => this.call(id) as CallView)
    const isWaiting = calls.some(({ status }) => status === 'waiting')
    const isRunning = this.#owesReply || calls.some(({ status }) => status === 'running')
    return {
      id: this.#fold.invocationId,
      message: this.#fold.userEvent,
      status: isWaiting ? 'waiting' : isRunning ? 'running' : 'ended',
      startedAt: this.#startedAt ?? 0,
      updatedAt: this.#updatedAt,
      scopes: Array.from(this.#fold.scopes.values(), (scope) => this.#scope(scope)),
      replies: [...this.#replies],
      calls,
      marks: [...this.#marks],
      tokens: this.#tokens.get('') ?? NO_TOKENS,
    }
  }

  #scope({ path, branch, active, error }: ScopeState): ScopeView {
    const agent = agentAt(path)
    const { startedAt = 0, updatedAt = 0 } = this.#scopes.get(path) ?? {}
    const tokens = this.#tokens.get(path) ?? NO_TOKENS
    const activeAgent = active ?? (path.includes('/') ? agent : (this.#fold.start ?? agent))
    return { path, agent, activeAgent, branch, parent: this.callAround(path), startedAt, updatedAt, error, tokens }
  }

  /** Counts the tokens of a reply for the invocation, for the scopes around it, and for the calls around it. */
  #countTokens(path: string, usage: JsonObject): void {
    this.#addTokens('', usage)
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
      this.#addTokens(path.slice(0, end), usage)
    for (let id = this.callAround(path); id !== undefined; ) {
      this.#addTokens(id, usage)
      this.#views.delete(id)
      id = this.callAround(this.#calls.get(id)?.state.path ?? '')
    }
  }

  #addTokens(key: string, usage: JsonObject): void {
    const { input, output } = this.#tokens.get(key) ?? NO_TOKENS
    this.#tokens.set(key, {
      input: input + numberIn(usage.promptTokenCount),
      output: output + numberIn(usage.candidatesTokenCount),
    })
  }

  #addEvent(event: Event, seq: number): void {
    const { author, content, actions, timestamp, nodeInfo, id: eventId } = event
    this.#startedAt ??= timestamp
    this.#updatedAt = Math.max(this.#updatedAt, timestamp)
    const isShown = showsRequests(event)
    const startedAt = this.#ready.before(event)
    if (!isShown || this.#isRecorded(content)) this.#fold.add({ event }, seq)
    this.#trackScope(event, startedAt)
    if (author === 'user') this.#addUserEvent(event)
    else if (!isShown) {
      for (const part of content?.parts ?? []) this.#addResponse(part, event)
      if (content?.role === 'model' || event.errorCode !== undefined) this.#addReply(event, startedAt)
    }
    if (event.errorCode !== undefined || actions?.endOfAgent) this.#views.clear() // the open calls of a scope end with it
    if (actions?.transferToAgent)
      this.#marks.push({ type: 'transfer', at: timestamp, eventId, from: author, to: actions.transferToAgent })
    if (actions?.skipSummarization && nodeInfo && !nodeInfo.path.includes('/')) this.#owesReply = false
    this.#ready.add(event)
  }

  /** Are the requests recorded that an event shows? Without their records, they look like calls to the fold. */
  #isRecorded(content: Content | undefined): boolean {
    return content?.parts.some(({ functionCall }) => this.#fold.request(functionCall?.id ?? '')) === true
  }

  #trackScope({ nodeInfo, timestamp }: Event, startedAt: number): void {
    if (!nodeInfo) return
    const known = this.#scopes.get(nodeInfo.path)
    if (known) known.updatedAt = Math.max(known.updatedAt, timestamp)
    else this.#scopes.set(nodeInfo.path, { startedAt: Math.min(startedAt, timestamp), updatedAt: timestamp })
  }

  #addUserEvent(event: Event): void {
    const { content, timestamp: at, id: eventId } = event
    if (!content) return
    this.#owesReply = true
    let hasAnswers = false
    for (const { functionResponse } of content.parts) {
      if (!functionResponse) continue
      hasAnswers = true
      this.#addAnswer(functionResponse, event)
    }
    if (!hasAnswers && content.parts.length > 0)
      this.#marks.push({ type: 'message', at, eventId, text: textOf(content) })
  }

  /** An answer to a request, or the result of a long-running call. */
  #addAnswer({ id = '', response }: FunctionResponse, event: Event): void {
    const asked = this.#fold.request(id)
    if (asked) {
      const history = this.#calls.get(asked.request.callId)
      if (asked.answer !== response || !history) return // it was answered before
      this.#answer(history, { requestId: id, answer: readAnswer(asked.request.kind, response) }, event)
    } else if (this.#calls.has(id)) this.#respond(id, event, { type: 'answered', value: response })
    else this.#earlyAnswers.set(id, { response, event })
  }

  #answer(
    history: CallHistory,
    { requestId, answer }: { readonly requestId: string; readonly answer: AnswerMeaning },
    { id: eventId, timestamp: at }: Event,
  ): void {
    const { id: callId, path } = history.state
    history.addAnswer(requestId, answer, at)
    this.#marks.push({ type: 'answer', at, eventId, callId, answer })
    this.#ready.addAt(path, at)
    this.#views.delete(callId)
  }

  #addResponse(part: Part, event: Event): void {
    const response = responseIn(part)
    if (response) this.#respond(response.id ?? '', event)
  }

  /** Adds a response that the fold has taken. `answer` is set if a client sent it. */
  #respond(callId: string, event: Event, answer?: AnswerMeaning): void {
    const history = this.#calls.get(callId)
    if (!history?.state.response || history.isEnded) return
    const { id: eventId, timestamp: at } = event
    this.#views.delete(callId)
    if (history.state.pending) {
      history.addHandle(at)
      return
    }
    history.addResponse(event, answer)
    this.#owesReply = true
    if (!answer) return
    this.#marks.push({ type: 'answer', at, eventId, callId, answer })
    this.#ready.addAt(history.state.path, at)
  }

  #addReply(event: Event, startedAt: number): void {
    const { id: eventId, author: agent, content, errorCode: code, timestamp, usageMetadata: usage, fallback } = event
    const model = event.modelVersion ?? fallback?.model
    const { path } = event.nodeInfo ?? { path: agent }
    this.#owesReply = false
    const error = code === undefined ? undefined : { code, message: event.errorMessage ?? '' }
    if (error && code !== 'MODEL_ERROR' && !content) {
      this.#marks.push({ type: 'error', at: timestamp, eventId, ...error })
      return
    }
    const isModel = event.turnComplete === true || usage !== undefined || code === 'MODEL_ERROR'
    const times = { startedAt: Math.min(startedAt, timestamp), endedAt: timestamp }
    this.#replies.push({
      eventId,
      isModel,
      agent,
      path,
      ...times,
      text: textOf(content),
      usage,
      model,
      fallback,
      error,
    })
    if (usage) this.#countTokens(path, usage)
    this.#addCalls(event, content)
  }

  #addCalls(event: Event, content: Content | undefined): void {
    for (const { functionCall, executableCode } of content?.parts ?? []) {
      const id = functionCall?.id ?? executableCode?.id
      const state = id === undefined || this.#calls.has(id) ? undefined : this.#fold.calls.get(id)
      if (state) this.#addCall(state, event)
    }
  }

  #addCall(
    state: CallState,
    { id: eventId, invocationId, timestamp: madeAt, longRunningToolIds, imported }: Event,
  ): void {
    const { id, name, path } = state
    const equal = `${path} ${name} ${canonicalJson(state.args)}`
    const same = `${path} ${name}`
    const before = [this.#latest.get(equal), this.#latest.get(same)].find((one) => one && one.eventId !== eventId)
    const history = new CallHistory(state, {
      eventId,
      invocationId,
      madeAt,
      isLongRunning: longRunningToolIds?.includes(id) === true,
      isImported: imported === true,
      attempt: before?.attemptAfter(state.args) ?? 1,
      parent: this.callAround(path),
    })
    this.#calls.set(id, history)
    this.#latest.set(equal, history)
    this.#latest.set(same, history)
  }

  /** The call whose agent or code works in this scope. It was made in the scope above: no call is around itself, whatever a log says. */
  callAround(path: string): string | undefined {
    for (let scope = path; scope.includes('/'); ) {
      const id = scope.slice(scope.lastIndexOf('@') + 1)
      scope = scope.slice(0, scope.lastIndexOf('/'))
      if (this.#calls.get(id)?.state.path === scope) return id
    }
    return undefined
  }

  #addIntent(intent: Intent, seq: number): void {
    for (const { id, args } of intent.calls) {
      const history = this.#calls.get(id)
      history?.addStart(args, history.state.intent)
      this.#views.delete(id)
    }
    this.#fold.add({ record: intent }, seq)
  }

  #addRequest(request: RequestRecord, seq: number): void {
    this.#fold.add({ record: request }, seq)
    const { callId, id, invocationId, createdAt: madeAt, path } = request
    const state = this.#fold.calls.get(callId)
    if (!state) return
    let history = this.#calls.get(callId)
    if (!history) {
      const parent = this.callAround(path)
      history = new CallHistory(state, {
        eventId: '',
        invocationId,
        madeAt,
        isLongRunning: false,
        isImported: false,
        attempt: 1,
        parent,
      })
      this.#calls.set(callId, history)
    }
    history.addRequest(request)
    this.#views.delete(callId)
    const early = this.#earlyAnswers.get(id)
    if (!early) return
    this.#earlyAnswers.delete(id)
    this.#fold.add({ event: early.event }, seq)
    this.#answer(history, { requestId: id, answer: readAnswer(request.kind, early.response) }, early.event)
  }

  #addDenial(denial: Denial, seq: number): void {
    this.#fold.add({ record: denial }, seq)
    const { requestId, reason } = denial
    const callId = this.#fold.request(requestId)?.request.callId ?? ''
    this.#calls.get(callId)?.addDenial(requestId, { type: 'expired', reason })
    this.#views.delete(callId)
  }

  #addInterruption(interruption: Interruption, seq: number): void {
    this.#fold.add({ record: interruption }, seq)
    this.#views.delete(interruption.callId)
  }
}

function numberIn(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
