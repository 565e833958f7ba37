// What can become of a call. Refusals are values on the same road as results.
import type { JsonObject } from '../base/json.ts'
import { clip } from '../base/limits.ts'
import type { ModelOutput, Part } from '../content/content.ts'
import { type ResultErrorCode, ToolError } from '../error/error.ts'
import type { CallState } from '../event/call-state.ts'
import type { EventActions, Request } from '../event/event.ts'
import type { CallContext } from '../tool/call-context.ts'
import type { ToolEntry } from './resolve.ts'

/** A call whose tool is known. */
export interface ResolvedCall {
  readonly call: CallState
  readonly entry: ToolEntry
  readonly context: CallContext
}

/** A call that may run: checked, and let through by every gate. */
export interface ReadyCall extends ResolvedCall {
  readonly type: 'ready'
  readonly args: unknown
  /** The arguments as they were given, when not by the model: the intent must hold them, to be checked again. */
  readonly rewritten: JsonObject | undefined
}

/** A call that was answered by a callback or by reconciliation; only `afterTool` is still to come. */
export interface AnsweredCall extends ResolvedCall {
  readonly type: 'answered'
  readonly args: unknown
  readonly value: unknown
}

/** A call with its response. */
export interface CallResult {
  readonly type: 'result'
  readonly call: CallState
  readonly response: JsonObject
  /** What the model sees instead. */
  readonly modelOutput?: ModelOutput | undefined
  /** Media that goes beside the response. */
  readonly parts?: readonly Part[] | undefined
  /** What it wrote; absent when the call failed. */
  readonly actions?: EventActions | undefined
  /** The response is a handle; the result comes later. */
  readonly pending?: boolean | undefined
  /** The same call has failed too often: the run ends here. */
  readonly stops?: boolean | undefined
}

/** An agent tool, or code, in which somebody is waited for. */
export interface SuspendedCall {
  readonly type: 'suspended'
  readonly call: CallState
}

/** A call that waits for a human's answer. */
export interface RequestingCall {
  readonly type: 'requesting'
  readonly call: CallState
  readonly requests: readonly NewRequest[]
}

/** What a human is asked about a call. */
export type NewRequest = Omit<Request, 'type' | 'id' | 'invocationId' | 'path' | 'callId' | 'createdAt' | 'expiresAt'>

export type Prepared = ReadyCall | AnsweredCall | CallResult | RequestingCall | SuspendedCall
export type Outcome = CallResult | RequestingCall | SuspendedCall

/** Thrown by the body of an agent tool whose agent failed. `text`: what the agent said before. */
export class AgentFailed extends ToolError {
  readonly text: string
  constructor(message: string, text: string) {
    super(message)
    this.text = text
  }
}

/** A call that failed: the model is told, nothing else happens. */
export function failure(call: CallState, errorCode: ResultErrorCode, error: string): CallResult {
  return { type: 'result', call, response: { error: clip(error), errorCode } }
}

/** A call that may or may not have taken effect. */
export function unknownOutcome(call: CallState, errorCode: 'UNKNOWN_OUTCOME' | 'TIMEOUT', error: string): CallResult {
  return { type: 'result', call, response: { status: 'unknown_outcome', error: clip(error), errorCode } }
}
