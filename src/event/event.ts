import type { JsonObject } from '../base/json.ts'
import type { AuthConfig } from '../content/auth.ts'
import type { Content, Part, ToolConfirmation } from '../content/content.ts'
import { hasResult } from './code-call.ts'

/** What an event does besides saying something. Absent when empty. */
export interface EventActions {
  /** `null` deletes a key. */
  stateDelta?: JsonObject
  /** Filename to the version just saved. */
  artifactDelta?: { [filename: string]: number }
  requestedToolConfirmations?: { [callId: string]: ToolConfirmation }
  requestedAuthConfigs?: { [callId: string]: AuthConfig }
  skipSummarization?: boolean
  transferToAgent?: string
  escalate?: boolean
  endOfAgent?: boolean
}

/** Why a run, or one agent's part of it, ended early. */
export type EventErrorCode =
  | 'CANCELLED'
  | 'MAX_ITERATIONS'
  | 'MAX_LLM_CALLS'
  | 'REPEATED_CALL'
  | 'MODEL_ERROR'
  | 'INVALID_OUTPUT'
  | 'AGENT_ERROR'
  | 'TIMEOUT'

/** A model of a `fallback()` chain that did not reply, and why. No secrets are in the message. */
export interface FailedModel {
  readonly model: string
  /** Of the error: Google's reason, a code, or an HTTP status. */
  readonly code?: string
  readonly message: string
}

/** Which model of a `fallback()` chain replied, and which failed before it. */
export interface ModelFallback {
  readonly model: string
  /** In the order of the chain. */
  readonly from: readonly FailedModel[]
}

/** One thing that happened in a session. Plain JSON; owned by the framework from the moment it is stored. */
export interface Event {
  readonly id: string
  readonly invocationId: string
  /** `user` or an agent's name. */
  readonly author: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  /** The scope this belongs to; every event but a user's has one. */
  readonly nodeInfo?: { readonly path: string }
  readonly branch?: string
  readonly isolationScope?: string
  readonly content?: Content
  /** A delta of something whose whole follows; never stored. */
  readonly partial?: boolean
  readonly turnComplete?: boolean
  readonly interrupted?: boolean
  readonly longRunningToolIds?: readonly string[]
  readonly errorCode?: EventErrorCode | (string & {})
  readonly errorMessage?: string
  readonly finishReason?: string
  readonly usageMetadata?: JsonObject
  readonly groundingMetadata?: JsonObject
  readonly citationMetadata?: JsonObject
  readonly customMetadata?: JsonObject
  /** Only after a switch to another model. */
  readonly fallback?: ModelFallback
  readonly inputTranscription?: JsonObject
  readonly outputTranscription?: JsonObject
  readonly actions: Readonly<EventActions>
}

/** Committed before bodies run: these calls may take effect from now on. */
export interface Intent {
  readonly type: 'intent'
  readonly invocationId: string
  readonly path: string
  /** `args` only when they differ from what the model sent. */
  readonly calls: readonly { readonly id: string; readonly args?: JsonObject }[]
}

/** A question to a human. Nothing is one unless such a record names it, whatever an event looks like. */
export interface Request {
  readonly type: 'request'
  readonly id: string
  readonly invocationId: string
  readonly path: string
  readonly callId: string
  readonly kind: 'confirmation' | 'credential' | 'input'
  /** Asked before the body, or by it. */
  readonly origin: 'gate' | 'body'
  /** Of several questions of one call, which. */
  readonly key?: string
  /** What the body would get. */
  readonly args: JsonObject
  /** What the tool was when it was asked about: a digest. */
  readonly definition: string
  readonly hint?: string
  readonly payload?: unknown
  /** What an answer must look like; where arguments may be edited, what those must. */
  readonly schema?: JsonObject
  /** Whoever approves may send other arguments. */
  readonly editable?: true
  /** Seconds since the epoch. */
  readonly createdAt: number
  readonly expiresAt?: number
}

/** A request that nobody answered in time. */
export interface Denial {
  readonly type: 'denial'
  readonly invocationId: string
  readonly requestId: string
  readonly reason: string
}

/** What the framework writes down for itself. */
export type LogRecord = Intent | Request | Denial

/** A line of a session's log. Records are the framework's own: never yielded, never shown to a model or a client. */
export type Entry =
  | { readonly seq: number; readonly event: Event; readonly record?: undefined }
  | { readonly seq: number; readonly record: LogRecord; readonly event?: undefined }

/** An entry before the store has given it a place. */
export type NewEntry =
  | { readonly event: Event; readonly record?: undefined }
  | { readonly record: LogRecord; readonly event?: undefined }

/**
 * An event for an agent of your own to yield; what is left out (id, invocation, author, time, scope) is filled in when
 * it is recorded.
 *
 * @example
 * yield createEvent({ content: { role: 'model', parts: [{ text: 'Hello.' }] } })
 */
export function createEvent(says: Partial<Event>): Event {
  return { id: '', invocationId: '', author: '', timestamp: 0, actions: {}, ...says }
}

/**
 * Is this event an agent's last word in its turn: an answer in text, a response that needs no summary, or a call that
 * will be answered later?
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
