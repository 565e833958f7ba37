import type { JsonObject } from '../base/json.ts'
import type { AuthConfig } from '../content/auth.ts'
import type { Content, Part, ToolConfirmation } from '../content/content.ts'
import { hasResult } from './code-call.ts'
import type { ModelFallback } from './model-fallback.ts'

/** The side effects of an event. A field is absent when it is empty. */
export interface EventActions {
  /** Changes of the session state. `null` deletes a key. */
  stateDelta?: JsonObject
  /** Artifacts saved: filename to version. */
  artifactDelta?: { [filename: string]: number }
  /** Confirmations requested, by id of the tool call. */
  requestedToolConfirmations?: { [callId: string]: ToolConfirmation }
  /** Credentials requested, by id of the tool call. */
  requestedAuthConfigs?: { [callId: string]: AuthConfig }
  /** The responses end the agent's turn: the model does not summarise them. */
  skipSummarization?: boolean
  /** The agent that becomes active. */
  transferToAgent?: string
  /** Ends the enclosing loop. */
  escalate?: boolean
  /** The agent has finished its scope. */
  endOfAgent?: boolean
}

/** The actions of an event without any. One object for all, because a log keeps every event. */
export const NO_ACTIONS: EventActions = Object.freeze({})

/** Why an invocation, or one scope of it, ended early. */
export type EventErrorCode =
  | 'CANCELLED'
  | 'MAX_ITERATIONS'
  | 'MAX_LLM_CALLS'
  | 'REPEATED_CALL'
  | 'MODEL_ERROR'
  | 'INVALID_OUTPUT'
  | 'AGENT_ERROR'
  | 'TIMEOUT'

/** An item of the event log that users see. Plain JSON. Do not change an event after it is stored. */
export interface Event {
  /** The id of the event. */
  readonly id: string
  /** The invocation the event belongs to. */
  readonly invocationId: string
  /** `user` or the name of an agent. */
  readonly author: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  /** The scope path of the event. User events have none. */
  readonly nodeInfo?: { readonly path: string }
  /** The branch of the agent; set below a ParallelAgent. */
  readonly branch?: string
  /** The path of the enclosing agent tool scope. The calling agent's model does not see the event. */
  readonly isolationScope?: string
  /** Text, tool calls, responses and media. */
  readonly content?: Content
  /** A part of a reply that is still streaming. Partial events are never stored; the complete event follows. */
  readonly partial?: boolean
  /** Set on every complete model reply. */
  readonly turnComplete?: boolean
  /** The user interrupted the reply. */
  readonly interrupted?: boolean
  /** Ids of the calls in this event whose results come later: long-running tools and requests to a human. */
  readonly longRunningToolIds?: readonly string[]
  /** Why the agent ended early, or the error code of the model. */
  readonly errorCode?: EventErrorCode | (string & {})
  /** The message for `errorCode`. */
  readonly errorMessage?: string
  /** Why the model stopped, as the provider reports it. */
  readonly finishReason?: string
  /** The model that replied, as the provider names it, else the name of the model. Logs of earlier versions do not have it. */
  readonly modelVersion?: string
  /** Token counts, as the provider reports them. */
  readonly usageMetadata?: JsonObject
  /** Sources of the reply, for example from Google Search. */
  readonly groundingMetadata?: JsonObject
  /** Citations in the reply. */
  readonly citationMetadata?: JsonObject
  /** Metadata set by your own agents and callbacks. */
  readonly customMetadata?: JsonObject
  /** Set when a model of a `fallback()` chain failed and another replied. */
  readonly fallback?: ModelFallback
  /** When the calls of a batch ran, by call id. Set if the batch took time: the event itself only tells when the last call ended. */
  readonly callTimes?: CallTimes
  /** The failed attempts of calls that a policy such as `retry()` ran again, by call id. */
  readonly failedAttempts?: FailedAttempts
  /** Set on replies of a live model. Their calls run in the live session only. */
  readonly live?: true
  /**
   * Set on every event that `createSession({ events })` imported: this app recorded no such call, result or approval. Only the
   * framework sets it.
   */
  readonly imported?: true
  /** The transcription of the user's audio. */
  readonly inputTranscription?: JsonObject
  /** The transcription of the model's audio. */
  readonly outputTranscription?: JsonObject
  /** The trace context of the invocation, a W3C `traceparent`: runs that continue it belong to the same trace. Only the framework sets it, on the first message. */
  readonly trace?: string
  /** State changes, transfers and other side effects. */
  readonly actions: Readonly<EventActions>
}

