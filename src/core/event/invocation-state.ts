// The states of calls, requests and scopes that the fold computes from the log of an invocation.
import { canonicalJson, type JsonObject } from '../base/json.ts'
import type { FunctionCall, FunctionResponse } from '../content/content.ts'
import type { AttemptRecord, BackgroundCall, Event, NewEntry, RequestRecord } from './event.ts'
import { REQUEST_PREFIX, TOOLSET_CALL_PREFIX, toolsetNameOf } from './request-names.ts'

/** Who drives a run: the agent loop, with a text model, or a live model that speaks. */
export type RunKind = 'text' | 'live'

/** The state of one tool call, or of code to run. */
export interface CallState {
  /** The id of the call. Unique in its invocation. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The arguments the model sent. */
  readonly args: JsonObject
  /** The path of the scope that made the call. */
  readonly path: string
  /** True for code to run, false for a tool call. */
  readonly isCode: boolean
  /** The index of the call in its batch. */
  readonly at: number
  /** The kind of run whose model made the call. */
  readonly madeIn: RunKind
  /** The name of the agent whose model made the call. For a toolset: of its agent, once the request is shown. */
  agent: string
  /** An attempt has started and has no response yet. True after a restart means that the attempt was interrupted. */
  intent: boolean
  /** An attempt was interrupted and a gate then requested approval again: the attempt may have taken effect. */
  wasInterrupted: boolean
  /** The arguments of the attempt when they differ from those the model sent. */
  intentArgs: JsonObject | undefined
  /** The latest response; undefined until there is one. */
  response: FunctionResponse | undefined
  /** The response is a handle of long-running work; the result comes later. */
  pending: boolean
  /** What the body of a long-running call returned first. Later partial results do not change it. */
  handle: JsonObject | undefined
  /** When the handle was recorded, in seconds since the epoch. */
  handledAt: number | undefined
  /** The sequence number of the handle. A result posted before the handle is ignored. */
  pendingSince: number
  /** The body that works on the call in the background; undefined for other calls. No client gives its result. */
  background: BackgroundBody | undefined
  /** A background body gave no result in time. Its attempt counts as interrupted, until the next response. */
  isLost: boolean
  /** All requests about this call, in order. */
  requests: readonly RequestState[]
}

/** A body that runs in the background. */
export interface BackgroundBody {
  /** When it has ended at the latest, in seconds since the epoch. Undefined: it has no time limit. */
  readonly until: number | undefined
  /** Was an intent recorded before it started? */
  readonly hasIntent: boolean
  /** Set if an engine has a worker run it, in whatever process. */
  readonly engine: EngineBody | undefined
}

/** A body that an engine has a worker run. */
export interface EngineBody {
  /** The arguments, if they differ from those the model sent. */
  readonly args: JsonObject | undefined
  /** The latest attempt. Undefined: the body has not begun. */
  readonly attempt: Pick<AttemptRecord, 'id' | 'crashes'> | undefined
}

/** A request to a human and its answer. */
export interface RequestState {
  /** The record of the request. */
  readonly request: RequestRecord
  /** The sequence number of the record. An answer posted before the request is ignored. */
  readonly seq: number
  /** The answer as the client sent it; undefined while there is none. */
  answer: JsonObject | undefined
  /** The reason of a denial that the framework recorded, such as expiry. Undefined: not denied by it. */
  denied: string | undefined
}

/** The `status` of a response to a call that was not run because of a limit. Such a response is not a failure of the call. */
export const NOT_RUN = 'not_run'

/** The signature of a call: equal for calls of one tool with equal arguments. */
export function signatureOf(call: CallState): string {
  return `${call.name}\n${canonicalJson(call.args)}`
}

/** The key of a request: equal for requests of one kind, origin and key. */
function requestKey({ kind, origin, key }: RequestRecord): string {
  return key === undefined ? `${kind} ${origin}` : `${kind} ${origin} ${key}`
}

const NO_REQUESTS: readonly RequestState[] = []

/** A call that has just been made. */
export function createCall(
  { id = '', name, args }: FunctionCall,
  { path, agent, at, isCode, madeIn }: Pick<CallState, 'path' | 'agent' | 'at' | 'isCode' | 'madeIn'>,
): CallState {
  return {
    id,
    name,
    args,
    path,
    isCode,
    madeIn,
    at,
    agent,
    intent: false,
    wasInterrupted: false,
    intentArgs: undefined,
    response: undefined,
    pending: false,
    handle: undefined,
    handledAt: undefined,
    pendingSince: 0,
    background: undefined,
    isLost: false,
    requests: NO_REQUESTS,
  }
}

