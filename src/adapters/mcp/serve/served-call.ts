import type { JsonObject } from '../../../core/base/json.ts'
import type { CallOptions } from '../../../engine/runner/single-call/call-runner.ts'
import type { Elicitation, ElicitationModes } from './elicitation.ts'

/** A call of a client, or the next round of one. */
export interface ServedCall extends CallOptions {
  /** The name of the tool. */
  readonly name: string
  /** The arguments. */
  readonly args: JsonObject
  /** The state that the client got with the questions. Undefined in the first round. */
  readonly state: string | undefined
  /** The answers of the client, by key. */
  readonly answers: { readonly [key: string]: unknown }
  /** What the client can ask its user. */
  readonly modes: ElicitationModes
  /** Do all rounds belong to one request of the client? Then a call that waits for an answer ends with that request. */
  readonly isConnected: boolean
}

/** A call that waits for answers of the client's user. */
export interface InputRequired {
  /** Marks the result of a round that is not the last. */
  readonly resultType: 'input_required'
  /** The questions, by key. */
  readonly inputRequests: { readonly [key: string]: Elicitation }
  /** The sealed state of the call. */
  readonly requestState: string
  readonly [other: string]: unknown
}

/** Thrown for a tool that does not exist for the user. */
export class UnknownTool extends Error {}

/** Thrown for a state that is changed, expired, used, or of another call. The reason is not told. */
export class InvalidState extends Error {}
