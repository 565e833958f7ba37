import { MAX_METADATA_BYTES } from '../../core/base/limits.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import type { ToolConfirmation } from '../../core/content/content.ts'
import { anything, checkOptions } from '../../core/error/check-options.ts'
import type { EventActions } from '../../core/event/event.ts'
import type { RequestState } from '../../core/event/invocation-state.ts'
import { compileSchema } from '../../core/schema/compile.ts'
import { checkAuthConfig } from '../../services/auth/config/check-auth-config.ts'
import type { LiveInput, LiveInputReader } from '../model/live-input.ts'
import {
  addRequest,
  answeredInputs,
  type BodyRequest,
  findInput,
  type InputSchemas,
  isConfirmed,
  toRequestedActions,
} from './body-request.ts'
import type { CallContextOptions } from './call-context-options.ts'
import { CallSchedules } from './call-schedules.ts'
import { RunCallbackContext } from './callback-context.ts'
import { ConfirmationPending } from './confirmation-pending.ts'
import type { Actions, AnsweredInput, InputRequest, Invocation, State, ToolContext } from './context.ts'
import { checkKey } from './credentials.ts'
import { ForwardingContext } from './forwarding-context.ts'
import { noteInCall, type ObservedCall } from './observed-call.ts'
import { type RunContext, requireRunContext } from './run-context.ts'

const NONE: readonly never[] = []
const NO_SCHEMAS: InputSchemas = new Map()

const CONFIRMATION_RULES = { hint: anything, payload: anything }
const INPUT_RULES = {
  key: anything,
  message: anything,
  schema: anything,
  sealed: anything,
  mayDecline: anything,
  expiresInMs: anything,
}

/**
 * The context of one tool call. The members of `ToolContext` are for the tool body and the tool callbacks. All others are
 * for the dispatcher.
 */
export class CallContext extends ForwardingContext implements ToolContext {
  readonly #options: CallContextOptions
  /** The state of the call, if this is the context of one attempt. Default: the state of the host. */
  readonly #callState: CallContextOptions['host']['state'] | undefined
  #lazyWrites: RunCallbackContext | undefined
  #actions: Actions | undefined
  #controller: AbortController | undefined
  #aborted: { readonly reason: unknown } | undefined
  #closed = false
  #confirmation: ToolConfirmation | undefined
  #credentials: readonly AuthCredential[] | undefined
  #requests: readonly RequestState[] | undefined
  #liveInput: LiveInputReader | undefined
  #inputSchemas: InputSchemas = NO_SCHEMAS
  #schedules: CallSchedules | undefined
  /** Does the result arrive later? See `ToolContext.longRunning`. */
  longRunning: boolean
  /** The operation of the call, and who observes it. Undefined: no one does. */
  observed: ObservedCall | undefined
  /** Requests of the body in this attempt. */
  requested: readonly BodyRequest[] = NONE

