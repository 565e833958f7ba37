// What a run does, as observers see it. Facts are references to what the run uses, not copies: an observer must not change them.

import type { JsonObject } from '../../core/base/json.ts'
import type { RunKind } from '../../core/event/invocation-state.ts'
import type { LlmRequest } from '../model/llm-request.ts'
import type { LlmResponse } from '../model/model.ts'

/** The run that an operation belongs to. */
export interface ObservedRun {
  /** The app. */
  readonly appName: string
  /** The user of the session. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The invocation. */
  readonly invocationId: string
  /** Who drives the run: the agent loop, or a live model. */
  readonly kind: RunKind
  /** The trace context that the log has of the invocation's first run, a W3C `traceparent`. Undefined if it has none. */
  readonly recordedTrace: string | undefined
}

interface OperationFacts {
  /** The run. */
  readonly run: ObservedRun
  /** The operation around this one. Undefined: the run itself, or a background body that this process runs for another one. */
  readonly parent: Operation | undefined
  /** The agent. */
  readonly agent: string
}

/** A run of an invocation, from its message to its end or pause. Its agent is the root agent. */
export interface RunOperation extends OperationFacts {
  /** Discriminates operations. */
  readonly type: 'run'
  /** What the agent is for. */
  readonly description: string | undefined
  /** Whether an earlier run, perhaps of another process, has begun the invocation. */
  readonly isContinued: boolean
  /** The span that the caller names, a W3C `traceparent`. Undefined if the caller names none. */
  readonly traceparent: string | undefined
}

/** An agent at work in its scope: a sub-agent, the agent of an agent tool, or the target of a transfer. */
export interface AgentOperation extends OperationFacts {
  /** Discriminates operations. */
  readonly type: 'agent'
  /** What the agent is for. */
  readonly description: string | undefined
  /** The scope path. */
  readonly path: string
}

/** One call of a model. With `fallback()`, one call of the whole chain. */
export interface ModelOperation extends OperationFacts {
  /** Discriminates operations. */
  readonly type: 'model'
  /** The name of the model. */
  readonly model: string
  /** Who provides the model, by its name in OpenTelemetry. Undefined if the model does not say. */
  readonly provider: string | undefined
  /** The request. Undefined for a live model, which has none per reply. */
  readonly request: LlmRequest | undefined
  /** Is the reply streamed? */
  readonly stream: boolean
  /** When a reply of a live model began, in milliseconds since the epoch. Undefined: now. */
  readonly startedAt: number | undefined
}

/** A tool call that an operation is about. */
interface CallFacts extends OperationFacts {
  /** The name of the tool, as the model wrote it. */
  readonly tool: string
  /** What the tool does. Undefined for an unknown tool. */
  readonly description: string | undefined
  /** The id of the call. */
  readonly callId: string
  /** The arguments. */
  readonly args: unknown
  /** The effect of the tool: `none`, `idempotent`, `reconcilable` or `atMostOnce`. Undefined for an unknown tool. */
  readonly effect: string | undefined
  /** The trace contexts of the spans before the pauses of this call. */
  readonly links: readonly string[]
}

/** One attempt of a tool. */
export interface ToolOperation extends CallFacts {
  /** Discriminates operations. */
  readonly type: 'tool'
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** A tool call that does not reach the body of its tool, or whose outcome its attempts do not tell. It has ended already. */
export interface CallOperation extends CallFacts {
  /** Discriminates operations. */
  readonly type: 'call'
  /** When it began, in milliseconds since the epoch. */
  readonly startedAt: number
}

/** A request to a human that was answered or has expired. It has ended already. */
export interface RequestOperation extends OperationFacts {
  /** Discriminates operations. */
  readonly type: 'request'
  /** The kind of request. */
  readonly kind: 'confirmation' | 'credential' | 'input'
  /** The name of the tool. */
  readonly tool: string
  /** The id of the call. */
  readonly callId: string
  /** When the request was made, in milliseconds since the epoch. */
  readonly startedAt: number
}

/** What a run does. */
export type Operation =
  | RunOperation
  | AgentOperation
  | ModelOperation
  | ToolOperation
  | CallOperation
  | RequestOperation

/**
 * How an operation ended. `cached`: a policy gave the result, and no body ran. `unknown`: it may or may not have taken effect.
 * `paused`: it waits for an answer or a result.
 */
export type OperationOutcome = 'completed' | 'failed' | 'denied' | 'paused' | 'cancelled' | 'cached' | 'unknown'

/** The end of an operation. */
export interface OperationEnd {
  /** How it ended. */
  readonly outcome: OperationOutcome
  /** The error code, if it has one. */
  readonly errorCode?: string | undefined
  /** What was thrown. Its message may hold content. */
  readonly error?: unknown
  /** The reply of a model. */
  readonly response?: LlmResponse | undefined
  /** The milliseconds until the first delta of a streamed reply. */
  readonly firstDeltaMs?: number | undefined
  /** The response of a call, as it is recorded. */
  readonly result?: JsonObject | undefined
}

/** What happens inside an operation, or to it after its end. */
export type OperationNote =
  /** The reply of a model call, or its error, is in the log. */
  | { readonly type: 'recorded'; readonly eventId: string }
  /** A tool logs a line with `context.log()`. */
  | { readonly type: 'log'; readonly message: string; readonly data: unknown }
  /** A tool, or a policy, reports progress. */
  | { readonly type: 'progress'; readonly value: unknown }
  /** A policy makes the call wait for its turn. */
  | { readonly type: 'queued'; readonly policy: 'concurrency' | 'rateLimit' }
  /** The call has got its turn. */
  | { readonly type: 'admitted'; readonly policy: 'concurrency' | 'rateLimit' }

/** A figure of the store or of a worker. */
export type Measurement =
  /** An append to the log. */
  | { readonly type: 'append'; readonly seconds: number }
  /** A session was claimed whose last holder had lost it. */
  | { readonly type: 'takeover' }
  /** A holder has taken items out of its inbox: how long the oldest of them had waited. */
  | { readonly type: 'inbox'; readonly seconds: number }
  /** An interrupted invocation was continued: how long after its last event. */
  | { readonly type: 'recovery'; readonly seconds: number }
