// The three contexts: what a tool, a callback and a predicate may know and do.
import type { JsonObject } from '../base/json.ts'
import type { AuthCredential } from '../content/auth.ts'
import type { Content, Part, ToolConfirmation } from '../content/content.ts'
import type { EventActions } from '../event/event.ts'
import type { MemoryEntry } from '../memory/service.ts'
import type { InferOutput, Schema } from '../schema/infer.ts'
import type { Session } from '../session/service.ts'
import type { RunConfig } from './run-config.ts'
import type { RunContext } from './run-context.ts'

/** State as a predicate sees it. Keys: none = session, `user:`, `app:`, and `temp:` for this run only. */
export interface ReadonlyState {
  /** A copy of the value, or the fallback when the key is absent. */
  get<T = unknown>(key: string): T | undefined
  get<T>(key: string, fallback: T): T
  has(key: string): boolean
  keys(): string[]
}

/** State that can be written; reads see this call's own writes. Written when the call's response is recorded. */
export interface State extends ReadonlyState {
  set(key: string, value: unknown): void
  delete(key: string): void
}

/** The services of the run, already bound to its app, user and session. */
export interface ScopedServices {
  readonly artifacts?: {
    save(filename: string, part: Part, options?: { customMetadata?: JsonObject | undefined }): Promise<number>
    load(filename: string, version?: number): Promise<Part | undefined>
    list(): Promise<string[]>
  }
  readonly memory?: { search(query: string): Promise<readonly MemoryEntry[]> }
}

/** Who is asking, and within what. */
export interface Invocation {
  readonly appName: string
  readonly userId: string
  readonly session: Session
  readonly invocationId: string
  readonly agentName: string
  readonly branch: string | undefined
  /** The message that started the invocation. */
  readonly userContent: Content | undefined
  readonly runConfig: RunConfig
  readonly services: ScopedServices
}

/** For whatever only looks: toolsets, instruction functions, confirmation predicates. */
export interface ReadonlyContext {
  readonly invocation: Invocation
  readonly state: ReadonlyState
  /** What the app passed to this run; reading it throws when it passed nothing. */
  readonly runContext: RunContext
}

/** What a body or a callback has written so far, to be read and to be written. */
export interface Actions extends EventActions {
  /** What `state.set` wrote; a write here is one. Always there, also while it is empty. */
  stateDelta: JsonObject
  /** What `saveArtifact` announced. Always there, also while it is empty. */
  artifactDelta: { [filename: string]: number }
  /** What `requestConfirmation` asked, by call id. Only for reading. */
  readonly requestedToolConfirmations?: { readonly [callId: string]: ToolConfirmation }
  /** What `requestInput` asked, by key. Only for reading. */
  readonly requestedInputs?: { readonly [key: string]: { readonly message: string; readonly schema?: JsonObject } }
}

/** For callbacks and `processLlmRequest`. What is written rides on the event that follows. */
export interface CallbackContext extends ReadonlyContext {
  readonly state: State
  /** What was written so far, by whatever method. What is written here counts like the method. */
  readonly actions: Actions
  /** Saves a new version (from 0) and announces it on the event. */
  saveArtifact(filename: string, part: Part, options?: { customMetadata?: JsonObject | undefined }): Promise<number>
  /** The latest version unless told; `undefined` when there is none. */
  loadArtifact(filename: string, version?: number): Promise<Part | undefined>
  listArtifacts(): Promise<string[]>
  searchMemory(query: string): Promise<readonly MemoryEntry[]>
}

/** For a tool's body and the tool callbacks; fresh for each call. */
export interface ToolContext extends CallbackContext {
  readonly tool: { readonly name: string; readonly description: string }
  readonly functionCallId: string
  /** The same over retries, restarts and processes; different for two calls with equal arguments. */
  readonly idempotencyKey: string
  /** Aborted on timeout and cancellation. */
  readonly signal: AbortSignal
  /** Starts as the tool's `isLongRunning`; what it is when the body returns decides. */
  longRunning: boolean
  readonly authCredential: AuthCredential | undefined
  readonly toolConfirmation: ToolConfirmation | undefined
  /** Hands the rest of the invocation to another agent. */
  transferToAgent(name: string): void
  /**
   * Comes back when somebody has said yes to this question. Else it is asked and the body goes no further (it throws): the
   * call waits, and its body is run from the start after the yes. So ask before you act.
   */
  requestConfirmation(question: { hint: string; payload?: unknown }): void
  /**
   * The answer to a question, checked against its schema; or undefined, and the question is put: the call waits, and its
   * body is run from the start when it is answered.
   */
  requestInput<const S extends Schema>(question: {
    key: string
    message: string
    schema: S
  }): InferOutput<S> | undefined
  requestInput<T = unknown>(question: { key: string; message: string; schema?: unknown }): T | undefined
  /** Shown to whoever follows the run, as it happens; never stored, never sent to the model. */
  progress(value: unknown): void
}