/** The call that stands for a toolset which requests a credential; undefined if the request is about another call. */
export function createToolsetCall({ callId: id, path }: RequestRecord): CallState | undefined {
  if (!id.startsWith(TOOLSET_CALL_PREFIX)) return undefined
  const made = { path, agent: '', at: -1, isCode: false, madeIn: 'text' } as const
  return createCall({ id, name: toolsetNameOf(id, path), args: {} }, made)
}

/** Does the call have a final response? */
export function isFinal({ response, pending }: CallState): boolean {
  return response !== undefined && !pending
}

/** Adds a response. `seq` and `at` are the sequence number and the time of its event. Call it before the final response only. */
export function addResponse(call: CallState, response: FunctionResponse, seq: number, at: number | undefined): void {
  call.intent = false
  call.isLost = false
  if (response.willContinue === true && !call.pending) {
    call.pendingSince = seq
    call.handle = response.response
    call.handledAt = at
  }
  call.response = response
  call.pending = response.willContinue === true
}

/** Notes that a body works on the call in the background. Call it before its handle is added, which clears the intent. */
export function addBackground(call: CallState, { until, engine }: BackgroundCall): void {
  if (isFinal(call)) return
  // a call that the engine is asked about again has the record a second time
  if (call.pending && call.background) call.background = { ...call.background, until }
  else call.background = { until, hasIntent: call.intent, engine: engine && { args: engine.args, attempt: undefined } }
}

/** Notes that a worker is about to run the body of a background call for an engine. */
export function addAttempt(call: CallState, { id, crashes, until }: AttemptRecord): void {
  const { pending, background } = call
  if (pending && background?.engine)
    call.background = { ...background, until, engine: { ...background.engine, attempt: { id, crashes } } }
}

/** Makes a background call whose body is lost an interrupted one. Calls without such a body do not change. */
export function addInterruption(call: CallState): void {
  if (!call.pending || !call.background) return
  const { hasIntent, engine } = call.background
  call.intent = hasIntent && (!engine || engine.attempt !== undefined) // a body without an attempt has not begun
  call.isLost = true
  call.pending = false
  call.response = undefined
  call.background = undefined
}

/** Adds a request, and clears the intent: a request ends the attempt that made it. */
export function addRequest(call: CallState, state: RequestState): void {
  call.requests = [...call.requests, state]
  if (call.intent && state.request.origin === 'gate') call.wasInterrupted = true // gates come before the intent
  call.intent = false
}

/** Adds the answer of a client. The first answer counts, and none after a denial. */
export function addAnswer(state: RequestState, answer: JsonObject): void {
  if (state.answer === undefined && state.denied === undefined) state.answer = answer
}

/** Adds the denial of a request that expired without an answer. */
export function addDenial(state: RequestState, reason: string): void {
  if (state.answer === undefined) state.denied = reason
}

/** The calls without a final response; undefined when there are none. A live model replies while earlier calls are open. */
export function stillOpen(calls: readonly CallState[]): CallState[] | undefined {
  let open: CallState[] | undefined
  for (let at = 0; at < calls.length; at++) {
    const call = calls[at] as CallState
    if (call.response && !call.pending) continue
    if (open) open.push(call)
    else open = [call]
  }
  return open
}

/** The open requests of a call. Of requests of one kind, origin and key only the latest counts. */
export function openRequests({ requests, response, pending }: CallState): RequestState[] {
  if (requests.length === 0 || (response && !pending)) return []
  const seen = new Set<string>()
  const open: RequestState[] = []
  for (let at = requests.length - 1; at >= 0; at--) {
    const one = requests[at] as RequestState
    const key = requestKey(one.request)
    if (one.answer === undefined && one.denied === undefined && !seen.has(key)) open.push(one)
    seen.add(key)
  }
  return open.reverse()
}

/** True for ids that scope paths use: `1` is a round of a workflow, `t1` the first transfer. No call has such an id. */
export function isReservedPathStep(id: string): boolean {
  return /^t?\d+$/.test(id)
}

/** Is it the response of a call that failed? */
export const isFailure = (response: JsonObject): boolean =>
  Object.hasOwn(response, 'error') && (response.error ?? false) !== false

/** Does this entry make a call wait, for an answer or for the result of long-running work? */
export const startsWaiting = ({ event, record }: NewEntry): boolean =>
  record
    ? record.type === 'request'
    : event.content?.role === 'tool' &&
      event.content.parts.some(({ functionResponse }) => functionResponse?.willContinue)

/**
 * Does the event show requests of the framework to a client? A model may call a function of the same name, but its replies have
 * `turnComplete`, and the calls of its code have no ids in `longRunningToolIds`.
 */
export function showsRequests({ content, longRunningToolIds, turnComplete }: Event): boolean {
  if (!longRunningToolIds || turnComplete || content?.role !== 'model') return false
  return content.parts.some(
    ({ functionCall: call }) => call?.name?.startsWith(REQUEST_PREFIX) && longRunningToolIds.includes(call.id ?? ''),
  )
}

