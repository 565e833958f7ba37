// The states of a call during dispatch, and its outcomes. Refusals are outcomes, not exceptions.
import type { JsonObject } from '../../core/base/json.ts'
import { clip } from '../../core/base/limits.ts'
import type { ModelOutput, Part } from '../../core/content/content.ts'
import { type ResultErrorCode, ToolError } from '../../core/error/error.ts'
import type { BackgroundCall, EventActions, FailedAttempt, RequestRecord } from '../../core/event/event.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import type { CallContext } from '../context/call-context.ts'
import type { OperationOutcome, ToolOperation } from '../observe/operation.ts'
import type { ToolEntry } from './resolve.ts'

/** A call whose tool is known. */
export interface ResolvedCall {
  /** The call. */
  readonly call: CallState
  /** The tool. */
  readonly entry: ToolEntry
  /** The context of the body and the callbacks. */
  readonly context: CallContext
}

/** A call that may run: its arguments are valid and every gate is passed. */
export interface ReadyCall extends ResolvedCall {
  /** Discriminates the states of a call. */
  readonly type: 'ready'
  /** The validated arguments. */
  readonly args: unknown
  /** The arguments before validation when a callback or an approver changed them. The intent records them. */
  readonly rewritten: JsonObject | undefined
  /** The attempts of the body, if the tool has policies. */
  attempts?: AttemptsMade
  /** The latest of them, while the call is observed. */
  lastAttempt?: { readonly operation: ToolOperation; readonly outcome: OperationOutcome }
}

/** The attempts of a body that policies may run again. */
export interface AttemptsMade {
  /** How many were started. */
  count: number
  /** Those that failed. */
  readonly failed: FailedAttempt[]
}

/** A call with a result from a callback or from `reconcile`. The body does not run; `afterTool` follows. */
export interface AnsweredCall extends ResolvedCall {
  /** Discriminates the states of a call. */
  readonly type: 'answered'
  /** The arguments for callbacks. */
  readonly args: unknown
  /** The result. */
  readonly value: unknown
}

/** A call with its response. */
export interface CallResult {
  /** Discriminates the states of a call. */
  readonly type: 'result'
  /** The call. */
  readonly call: CallState
  /** The response to record. */
  readonly response: JsonObject
  /** What the model sees instead of the response. */
  readonly modelOutput?: ModelOutput | undefined
  /** Media recorded next to the response. */
  readonly parts?: readonly Part[] | undefined
  /** The writes of the body; undefined when the call failed. */
  readonly actions?: EventActions | undefined
  /** The response is a handle; the result comes later. */
  readonly pending?: boolean | undefined
  /** A person, a phase or an expired request has refused the call. */
  readonly denied?: boolean | undefined
  /** The same call has failed too often: the run ends. */
  readonly stops?: boolean | undefined
  /** The attempts that failed, if the call had several. */
  readonly failedAttempts?: readonly FailedAttempt[] | undefined
  /** The body that runs in the background once the handle is in the log. */
  readonly background?: BackgroundStart | undefined
}

/** A body that is about to run in the background. */
export interface BackgroundStart extends Pick<BackgroundCall, 'engine'> {
  /** When it has ended at the latest, in seconds since the epoch. Undefined: it has no time limit. */
  readonly until: number | undefined
  /** Starts it, or has a worker start it. */
  start(): void
}

/** A call that waits for the answer to an earlier request, or for a call inside its scope. */
export interface SuspendedCall {
  /** Discriminates the states of a call. */
  readonly type: 'suspended'
  /** The call. */
  readonly call: CallState
}

/** A call with new requests to a human. It waits for the answers. */
export interface RequestingCall {
  /** Discriminates the states of a call. */
  readonly type: 'requesting'
  /** The call. */
  readonly call: CallState
  /** The requests to record. */
  readonly requests: readonly NewRequest[]
  /** The trace context of the attempt, for a link from the next one. Undefined: none. */
  readonly trace?: string | undefined
}

/** A request that is not recorded yet. */
export type NewRequest = Omit<
  RequestRecord,
  'type' | 'id' | 'invocationId' | 'path' | 'callId' | 'createdAt' | 'expiresAt'
> & {
  /** The id of a credential request: its consent is stored under it. Default: a new id. */
  readonly id?: string
  /** When the request expires, in milliseconds. Default: as the tool says. */
  readonly expiresInMs?: number
}

/** A call after `prepare`: ready to run, or finished without running a body. */
export type Prepared = ReadyCall | AnsweredCall | CallResult | RequestingCall | SuspendedCall
/** What a dispatched call ended as. */
export type Outcome = CallResult | RequestingCall | SuspendedCall

/** Thrown by the body of an agent tool whose agent failed. */
export class AgentFailed extends ToolError {
  /** The text of the agent before it failed. */
  readonly text: string
  constructor(message: string, text: string) {
    super(message)
    this.text = text
  }
}

/** The result of a call that failed and had no effect. */
export function failure(call: CallState, errorCode: ResultErrorCode, error: string): CallResult {
  return { type: 'result', call, response: { error: clip(error), errorCode } }
}

/** The result of a call that may or may not have taken effect. */
export function unknownOutcome(call: CallState, errorCode: 'UNKNOWN_OUTCOME' | 'TIMEOUT', error: string): CallResult {
  return { type: 'result', call, response: { status: 'unknown_outcome', error: clip(error), errorCode } }
}
