import type { Part } from '../content/content.ts'
import { codeCallOf, responseIn } from './code-call.ts'
import type { Event, NewEntry, RequestRecord } from './event.ts'
import type { Fold } from './fold.ts'
import {
  addAnswer,
  addAttempt,
  addBackground,
  addDenial,
  addInterruption,
  addRequest,
  addResponse,
  type CallState,
  createCall,
  createToolsetCall,
  isFinal,
  type RequestState,
} from './invocation-state.ts'
import { depthOf } from './scope.ts'

/**
 * The calls that wait for an answer or a result once these entries are recorded. The fold does not change: the calls that the
 * entries concern are copied. Equal to `waitingCalls()` of the fold after the entries, up to their order.
 */
export function waitingCallsAfter(fold: Fold, entries: readonly NewEntry[]): CallState[] {
  const calls = new CallsAfter(fold)
  for (const entry of entries) calls.add(entry)
  return calls.waiting()
}

class CallsAfter {
  readonly #fold: Fold
  /** Copies of the calls that the entries concern, and their new calls, by id. */
  readonly #changed: Map<string, CallState> = new Map()
  /** The paths of scopes that the entries end. */
  readonly #ended: Set<string> = new Set()
  readonly #requests: Map<string, RequestState> = new Map()

  constructor(fold: Fold) {
    this.#fold = fold
  }

  add({ event, record }: NewEntry): void {
    if (event) this.#addEvent(event)
    else if (record.type === 'request') this.#addRequest(record)
    else if (record.type === 'denial') {
      const state = this.#request(record.requestId)
      if (state) addDenial(state, record.reason)
    } else if (record.type === 'background') {
      for (const one of record.calls) {
        const call = this.#call(one.id)
        if (call) addBackground(call, one)
      }
    } else if (record.type === 'attempt') {
      const call = this.#call(record.callId)
      if (call) addAttempt(call, record)
    } else if (record.type === 'interruption') {
      const call = this.#call(record.callId)
      if (call) addInterruption(call)
    }
  }

  waiting(): CallState[] {
    const before = this.#fold.waitingCalls().filter(({ id }) => !this.#changed.has(id))
    const changed = [...this.#changed.values()].filter(
      ({ requests, pending, isLost }) => pending || isLost || requests.length > 0,
    )
    return [...before, ...changed]
      .filter((call) => this.#isOpen(call))
      .sort((one, other) => depthOf(other.path) - depthOf(one.path))
  }

  #addEvent(event: Event): void {
    const { author, nodeInfo, content, actions, errorCode } = event
    if (author === 'user' || !nodeInfo) {
      if (author === 'user') for (const part of content?.parts ?? []) this.#addAnswer(part)
      return
    }
    if (this.#showsRequests(event)) return
    if (content?.role === 'model') this.#addCalls(event, nodeInfo.path, content.parts)
    if (content?.role === 'tool') for (const part of content.parts) this.#addResponse(part, nodeInfo.path, event)
    if (errorCode !== undefined || actions.endOfAgent) this.#ended.add(nodeInfo.path)
  }

  #showsRequests({ turnComplete, content }: Event): boolean {
    if (turnComplete || content?.role !== 'model') return false
    return content.parts.some(({ functionCall }) => this.#request(functionCall?.id ?? '') !== undefined)
  }

  #addCalls({ author: agent, live }: Event, path: string, parts: readonly Part[]): void {
    for (const [at, part] of parts.entries()) {
      const called = part.functionCall ?? (part.executableCode && codeCallOf(parts, at))
      if (!called?.id || this.#call(called.id)) continue
      const made = { path, agent, at, isCode: !part.functionCall, madeIn: live ? 'live' : 'text' } as const
      this.#changed.set(called.id, createCall(called, made))
    }
  }

  #addResponse(part: Part, path: string, { timestamp }: Event): void {
    const response = part.functionResponse ?? (part.codeExecutionResult && responseIn(part))
    const call = response && this.#call(response.id ?? '')
    if (call?.path === path && !isFinal(call)) addResponse(call, response as NonNullable<typeof response>, 0, timestamp)
  }

  #addAnswer({ functionResponse: answer }: Part): void {
    if (!answer) return
    const state = this.#request(answer.id ?? '')
    if (state) addAnswer(state, answer.response)
    else if (this.#known(answer.id ?? '')?.pending) {
      const call = this.#call(answer.id ?? '')
      if (call) addResponse(call, answer, 0, undefined)
    }
  }

  #addRequest(request: RequestRecord): void {
    const known = this.#call(request.callId)
    const call = known ?? createToolsetCall(request)
    if (!call) return
    if (!known) this.#changed.set(call.id, call)
    const state = { request, seq: 0, answer: undefined, denied: undefined }
    addRequest(call, state)
    this.#requests.set(request.id, state)
  }

  #known(id: string): CallState | undefined {
    return this.#changed.get(id) ?? this.#fold.calls.get(id)
  }

  /** A copy of a call that can be changed, with copies of its requests. */
  #call(id: string): CallState | undefined {
    const changed = this.#changed.get(id)
    const call = this.#fold.calls.get(id)
    if (changed || !call) return changed
    const copy = { ...call, requests: call.requests.map((state) => ({ ...state })) }
    for (const state of copy.requests) this.#requests.set(state.request.id, state)
    this.#changed.set(id, copy)
    return copy
  }

  /** A copy of a request that can be changed. */
  #request(id: string): RequestState | undefined {
    if (!this.#requests.has(id)) this.#call(this.#fold.request(id)?.request.callId ?? '')
    return this.#requests.get(id)
  }

  /** Like `isOpen()` of the fold, with what the entries have ended. */
  #isOpen(call: CallState): boolean {
    if (isFinal(call)) return false
    for (let path = call.path; path !== ''; ) {
      if (this.#ended.has(path) || this.#fold.scopes.get(path)?.ended) return false
      const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
      const outer = this.#known(path.slice(path.lastIndexOf('@') + 1))
      if (outer?.path === above && isFinal(outer)) return false
      path = above
    }
    return true
  }
}
