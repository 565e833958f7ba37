// The three contexts: `ReadonlyContext` < `CallbackContext` < `ToolContext`.

import type { JsonObject } from '../../core/base/json.ts'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import type { Content, Part, ToolConfirmation } from '../../core/content/content.ts'
import type { EventActions } from '../../core/event/event.ts'
import type { InferOutput, Schema } from '../../core/schema/schema-types.ts'
import type { CredentialOptions, CredentialOutcome } from '../../services/auth/resolve-credential.ts'
import type { MemoryEntry } from '../../services/memory/service.ts'
import type { Session } from '../../services/session/service.ts'
import type { LiveInput } from '../model/live-input.ts'
import type { RunConfig } from './run-config.ts'
import type { RunContext } from './run-context.ts'
import type { ToolSchedule, ToolScheduleOptions } from './tool-scheduling.ts'

/**
 * State that can only be read. The prefix of a key is its scope: none for the session, `user:`, `app:`, or `temp:` for this run
 * only.
 */
export interface ReadonlyState {
  /** Returns a copy of the value, or the fallback if the key is absent. */
  get<T = unknown>(key: string): T | undefined
  get<T>(key: string, fallback: T): T
  /** Is there a value for the key? */
  has(key: string): boolean
  /** Lists all keys, with their prefixes. */
  keys(): string[]
}

/**
 * State that can be written. Reads see the writes of the same context. The writes are stored with the event that
 * follows.
 */
export interface State extends ReadonlyState {
  /** Sets a value, which must be JSON. One event may write at most 10 MB. */
  set(key: string, value: unknown): void
  /** Deletes a key. */
  delete(key: string): void
}

/** The invocation, as one agent sees it. */
export interface Invocation {
  /** The app. */
  readonly appName: string
  /** The user. */
  readonly userId: string
  /** A snapshot of the session. Read only. */
  readonly session: Session
  /** The id of the invocation. It stays the same when another process resumes the invocation. */
  readonly invocationId: string
  /** The agent. */
  readonly agentName: string
  /** The branch of the agent. Undefined on the main branch. */
  readonly branch: string | undefined
  /** The user message that started the invocation. */
  readonly userContent: Content | undefined
  /** The settings of the run. */
  readonly runConfig: RunConfig
  /** The services of the run, bound to its app, user and session. */
  readonly services: {
    /** The artifacts of the session. Undefined if the runner has no `artifactService`. */
    readonly artifacts?: {
      /** Saves a new version of an artifact and returns its version number. The first version is 0. */
      save(filename: string, part: Part, options?: { customMetadata?: JsonObject | undefined }): Promise<number>
      /** Loads an artifact, by default its latest version. Undefined if there is none. */
      load(filename: string, version?: number): Promise<Part | undefined>
      /** Lists the names of the artifacts. */
      list(): Promise<string[]>
    }
    /** The memory of the user. Undefined if the runner has no `memoryService`. */
    readonly memory?: { search(query: string): Promise<readonly MemoryEntry[]> }
  }
}

/** The context of toolsets, instruction functions and confirmation predicates. */
export interface ReadonlyContext {
  /** The current invocation. */
  readonly invocation: Invocation
  /** The state of session, user and app. */
  readonly state: ReadonlyState
  /** The value that the app passed as `runContext` to this run. Reading it throws if there is none. */
  readonly runContext: RunContext
  /** The credential for the `authConfig` of a tool or toolset. Undefined elsewhere. */
  readonly authCredential?: AuthCredential | undefined
}

/** The writes and requests of a tool body or a callback so far. They become the actions of the event that follows. */
export interface Actions extends EventActions {
  /** State changes, also those of `state.set`. Empty if there are none. */
  stateDelta: JsonObject
  /** Versions of saved artifacts, also those of `saveArtifact`. Empty if there are none. */
  artifactDelta: { [filename: string]: number }
  /** Requests of `requestConfirmation`, by call id. Read only. */
  readonly requestedToolConfirmations?: { readonly [callId: string]: ToolConfirmation }
  /** Requests of `requestCredential`, by call id. Read only. They contain no secret. */
  readonly requestedAuthConfigs?: { readonly [callId: string]: AuthConfig }
  /** Requests of `requestInput`, by key. Read only. */
  readonly requestedInputs?: { readonly [key: string]: { readonly message: string; readonly schema?: JsonObject } }
}

/** The context of agent and model callbacks and `processLlmRequest`. Writes are stored with the event that follows. */
export interface CallbackContext extends ReadonlyContext {
  /** The state of session, user and app. */
  readonly state: State
  /**
   * The state, artifact and control changes made through this context. Writing to it has the effect of the method:
   * `actions.stateDelta.a = 1` is `state.set('a', 1)`. `structuredClone()` takes a copy only: `{ ...actions.stateDelta }`.
   */
  readonly actions: Actions
  /**
   * Saves a new version of an artifact and returns its version number. The first version is 0. Throws if the runner has
   * no `artifactService`.
   */
  saveArtifact(filename: string, part: Part, options?: { customMetadata?: JsonObject | undefined }): Promise<number>
  /** Loads an artifact, by default its latest version. Undefined if there is none. */
  loadArtifact(filename: string, version?: number): Promise<Part | undefined>
  /** Lists the names of the artifacts. */
  listArtifacts(): Promise<string[]>
  /** Searches the memory of the user. Throws if the runner has no `memoryService`. */
  searchMemory(query: string): Promise<readonly MemoryEntry[]>
  /** Loads a credential of the user as it was saved: without exchange or refresh. Undefined if there is none. */
  loadCredential(key: string): Promise<AuthCredential | undefined>
  /** Saves a credential of the user. Only the credential service stores it. */
  saveCredential(key: string, credential: AuthCredential): Promise<void>
  /** Does the user have a credential under this key? */
  hasCredential(key: string): Promise<boolean>
  /**
   * Returns a credential that the API accepts: the raw one of simple schemes, the stored token (refreshed when it is about to
   * expire), or a new token from a code, client credentials or a service account. `needs-auth`: call `requestCredential()`.
   */
  getCredential(key: string, authConfig: AuthConfig, options?: CredentialOptions): Promise<CredentialOutcome>
}

