// The state of one tool call and of the requests about it, as the fold computes it from the log.
import { canonicalJson, type JsonObject } from '../base/json.ts'
import type { FunctionResponse } from '../content/content.ts'
import type { Request } from './event.ts'

/** The state of one tool call, or of code to run. */
export interface CallState {
  /** The id of the call. Unique in its invocation. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The arguments the model sent. */
  readonly args: JsonObject
  /** The path of the scope that made the call. */
  readonly path: string
  /** True for code to run, false for a tool call. */
  readonly isCode: boolean
  /** The index of the call in its batch. */
  readonly at: number
  /** The name of the agent whose model made the call. */
  readonly agent: string
  /** An attempt has started and has no response yet. True after a restart means that the attempt was interrupted. */
  intent: boolean
  /** An attempt was interrupted and a gate then requested approval again: the attempt may have taken effect. */
  wasInterrupted: boolean
  /** The arguments of the attempt when they differ from those the model sent. */
  intentArgs: JsonObject | undefined
  /** The latest response; undefined until there is one. */
  response: FunctionResponse | undefined
  /** The response is a handle of long-running work; the result comes later. */
  pending: boolean
  /** The sequence number of the handle. A result posted before the handle is ignored. */
  pendingSince: number
  /** All requests about this call, in order. */
  requests: readonly RequestState[]
}

/** A request to a human and its answer. */
export interface RequestState {
  /** The record of the request. */
  readonly request: Request
  /** The sequence number of the record. An answer posted before the request is ignored. */
  readonly seq: number
  /** The answer as the client sent it; undefined while there is none. */
  answer: JsonObject | undefined
  /** Why the request counts as denied without an answer. */
  denied: string | undefined
}

/** The `status` of a response to a call that was not run because of a limit. Such a response is not a failure of the call. */
export const NOT_RUN = 'not_run'

/** Equal for calls of one tool with equal arguments. */
export function signatureOf(call: CallState): string {
  return `${call.name}\n${canonicalJson(call.args)}`
}

/** Equal for requests of one kind, origin and key. */
export function requestKey({ kind, origin, key }: Request): string {
  return key === undefined ? `${kind} ${origin}` : `${kind} ${origin} ${key}`
}

/** Copies a call and its requests. Adds each request and its copy to `copies`. */
export function copyCall(call: CallState, copies: Map<RequestState, RequestState>): CallState {
  const requests = call.requests.map((request) => ({ ...request }))
  for (const [at, request] of call.requests.entries()) copies.set(request, requests[at] as RequestState)
  return { ...call, requests }
}