  constructor(options: CallContextOptions, callState?: CallContextOptions['host']['state']) {
    super()
    this.#options = options
    this.#callState = callState
    this.longRunning = options.tool.isLongRunning === true
  }
  /** Created on first use: many bodies only compute. */
  protected get target(): RunCallbackContext {
    const { host, agentName, branch } = this.#options
    this.#lazyWrites ??= new RunCallbackContext(host, agentName, branch, this.#callState)
    return this.#lazyWrites
  }
  /** Created on first use: few bodies schedule. */
  protected override get schedules(): CallSchedules {
    const { host, agentName, scheduling } = this.#options
    const { userId, sessionId } = host
    const call = { agentName, userId, sessionId, key: this.idempotencyKey }
    this.#schedules ??= new CallSchedules(call, scheduling)
    return this.#schedules
  }
  /** The invocation, as the agent of the call sees it. */
  get invocation(): Invocation {
    return this.target.invocation
  }
  /** The value that the app passed to this run. Throws if there is none. */
  get runContext(): RunContext {
    return requireRunContext(this.#options.host)
  }
  /** The state, including the writes of this call. */
  get state(): State {
    return this.target.state
  }
  /** The writes and requests of this call so far. */
  get actions(): Actions {
    this.#actions ??= this.target.viewActions(() => toRequestedActions(this.requested, this.functionCallId))
    return this.#actions
  }
  /** The run of a call. Undefined for a context of another kind. */
  static hostOf(context: object): CallContextOptions['host'] | undefined {
    return #options in context ? context.#options.host : undefined
  }
  /** The `traceparent` that the call sends to an origin. Undefined: none. */
  static traceparentFor(context: object, origin: string): string | undefined {
    const observed = #options in context ? context.observed : undefined
    return observed?.observation.traceFor(observed.operation, origin)
  }
  /** Name and description of the called tool. */
  get tool(): { name: string; description: string } {
    const { name, description } = this.#options.tool
    return { name, description }
  }
  /** The id of the function call. */
  get functionCallId(): string {
    return this.#options.functionCallId
  }
  /** `<invocationId>/<functionCallId>`. */
  get idempotencyKey(): string {
    return `${this.#options.host.invocationId}/${this.#options.functionCallId}`
  }
  /** The credential for the call, if the tool has an `authConfig`. */
  get authCredential(): AuthCredential | undefined {
    return this.authCredentials[0]
  }
  /** The credentials for the call, in the order of the tool's `authConfig`. */
  get authCredentials(): readonly AuthCredential[] {
    const { authCredential } = this.#options
    return this.#credentials ?? (authCredential ? [authCredential] : NONE)
  }
  /** The approval of the call, if it needed one. */
  get toolConfirmation(): ToolConfirmation | undefined {
    return this.#confirmation ?? this.#options.toolConfirmation
  }
  /** Earlier requests of this call whose answers are still valid. */
  get requests(): readonly RequestState[] {
    return this.#requests ?? this.#options.requests ?? NONE
  }
  /** Replaces the earlier requests by those whose answers are still valid. */
  setRequests(requests: readonly RequestState[]): void {
    this.#requests = requests
  }
  /** Returns if an approver has approved the request. Otherwise adds the request and throws. */
  requestConfirmation(options: { hint: string; payload?: unknown }): void {
    checkOptions('requestConfirmation()', options, CONFIRMATION_RULES, 'INVALID_REQUEST')
    const { hint, payload } = options
    const json = payload === undefined ? {} : { payload: toJsonValue(payload, MAX_METADATA_BYTES + 1).value }
    const request: BodyRequest = { kind: 'confirmation', hint: String(hint), ...json }
    if (this.#options.toolConfirmation?.confirmed || isConfirmed(this.requests, request)) return
    this.requested = addRequest(this.requested, request)
    throw new ConfirmationPending(String(hint)) // the body must not act before the approval
  }
  /** Returns the answer if there is a valid one. Otherwise adds the request and returns undefined. */
  requestInput<T = unknown>(options: InputRequest & { schema?: unknown }): T | undefined {
    checkOptions('requestInput()', options, INPUT_RULES, 'INVALID_REQUEST')
    const { key, message, schema, mayDecline, expiresInMs } = options
    const compiled = schema === undefined ? undefined : compileSchema(schema, `requestInput(), schema of key "${key}"`)
    if (compiled) this.#inputSchemas = new Map(this.#inputSchemas).set(String(key), compiled)
    const answer = findInput(this.requests, String(key), compiled)
    if (answer) return answer.value as T
    const request: BodyRequest = {
      kind: 'input',
      key: String(key),
      hint: String(message),
      ...(compiled && { schema: compiled.jsonSchema }),
      ...(options.sealed !== undefined && { sealed: toJsonValue(options.sealed, MAX_METADATA_BYTES + 1).value }),
      ...(mayDecline && { mayDecline }),
      ...(expiresInMs !== undefined && { expiresInMs }),
    }
    this.requested = addRequest(this.requested, request)
    return undefined
  }
  /** The answers to the input requests of earlier attempts, as their schemas accept them. */
  answeredInputs(schemas: { readonly [key: string]: unknown } = {}): readonly AnsweredInput[] {
    const compiled = Object.entries(schemas).map(([key, schema]) => {
      return [key, compileSchema(schema, `answeredInputs(), schema of key "${key}"`)] as const
    })
    return answeredInputs(this.requests, new Map([...this.#inputSchemas, ...compiled]))
  }
  /** Aborted on timeout and cancellation. Created on first use: most bodies never read it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted && !this.#controller.signal.aborted) this.#controller.abort(this.#aborted.reason)
    return this.#controller.signal
  }
  /** Adds a request for a credential. The call waits for it when the body has ended. */
  requestCredential(key: string, authConfig: AuthConfig): void {
    const checked = checkAuthConfig(authConfig, `requestCredential("${checkKey(key)}")`)
    this.requested = addRequest(this.requested, { kind: 'credential', key, authConfig: checked })
  }
  /** Makes another agent the active agent after this call. */
  transferToAgent(name: string): void {
    this.target.setControl('transferToAgent', name)
  }
  /** Sends a value to the consumers of the run, unless the call has its response. */
  progress(value: unknown): void {
    const { functionCallId, tool, onProgress } = this.#options
    if (this.#closed) return
    noteInCall(this.observed, { type: 'progress', value })
    onProgress(functionCallId, tool.name, value)
  }
  /** Passes a line to the observers, unless the call has its response. */
  log(message: string, data?: unknown): void {
    if (!this.#closed) noteInCall(this.observed, { type: 'log', message, data })
  }

  /** The input of the live session. Kept from the first read on. */
  get liveInput(): AsyncIterable<LiveInput> | undefined {
    if (!this.#closed) this.#liveInput ??= this.#options.host.liveInput?.subscribe()
    return this.#liveInput
  }

  /** Aborts the signal of the call. */
  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = { reason }
    this.#controller?.abort(reason)
    this.#liveInput?.end()
  }
  /** Sets `toolConfirmation` after an approval. */
  setConfirmation(confirmation: ToolConfirmation): void {
    this.#confirmation = confirmation
  }
  /** Sets `authCredentials` after the credential gate. */
  setCredentials(credentials: readonly AuthCredential[]): void {
    this.#credentials = credentials
  }
  /** Creates the context of one attempt of the body. Its writes count only after `adopt`. */
  attempt(): CallContext {
    const attempt = new CallContext(this.#options, this.target.writableState)
    attempt.#confirmation = this.#confirmation
    attempt.#credentials = this.#credentials
    attempt.#requests = this.#requests
    attempt.observed = this.observed
    return attempt
  }
  /** Copies the requests of an attempt, and its writes if it succeeded. Otherwise the body runs again after the answers. */
  adopt(attempt: CallContext, hasSucceeded: boolean): void {
    this.requested = attempt.requested
    if (!hasSucceeded) return
    this.longRunning = attempt.longRunning
    const actions = attempt.take()
    if (actions) this.target.addActions(actions)
  }
  /** Drops all later progress: the call has its response. */
  close(): void {
    this.#closed = true
    this.#liveInput?.end()
  }
  /** Returns the writes and clears them. Undefined if there are none. */
  take(): EventActions | undefined {
    return this.#lazyWrites?.take()
  }
}
