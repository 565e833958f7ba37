import type { JsonObject } from '../base/json.ts'
import type { AuthCredential } from '../content/auth.ts'
import type { Part, ToolConfirmation } from '../content/content.ts'
import type { EventActions } from '../event/event.ts'
import type { MemoryEntry } from '../memory/service.ts'
import { RunCallbackContext } from './callback-context.ts'
import type { Invocation, State, ToolContext } from './context.ts'
import type { InvocationHost } from './host.ts'
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
  #made: RunCallbackContext | undefined
  #controller: AbortController | undefined
  #aborted: { readonly reason: unknown } | undefined
  #closed = false
  longRunning: boolean

  constructor(options: CallOptions) {
    this.#options = options
    this.longRunning = options.tool.isLongRunning === true
  }
  /** Made when first used: many bodies only compute. */
  get #writes(): RunCallbackContext {
    const { host, agentName, branch } = this.#options
    this.#made ??= new RunCallbackContext(host, agentName, branch)
    return this.#made
  }
  get invocation(): Invocation {
    return this.#writes.invocation
  }
  get state(): State {
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
  /** This attempt is over; the next one has a signal of its own. */
  abortAttempt(reason: unknown): void {
    this.#controller?.abort(reason)
    this.#controller = undefined
  }
  /** From here on progress goes nowhere: the call has its response. */
  close(): void {
    this.#closed = true
  }
  take(): EventActions | undefined {
    return this.#made?.take()
  }
}