/** A question to the user, as a tool body asks it. */
export interface InputRequest {
  /** Identifies the request in the call. */
  readonly key: string
  /** The question that the user sees. */
  readonly message: string
  /** JSON that only the body gets back. */
  readonly sealed?: unknown
  /** The body also runs again when the user declines. Default false. */
  readonly mayDecline?: boolean | undefined
  /** When the request expires, in milliseconds. Default: `expiresInMs` of the tool, 24 hours. */
  readonly expiresInMs?: number | undefined
}

/** The answer to an input request of an earlier attempt of a call. */
export interface AnsweredInput {
  /** The key of the request. */
  readonly key: string
  /** The answer, as the schema of the request accepts it. Undefined if the user declined. */
  readonly value: unknown
  /** The user declined. Only for requests with `mayDecline`. */
  readonly declined?: true
  /** The `sealed` data of the request. */
  readonly sealed?: unknown
}

/** The context of a tool body and the tool callbacks. Each call has its own. */
export interface ToolContext extends CallbackContext {
  /** The called tool. */
  readonly tool: { readonly name: string; readonly description: string }
  /** The id of the function call. */
  readonly functionCallId: string
  /** Identifies the call in other systems. The same over retries, restarts and processes; different for every call. */
  readonly idempotencyKey: string
  /** Aborted on timeout and cancellation. Pass it to `fetch` and other functions that wait. */
  readonly signal: AbortSignal
  /**
   * Does the result arrive later? The initial value is the tool's `isLongRunning`. The body may change it; the value
   * when the body returns applies.
   */
  longRunning: boolean
  /** The credential for the tool's `authConfig`. Undefined if the tool has none. */
  readonly authCredential: AuthCredential | undefined
  /** The credentials for the tool's `authConfig`, in its order. Empty if the tool has none. */
  readonly authCredentials: readonly AuthCredential[]
  /** The approval of this call, with the payload of the approver. Undefined if the call needed none. */
  readonly toolConfirmation: ToolConfirmation | undefined
  /**
   * Starts runs of the user at given times, in the session of the call. A repeated attempt of the call keeps its schedules. Throws
   * if the agent has no `allowScheduling`; the model sees which limit a schedule exceeds.
   */
  schedule(options: ToolScheduleOptions): Promise<ToolSchedule>
  /** Deletes a schedule that a tool has created for this user. Returns whether there was one. */
  unschedule(id: string): Promise<boolean>
  /** Makes another agent the active agent after this call. */
  transferToAgent(name: string): void
  /**
   * Asks an approver. Returns if the approver has approved this hint and payload. Otherwise it throws and the call waits; after
   * the approval the body runs again from the start. Call it before any side effect.
   */
  requestConfirmation(request: { hint: string; payload?: unknown }): void
  /**
   * Asks the user. Returns the answer, checked against the schema. Returns undefined if there is no answer yet: when the body
   * ends, the call waits, and after the answer the body runs again from the start. `key` identifies the request in the call.
   * `sealed` is JSON that is recorded with the request and not shown; `answeredInputs()` returns it. With `mayDecline`,
   * the body also runs again when the user declines; else declining ends the call.
   */
  requestInput<const S extends Schema>(request: InputRequest & { schema: S }): InferOutput<S> | undefined
  requestInput<T = unknown>(request: InputRequest & { schema?: unknown }): T | undefined
  /**
   * The answers to the input requests of earlier attempts of this call, in the order of the requests. A value is what the schema
   * of its key accepts: the one in `schemas` or in `requestInput()` of this attempt, or else the recorded JSON Schema, which
   * sets defaults but neither drops fields nor transforms.
   */
  answeredInputs(schemas?: { readonly [key: string]: unknown }): readonly AnsweredInput[]
  /**
   * Asks the user for a credential. When the body ends, the call waits for the consent. The token is stored under `key`, and
   * the body runs again from the start: `getCredential()` then returns the token.
   */
  requestCredential(key: string, authConfig: AuthConfig): void
  /**
   * Sends a value to the consumers of the run at once. Never stored. A live model gets it too if the tool runs in the
   * background; other models never see it.
   */
  progress(value: unknown): void
  /**
   * Notes a line for the developer: observers get it, and the workbench shows it at the call. Never stored, and neither the model nor
   * the user sees it. Without observers it does nothing.
   */
  log(message: string, data?: unknown): void
  /**
   * What the user of a live session sends while this call runs: audio, video and text, from the first read on. A slow tool
   * misses the oldest input and gets a `lagged` item. Undefined outside live sessions.
   */
  readonly liveInput: AsyncIterable<LiveInput> | undefined
}