/** The state of one scope. */
export interface ScopeState {
  /** The scope path, such as `root/child@1`. */
  readonly path: string
  /** The branch of the scope; set below a ParallelAgent. */
  readonly branch: string | undefined
  /** The path of the enclosing agent tool scope, if any. */
  readonly isolation: string | undefined
  /** The target of the latest transfer; undefined = the agent the scope started with. */
  active: string | undefined
  /** The number of transfers so far. */
  transfers: number
  /** The calls of the latest model reply, in order. Before them, open calls of earlier replies, as live models make them. */
  calls: readonly CallState[]
  /** The latest model reply had no calls, and none was open. */
  answered: boolean
  /** An event of the scope has `escalate`. */
  escalated: boolean
  /** A response since the latest model reply has `skipSummarization`. */
  skipped: boolean
  /** Grounding of the results since the latest model reply; it is added to the next reply. */
  grounding: JsonObject | undefined
  /** The scope is finished. */
  ended: boolean
  /** The error that ended the scope. */
  error: { readonly code: string; readonly message: string } | undefined
  /** Every agent that was active in the scope, with the number of its replies. */
  speakers: readonly Speaker[]
  /** How often a reply did not match the output schema of the agent and a correction was requested. */
  corrections: number
  /** Calls of the latest reply that failed, and how often in a row each has failed. */
  failures: Failures | undefined
  /** `failures` of the reply before. */
  earlierFailures: Failures | undefined
  /** The number of calls of the invocation when this scope was opened again. Earlier calls belong to a failed attempt. */
  reopenedAt: number
}

/** How often in a row equal calls have failed, by signature. */
type Failures = Map<string, number>

/** An agent in a scope. */
interface Speaker {
  /** The name of the agent. */
  readonly name: string
  /** The number of its model replies. */
  replies: number
}

/** A scope without calls: the `calls` of a scope whose latest reply made none. */
export const NO_CALLS: readonly CallState[] = []

const NO_SPEAKERS: readonly Speaker[] = []

/** A scope before its first event. */
export function createScope({
  path,
  branch,
  isolation,
}: Pick<ScopeState, 'path' | 'branch' | 'isolation'>): ScopeState {
  return {
    path,
    branch,
    isolation,
    active: undefined,
    transfers: 0,
    calls: NO_CALLS,
    answered: false,
    escalated: false,
    skipped: false,
    grounding: undefined,
    ended: false,
    error: undefined,
    speakers: NO_SPEAKERS,
    corrections: 0,
    failures: undefined,
    earlierFailures: undefined,
    reopenedAt: 0,
  }
}

/** The number of model replies of this agent in this scope. */
export const repliesOf = (scope: ScopeState | undefined, agentName: string): number =>
  scope?.speakers.find(({ name }) => name === agentName)?.replies ?? 0

/** The entry of an agent in the speakers of a scope. Adds it if there is none. */
export function speakerOf(scope: ScopeState, name: string): Speaker {
  const { speakers } = scope
  for (let at = 0; at < speakers.length; at++) if (speakers[at]?.name === name) return speakers[at] as Speaker
  const first: Speaker = { name, replies: 0 }
  scope.speakers = scope.speakers.length ? [...scope.speakers, first] : [first]
  return first
}

interface States {
  readonly scopes: ReadonlyMap<string, ScopeState>
  readonly calls: ReadonlyMap<string, CallState>
}

/** Has this agent been active in this scope? */
export function hasActed(scope: ScopeState | undefined, agentName: string): boolean {
  return scope?.speakers.some((one) => one.name === agentName) ?? false
}

/** Counts one more failure of this call in a row. */
export function countFailure(scope: ScopeState | undefined, call: CallState): void {
  if (!scope) return
  const signature = signatureOf(call)
  scope.failures ??= new Map()
  const before = scope.failures.get(signature) ?? scope.earlierFailures?.get(signature) ?? 0
  scope.failures.set(signature, before + 1)
}

/**
 * Clears the errors of the scopes inside an agent tool: another attempt continues where the last one failed. Returns
 * false when no scope has failed: then there is no other attempt.
 */
export function reopenScopes({ scopes, calls }: States, isolation: string): boolean {
  let hasFailed = false
  for (const scope of scopes.values()) {
    if (scope.isolation !== isolation || !scope.error) continue
    hasFailed = true
    scope.error = undefined
    scope.ended = false
    scope.answered = false
    scope.corrections = 0
    scope.failures = undefined
    scope.earlierFailures = undefined
    scope.speakers = scope.speakers.map(({ name }) => ({ name, replies: 0 }))
    scope.reopenedAt = calls.size
  }
  return hasFailed
}
