import type { JsonObject } from '../../../src/core/base/json.ts'
import { pathOf, requestJson } from './request.ts'
import type { SessionKey } from './types.ts'

/** What a model was asked for a reply. */
export interface ModelCall {
  /** The reply before it in its run, of the same agent or else of any. */
  readonly previousId?: string
  /** The agent. */
  readonly agent: string
  /** The model. */
  readonly model?: string
  /** Was the reply streamed? */
  readonly stream?: boolean
  /** How long it took, in milliseconds. */
  readonly totalMs?: number
  /** The time until the first part of the reply, in milliseconds. */
  readonly firstDeltaMs?: number
  /** What of it comes from the log, and what is unknown. Undefined: it was recorded when it was made. */
  readonly origin?: string
  /** The request. From the log it has only messages; undefined if they are unknown, too. */
  readonly request?: {
    /** The latest messages. */
    readonly contents: readonly unknown[]
    /** How many earlier messages are not shown. */
    readonly leftOut: number
    /** Instruction, tools and settings. */
    readonly config?: JsonObject
  }
  /** The reply. */
  readonly reply?: JsonObject & { readonly finishReason?: string; readonly usageMetadata?: JsonObject }
}

/** What happened in a tool call besides what the log has. */
export interface CallNotes {
  /** What a repeated call does. */
  readonly effect?: string
  /** Did a policy give the result of an earlier call? */
  readonly isCached?: boolean
  /** Log lines, progress, and waiting for a turn. `at`: milliseconds since the epoch. */
  readonly notes: readonly { readonly at: number; readonly type: string; readonly text: string }[]
  /** How many further notes there were. */
  readonly dropped?: number
}

/** Reads what a model was asked for a reply. */
export function getModelCall(key: SessionKey, eventId: string): Promise<ModelCall> {
  return requestJson(`${sessionPath(key)}${pathOf('model-calls', eventId)}`)
}

/** Reads what happened in a tool call. */
export function getCallNotes(key: SessionKey, callId: string): Promise<CallNotes> {
  return requestJson(`${sessionPath(key)}${pathOf('calls', callId, 'notes')}`)
}

function sessionPath({ app, userId, sessionId }: SessionKey): string {
  return `/dev${pathOf('apps', app, 'users', userId, 'sessions', sessionId)}`
}
