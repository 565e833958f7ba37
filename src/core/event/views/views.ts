// What a log says about invocations, scopes, calls and requests. Plain data; times are seconds since the epoch.
import type { JsonObject } from '../../base/json.ts'
import type { FunctionResponse } from '../../content/content.ts'
import type { Event, FailedAttempt, RequestRecord } from '../event.ts'
import type { ModelFallback } from '../model-fallback.ts'
import type { AnswerMeaning } from '../read-answer.ts'

/** One invocation: everything that follows from one message of the user. */
export interface InvocationView {
  /** The id of the invocation. */
  readonly id: string
  /** The message of the user. Undefined if the log begins after it. */
  readonly message: Event | undefined
  /** `waiting`: a call waits for an answer or a result. `running`: a call or a reply is missing, also after a crash. */
  readonly status: 'running' | 'waiting' | 'ended'
  /** The time of its first event. */
  readonly startedAt: number
  /** The time of its latest event. */
  readonly updatedAt: number
  /** Its scopes, in the order in which they were opened. */
  readonly scopes: readonly ScopeView[]
  /** Replies of models, and events of custom agents, in order. */
  readonly replies: readonly ReplyView[]
  /** Its calls, in order. */
  readonly calls: readonly CallView[]
  /** What else happened: messages, answers, transfers and errors, in order. */
  readonly marks: readonly MarkView[]
  /** What its model calls used together. */
  readonly tokens: TokenCounts
}

/** A place in the agent tree where an agent worked. */
export interface ScopeView {
  /** The scope path, such as `root/child@1`. */
  readonly path: string
  /** The agent that the scope started with. */
  readonly agent: string
  /** The target of the latest transfer in the scope, else `agent`. */
  readonly activeAgent: string
  /** The branch; set below a ParallelAgent. */
  readonly branch: string | undefined
  /** The call whose agent or code works in this scope. */
  readonly parent: string | undefined
  /** When the work began: the time of the event before it that it had to wait for. */
  readonly startedAt: number
  /** The time of its latest event. */
  readonly updatedAt: number
  /** The error that ended the scope. */
  readonly error: { readonly code: string; readonly message: string } | undefined
  /** What its model calls, and those of the scopes below it, used together. */
  readonly tokens: TokenCounts
}

/** A reply of a model, or an event of a custom agent. */
export interface ReplyView {
  /** The event of the reply. */
  readonly eventId: string
  /** Did a model reply? False for an event of a custom agent. */
  readonly isModel: boolean
  /** The agent. */
  readonly agent: string
  /** The scope path. */
  readonly path: string
  /** When the agent began to work on it. */
  readonly startedAt: number
  /** When it was recorded. */
  readonly endedAt: number
  /** Its text. */
  readonly text: string
  /** Token counts, as the provider reports them. */
  readonly usage: JsonObject | undefined
  /** The model that replied. Undefined in logs of earlier versions, unless another model of a `fallback()` chain replied. */
  readonly model: string | undefined
  /** The models that failed before this one replied. */
  readonly fallback: ModelFallback | undefined
  /** The error of the model. */
  readonly error: { readonly code: string; readonly message: string } | undefined
}

/**
 * How a call is doing. `running`: its response is missing, also after a crash. `waiting`: for an answer or a result. The others
 * are final. `denied`: a person or the time limit of a request ended it. `cancelled`: it was stopped, or its scope ended.
 * `unknown`: its body may have taken effect.
 */
export type CallStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'denied' | 'cancelled' | 'unknown'

/** A tool call, or code to run, with everything that happened to it. */
export interface CallView {
  /** The id of the call. */
  readonly id: string
  /** The invocation. */
  readonly invocationId: string
  /** `toolset`: a toolset asks for a credential before it lists its tools. */
  readonly kind: 'tool' | 'code' | 'toolset'
  /** The name of the tool or the toolset. */
  readonly name: string
  /** The agent that made the call. */
  readonly agent: string
  /** The scope path of the call. */
  readonly path: string
  /** The call whose agent or code made this call. */
  readonly parent: string | undefined
  /** The arguments that the model sent. */
  readonly args: JsonObject
  /** The arguments that the body got, if an approver or a callback changed them. */
  readonly changedArgs: JsonObject | undefined
  /** How it is doing. */
  readonly status: CallStatus
  /** Whether the gates let the call pass. Until they do, its body does not run. */
  readonly gate: 'passed' | 'held' | 'denied'
  /** Does its result come later? */
  readonly isLongRunning: boolean
  /** Was it imported? Then it did not happen in this app. */
  readonly isImported: boolean
  /** Its requests, in order. */
  readonly requests: readonly RequestView[]
  /** The times in which it waited for a person or for an outside result, in order. */
  readonly waits: readonly WaitView[]
  /** 1, or higher for a call that repeats a failed one of the same tool in the same scope. */
  readonly attempt: number
  /** How often an intent was recorded: the body may have started so often. */
  readonly starts: number
  /** How often a start had no result, because the process died. */
  readonly interruptions: number
  /** The attempts of a policy such as `retry()` that failed. */
  readonly failedAttempts: readonly FailedAttempt[]
  /** What the body of a long-running call returned first. */
  readonly handle: JsonObject | undefined
  /** The final response. */
  readonly response: FunctionResponse | undefined
  /** The error in the final response. */
  readonly error: { readonly code: string | undefined; readonly message: string } | undefined
  /** When the call was recorded. */
  readonly madeAt: number
  /** When its body started, if the log tells: calls of a batch can start late. */
  readonly startedAt: number | undefined
  /** When it ended. */
  readonly endedAt: number | undefined
  /** The event of the call; empty for a toolset. */
  readonly eventId: string
  /** The event of the final response. */
  readonly responseId: string | undefined
  /** What model calls inside an agent tool used. Undefined for other calls. */
  readonly tokens: TokenCounts | undefined
}

/** A request to a person about a call. */
export interface RequestView
  extends Pick<
    RequestRecord,
    'id' | 'callId' | 'kind' | 'origin' | 'key' | 'args' | 'hint' | 'payload' | 'schema' | 'editable' | 'createdAt'
  > {
  /** After it the request counts as denied. */
  readonly expiresAt?: number
  /** Can it still be answered? */
  readonly isOpen: boolean
  /** What its answer means. A request that expired has an answer without a time. */
  readonly answer: (AnswerMeaning & { readonly at?: number }) | undefined
}

/** A time in which a call waited. */
export interface WaitView {
  /** What it waited for. */
  readonly kind: RequestRecord['kind'] | 'longRunning'
  /** When it began to wait. */
  readonly from: number
  /** When it ended. Undefined while it waits. */
  readonly to: number | undefined
  /** The answer that ended it. */
  readonly answer: AnswerMeaning | undefined
}

/** Something that happened in an invocation besides replies and calls. */
export type MarkView = {
  /** The event. */
  readonly eventId: string
  /** When it happened. */
  readonly at: number
} & (
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'answer'; readonly callId: string; readonly answer: AnswerMeaning }
  | { readonly type: 'transfer'; readonly from: string; readonly to: string }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
)

/** Sums of what model calls used. */
export interface TokenCounts {
  /** Tokens that models read. */
  readonly input: number
  /** Tokens that models wrote. */
  readonly output: number
}