/** When calls ran, by call id, in seconds since the epoch. */
export interface CallTimes {
  readonly [callId: string]: { readonly startedAt: number; readonly endedAt: number }
}

/** Failed attempts, by call id. Of each call the latest 20, in order. */
export interface FailedAttempts {
  readonly [callId: string]: readonly FailedAttempt[]
}

/** An attempt of a tool body that failed, in a call with several attempts. */
export interface FailedAttempt {
  /** 1 for the first attempt of the call. */
  readonly attempt: number
  /** The most attempts of the policy, if it says how many. */
  readonly attempts?: number
  /** The message of the error. Absent if the agent or a plugin has `onToolError`, which may hide messages. */
  readonly error?: string
  /** The code of the error. */
  readonly errorCode: string
  /** When it started, in seconds since the epoch. */
  readonly startedAt: number
  /** When it failed, in seconds since the epoch. */
  readonly endedAt: number
}

/** The record committed before bodies with side effects run: from now on these calls may take effect. */
export interface Intent {
  /** Discriminates the record types. */
  readonly type: 'intent'
  /** The invocation of the calls. */
  readonly invocationId: string
  /** The scope path of the calls. */
  readonly path: string
  /** The calls about to run. `args` is set only when the arguments differ from those the model sent. */
  readonly calls: readonly { readonly id: string; readonly args?: JsonObject }[]
}

/** A request to a human. Only this record makes a request: an event that looks like one has no effect. */
export interface RequestRecord {
  /** Discriminates the record types. */
  readonly type: 'request'
  /** The id of the request. An answer names it. */
  readonly id: string
  /** The invocation that waits. */
  readonly invocationId: string
  /** The scope path of the call. */
  readonly path: string
  /** The tool call the request is about. */
  readonly callId: string
  /** The kind of request. */
  readonly kind: 'confirmation' | 'credential' | 'input'
  /** Made by a gate before the body, or by the body itself. */
  readonly origin: 'gate' | 'body'
  /** Distinguishes several requests of one call. */
  readonly key?: string
  /** The arguments the body would get. */
  readonly args: JsonObject
  /** The digest of the tool definition at the time of the request. */
  readonly definition: string
  /** The session of the request. Its answers count in no other session. Absent in logs of earlier versions. */
  readonly session?: { readonly appName: string; readonly userId: string; readonly sessionId: string }
  /** The text the approver sees. */
  readonly hint?: string
  /** Data of the tool for the approver. */
  readonly payload?: unknown
  /** The JSON Schema of the answer, or of the edited arguments of an editable confirmation. */
  readonly schema?: JsonObject
  /** The approver may send edited arguments. */
  readonly editable?: true
  /** Data of the tool that only its body gets back, with the answer. Never shown to a client or a model. */
  readonly sealed?: unknown
  /** The body runs again when the user declines this input. Default: declining ends the call. */
  readonly mayDecline?: true
  /** What the client needs for a consent: the authorization URL and `state`. It contains no secret. */
  readonly authConfig?: AuthConfig
  /** Seconds since the epoch. */
  readonly createdAt: number
  /** Seconds since the epoch. After it the request counts as denied. */
  readonly expiresAt?: number
  /** The trace context of the attempt that made the request, a W3C `traceparent`. Absent when it was not traced. */
  readonly trace?: string
}

