import type { JsonObject } from '../base/json.ts'
import { keepShape } from '../base/keep-shape.ts'
import type { AuthCredential } from '../content/auth.ts'
import type { Part, ToolConfirmation } from '../content/content.ts'
import type { EventActions } from '../event/event.ts'
import type { MemoryEntry } from '../memory/service.ts'
import type { StateReader } from '../session/service.ts'
import { RunCallbackContext } from './callback-context.ts'
import type { Invocation, ToolContext } from './context.ts'
import type { InvocationHost } from './host.ts'
import type { WritableState } from './state.ts'
import type { Tool } from './tool.ts'

/** One call, as its body and its callbacks see it. */
export interface CallOptions {
  readonly host: InvocationHost
  readonly tool: Tool
  readonly agentName: string
  readonly branch?: string | undefined
  readonly functionCallId: string
  readonly authCredential?: AuthCredential | undefined
  readonly toolConfirmation?: ToolConfirmation | undefined
  onProgress(functionCallId: string, toolName: string, value: unknown): void
}

/** The context of one call. `abort`, `close` and `take` are dispatch's, not the body's. */
export class CallContext implements ToolContext {
  readonly #options: CallOptions
  /** The state it reads through to, when it is not the host's. */
  readonly #under: StateReader | undefined
  #made: RunCallbackContext | undefined
  #controller: AbortController | undefined
  #aborted: { readonly reason: unknown } | undefined
  #closed = false
  longRunning: boolean

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
  get state(): WritableState {
    return this.#writes.state
  }
  get actions(): EventActions {
    return this.#writes.actions
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
    return this.#options.toolConfirmation
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
    this.actions.transferToAgent = name
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
  /** A context for one attempt of the body: what it writes counts only when it is adopted. */
  attempt(): CallContext {
    return new CallContext(this.#options, this.state)
  }
  /** The attempt has succeeded: what it wrote is the call's. */
  adopt(attempt: CallContext): void {
    this.longRunning = attempt.longRunning
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

keepShape(new CallContext({ tool: {} } as CallOptions))
