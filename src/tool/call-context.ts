import { canonicalJson, copyJson, type JsonObject, jsonSize } from '../base/json.ts'
import { MAX_MESSAGE_LENGTH, MAX_METADATA_BYTES, MAX_NAME_LENGTH, MAX_REQUESTS } from '../base/limits.ts'
import { registerShape } from '../base/object-shapes.ts'
import { toJsonValue } from '../base/to-json-value.ts'
import type { AuthCredential } from '../content/auth.ts'
import type { Part, ToolConfirmation } from '../content/content.ts'
import { anything, checkOptions } from '../error/check-options.ts'
import { ToolError } from '../error/error.ts'
import type { RequestState } from '../event/call-state.ts'
import { inputOf } from '../event/decision.ts'
import type { EventActions, Request } from '../event/event.ts'
import type { MemoryEntry } from '../memory/service.ts'
import { compileSchema } from '../schema/compile.ts'
import type { StateReader } from '../session/service.ts'
import type { RequestedActions } from './actions.ts'
import { RunCallbackContext } from './callback-context.ts'
import type { Actions, Invocation, ToolContext } from './context.ts'
import type { InvocationHost } from './host.ts'
import { type RunContext, requireRunContext } from './run-context.ts'
import type { WritableState } from './state.ts'
import type { Tool } from './tool.ts'
import { Unanswered } from './unanswered.ts'

/** One call, as its body and its callbacks see it. */
export interface CallOptions {
  readonly host: InvocationHost
  readonly tool: Tool
  readonly agentName: string
  readonly branch?: string | undefined
  readonly functionCallId: string
  readonly authCredential?: AuthCredential | undefined
  readonly toolConfirmation?: ToolConfirmation | undefined
  /** What humans were asked about the call before. */
  readonly requests?: readonly RequestState[] | undefined
  onProgress(functionCallId: string, toolName: string, value: unknown): void
}

/** What a body asks. */
export type BodyQuestion = Pick<Request, 'kind' | 'key' | 'hint' | 'payload' | 'schema'>

const NONE: readonly never[] = []

const CONFIRMATION_RULES = { hint: anything, payload: anything }
const INPUT_RULES = { key: anything, message: anything, schema: anything }

/** The context of one call. `abort`, `close` and `take` are dispatch's, not the body's. */
export class CallContext implements ToolContext {
  readonly #options: CallOptions
  /** The state it reads through to, when it is not the host's. */
  readonly #under: StateReader | undefined
  #made: RunCallbackContext | undefined
  #actions: Actions | undefined
  #controller: AbortController | undefined
  #aborted: { readonly reason: unknown } | undefined
  #closed = false
  #confirmation: ToolConfirmation | undefined
  #requests: readonly RequestState[] | undefined
  longRunning: boolean
  /** Requests the body made in this attempt. */
  questions: readonly BodyQuestion[] = NONE