/** The denial of a request that expired without an answer. */
export interface Denial {
  /** Discriminates the record types. */
  readonly type: 'denial'
  /** The invocation of the request. */
  readonly invocationId: string
  /** The request that is denied. */
  readonly requestId: string
  /** Why it is denied. */
  readonly reason: string
}

/** The record committed with the handles of background calls: bodies of the framework work on these calls, and only they give the results. */
export interface BackgroundRecord {
  /** Discriminates the record types. */
  readonly type: 'background'
  /** The invocation of the calls. */
  readonly invocationId: string
  /** The scope path of the calls. */
  readonly path: string
  /** The calls. */
  readonly calls: readonly BackgroundCall[]
}

/** A call in the background. */
export interface BackgroundCall {
  /** The id of the call. */
  readonly id: string
  /**
   * When the body has ended at the latest, in seconds since the epoch. Absent: the body has no time limit. With `engine`: when the
   * engine is asked again if no worker has begun.
   */
  readonly until?: number
  /** An engine has a worker run the body, in whatever process. `args`: the arguments, if they differ from those the model sent. */
  readonly engine?: { readonly args?: JsonObject }
}

/** A worker is about to run the body of a background call for an engine: from now on it may take effect. */
export interface AttemptRecord {
  /** Discriminates the record types. */
  readonly type: 'attempt'
  /** The invocation of the call. */
  readonly invocationId: string
  /** The background call. */
  readonly callId: string
  /** Identifies the attempt. Earlier ones of the call stop. */
  readonly id: string
  /** How many attempts before it have lost their process, in a row. */
  readonly crashes: number
  /** When it has ended at the latest, in seconds since the epoch: after it, the engine is asked again. */
  readonly until: number
}

/** The body of a background call gave no result in time, because its process died: its attempt counts as interrupted. */
export interface Interruption {
  /** Discriminates the record types. */
  readonly type: 'interruption'
  /** The invocation of the call. */
  readonly invocationId: string
  /** The background call. */
  readonly callId: string
}

/** The phase that the conversation of a session has reached. State does not decide it alone, and no client can write it. */
export interface PhaseRecord {
  /** Discriminates the record types. */
  readonly type: 'phase'
  /** The invocation that reached the phase. */
  readonly invocationId: string
  /** The name of the phase. */
  readonly phase: string
  /** The tools that the phase allows. Absent: all. A run that does not know the phases keeps to this list. */
  readonly tools?: readonly string[]
}

/** An internal item of the event log. */
export type LogRecord = Intent | RequestRecord | Denial | BackgroundRecord | AttemptRecord | Interruption | PhaseRecord

/** An item of a session's log. Records are internal: never yielded, never shown to a model or a client. */
export type Entry =
  | { readonly seq: number; readonly event: Event; readonly record?: undefined }
  | { readonly seq: number; readonly record: LogRecord; readonly event?: undefined }

/** An entry without a sequence number: the store assigns it. */
export type NewEntry =
  | { readonly event: Event; readonly record?: undefined }
  | { readonly record: LogRecord; readonly event?: undefined }

/**
 * Creates an event for your own agent to yield. The id, invocation, author, time and scope are filled in when the event
 * is recorded.
 *
 * @example
 * yield createEvent({ content: { role: 'model', parts: [{ text: 'Hello.' }] } })
 */
export function createEvent(fields: Partial<Event>): Event {
  return { id: '', invocationId: '', author: '', timestamp: 0, actions: {}, ...fields }
}

/**
 * Does this event end the agent's turn? True for a text reply, a response that is not summarised, and a call whose
 * result comes later.
 */
export function isFinalResponse(event: Event): boolean {
  if (event.author === 'user' || event.partial) return false
  if (event.actions.skipSummarization || event.longRunningToolIds?.length) return true
  const parts = event.content?.parts
  if (!parts || event.content.role !== 'model') return false
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as Part
    if (part.functionCall || part.functionResponse || (part.executableCode && !hasResult(parts, at))) return false
  }
  return true
}