  constructor(options: CallOptions, under?: StateReader) {
    this.#options = options
    this.#under = under
    this.longRunning = options.tool.isLongRunning === true
  }
  /** Made when first used: many bodies only compute. */
  get #writes(): RunCallbackContext {
    const { host, agentName, branch } = this.#options
    this.#made ??= new RunCallbackContext(host, agentName, branch, this.#under)
    return this.#made
  }
  get invocation(): Invocation {
    return this.#writes.invocation
  }
  get runContext(): RunContext {
    return requireRunContext(this.#options.host)
  }
  get state(): WritableState {
    return this.#writes.state
  }
  get actions(): Actions {
    this.#actions ??= this.#writes.viewActions(() => requestedBy(this.questions, this.functionCallId))
    return this.#actions
  }
  get tool(): { name: string; description: string } {
    const { name, description } = this.#options.tool
    return { name, description }
  }
  get functionCallId(): string {
    return this.#options.functionCallId
  }
  get idempotencyKey(): string {
    return `${this.#options.host.invocationId}/${this.#options.functionCallId}`
  }
  get authCredential(): AuthCredential | undefined {
    return this.#options.authCredential
  }
  get toolConfirmation(): ToolConfirmation | undefined {
    return this.#confirmation ?? this.#options.toolConfirmation
  }
  /** What humans were asked about the call before, as far as it still counts. */
  get requests(): readonly RequestState[] {
    return this.#requests ?? this.#options.requests ?? NONE
  }
  /** The earlier requests that still count. */
  keepRequests(requests: readonly RequestState[]): void {
    this.#requests = requests
  }
  requestConfirmation(options: { hint: string; payload?: unknown }): void {
    checkOptions('requestConfirmation()', options, CONFIRMATION_RULES, 'INVALID_REQUEST')
    const { hint, payload } = options
    const given = payload === undefined ? {} : { payload: toJsonValue(payload, MAX_METADATA_BYTES + 1).value }
    const question: BodyQuestion = { kind: 'confirmation', hint: String(hint), ...given }
    if (this.#options.toolConfirmation?.confirmed || this.#wasConfirmed(question)) return
    this.#ask(question)
    throw new Unanswered(String(hint)) // whoever asks first has not acted yet
  }
  requestInput<T = unknown>(options: { key: string; message: string; schema?: unknown }): T | undefined {
    checkOptions('requestInput()', options, INPUT_RULES, 'INVALID_REQUEST')
    const { key, message, schema } = options
    const compiled = schema === undefined ? undefined : compileSchema(schema, `The schema of question "${key}"`)
    const answer = this.requests.findLast(
      ({ request, answer: given }) => request.kind === 'input' && request.key === key && given !== undefined,
    )?.answer
    const parsed = answer && (compiled ? compiled.parse(inputOf(answer)) : { value: inputOf(answer) })
    if (parsed instanceof Promise) {
      throw new ToolError(`The schema of question "${key}" checks asynchronously, which requestInput cannot wait for.`)
    }
    if (parsed && !parsed.issues) return parsed.value as T
    const shape = compiled && { schema: compiled.jsonSchema }
    this.#ask({ kind: 'input', key: String(key), hint: String(message), ...shape })
    return undefined
  }
  /** A question in other words, or about something else, is another question. */
  #wasConfirmed({ hint, payload = null }: BodyQuestion): boolean {
    const shown = canonicalJson(payload)
    return this.requests.some(
      ({ request: { kind, origin, hint: asked, payload: with_ = null }, answer }) =>
        kind === 'confirmation' &&
        origin === 'body' &&
        asked === hint &&
        canonicalJson(with_) === shown &&
        answer !== undefined,
    )
  }
  #ask(question: BodyQuestion): void {
    checkRequest(question)
    const others = this.questions.filter(({ kind, key }) => kind !== question.kind || key !== question.key)
    if (others.length >= MAX_REQUESTS) {
      throw new ToolError(`A call may make ${MAX_REQUESTS} requests at a time. It is run again after the answers.`)
    }
    this.questions = [...others, question]
  }
  /** Made when first looked at: most bodies never look. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted && !this.#controller.signal.aborted) this.#controller.abort(this.#aborted.reason)
    return this.#controller.signal
  }
  saveArtifact(filename: string, part: Part, options?: { customMetadata?: JsonObject | undefined }): Promise<number> {
    return this.#writes.saveArtifact(filename, part, options)
  }
  loadArtifact(filename: string, version?: number): Promise<Part | undefined> {
    return this.#writes.loadArtifact(filename, version)
  }
  listArtifacts(): Promise<string[]> {
    return this.#writes.listArtifacts()
  }
  searchMemory(query: string): Promise<readonly MemoryEntry[]> {
    return this.#writes.searchMemory(query)
  }
  transferToAgent(name: string): void {
    this.#writes.setControl('transferToAgent', name)
  }
  progress(value: unknown): void {
    const { functionCallId, tool, onProgress } = this.#options
    if (!this.#closed) onProgress(functionCallId, tool.name, value)
  }

  /** The call is over, for every attempt. */
  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = { reason }
    this.#controller?.abort(reason)
  }
  /** A human has approved the call. */
  confirmedWith(confirmation: ToolConfirmation): void {
    this.#confirmation = confirmation
  }
  /** A context for one attempt of the body: what it writes counts only when it is adopted. */
  attempt(): CallContext {
    const attempt = new CallContext(this.#options, this.state)
    attempt.#confirmation = this.#confirmation
    attempt.#requests = this.#requests
    return attempt
  }
  /** The attempt has asked: what it wrote is dropped. */
  adoptQuestions(attempt: CallContext): void {
    this.questions = attempt.questions
  }
  /** The attempt has succeeded: what it wrote is the call's. */
  adopt(attempt: CallContext): void {
    this.longRunning = attempt.longRunning
    this.questions = attempt.questions
    const taken = attempt.take()
    if (taken) this.#writes.add(taken)
  }
  /** From here on progress goes nowhere: the call has its response. */
  close(): void {
    this.#closed = true
  }
  take(): EventActions | undefined {
    return this.#made?.take()
  }
}

/** What the body asks, as `context.actions` shows it: the confirmation under the id of the call, inputs under their keys. */
function requestedBy(questions: readonly BodyQuestion[], callId: string): RequestedActions {
  const asked = questions.find(({ kind }) => kind === 'confirmation')
  const inputs = questions.filter(({ kind }) => kind === 'input')
  const confirmation = asked && {
    hint: asked.hint ?? '',
    confirmed: false,
    ...(asked.payload !== undefined && { payload: copyJson(asked.payload) }),
  }
  return {
    ...(confirmation && { requestedToolConfirmations: Object.fromEntries([[callId, confirmation]]) }),
    ...(inputs.length && {
      requestedInputs: Object.fromEntries(
        inputs.map(({ key = '', hint = '', schema }) => [key, { message: hint, ...(schema && { schema }) }]),
      ),
    }),
  }
}

/** What is recorded of a request, and shown to the approver, has a bound. */
function checkRequest({ key = '', hint = '', payload, schema }: BodyQuestion): void {
  if (key.length > MAX_NAME_LENGTH || hint.length > MAX_MESSAGE_LENGTH) {
    const limits = `${MAX_NAME_LENGTH} characters in its key and ${MAX_MESSAGE_LENGTH} in its hint or message`
    throw new ToolError(`A request has at most ${limits}. Pass the rest as payload, or save it as an artifact.`)
  }
  if (jsonSize({ payload, schema }, MAX_METADATA_BYTES) > MAX_METADATA_BYTES) {
    const problem = `The payload and the schema of a request have at most ${MAX_METADATA_BYTES} bytes`
    throw new ToolError(`${problem}. Save what is larger as an artifact.`)
  }
}

registerShape(() => new CallContext({ tool: {} } as CallOptions))
