import type { JsonObject } from '../../../src/core/base/json.ts'
import type { FailedAttempt } from '../../../src/core/event/event.ts'
import type { FailedModel } from '../../../src/core/event/model-fallback.ts'
import type { CallView } from '../../../src/core/event/views/views.ts'

/** A time in which a step waits for a person or for an outside result. Times are milliseconds since the epoch. */
export interface Wait {
  /** What the step waits for. */
  readonly kind: 'confirmation' | 'credential' | 'input' | 'longRunning'
  /** When the request was made. */
  readonly from: number
  /** When it was answered; the end of the timeline if it is open. */
  readonly to: number
  /** How it was answered: `approved`, `denied: too much`. Undefined while it is open. */
  readonly answer?: string | undefined
}

/** How a step ended. `interrupted`: the process stopped, and the call has no response yet. */
export type StepStatus = 'done' | 'failed' | 'waiting' | 'running' | 'interrupted'

/** Whether the gates of a call let it pass. Until they do, its body has not run: `held` waits or was cancelled, `denied` never runs. */
export type Gate = 'passed' | 'held' | 'denied'

/** A model call, a tool call, or an event of a custom agent. */
export interface Step {
  /** The id of the call, or of the event. Unique in its timeline. */
  readonly id: string
  /** The kind of step. */
  readonly kind: 'model' | 'tool' | 'agent'
  /** The name of the tool; for other steps what the agent did. */
  readonly name: string
  /** The agent that made the step. */
  readonly agent: string
  /** The scope path of the step. */
  readonly path: string
  /** The event that holds the reply or the call. */
  readonly eventId: string
  /** The event that holds the response. */
  readonly responseId?: string | undefined
  /** When it began. */
  readonly from: number
  /** When it ended; the end of the timeline if it is open. */
  readonly to: number
  /** The times in which it waited. */
  readonly waits: readonly Wait[]
  /** How it ended. */
  readonly status: StepStatus
  /** Whether the body of a call could run. */
  readonly gate: Gate
  /** 1, or higher for a call that was tried again after an attempt failed or was interrupted. */
  readonly attempt: number
  /** The attempts of a policy such as `retry()` that failed. */
  readonly failedAttempts?: readonly FailedAttempt[] | undefined
  /** The tokens of a model call. */
  readonly usage?: JsonObject | undefined
  /** The models that failed before this one replied. */
  readonly failedModels?: readonly FailedModel[] | undefined
  /** The arguments of a call. */
  readonly args?: unknown
  /** The result of a call, or the text of a reply. */
  readonly result?: unknown
  /** The error of a call or an agent. */
  readonly error?: string | undefined
  /** The call whose agent or code made the step. */
  readonly parent?: string | undefined
  /** The call, if the step is one. */
  readonly call?: CallView | undefined
}

/** A row of the picture: steps that do not overlap. */
export interface Lane {
  /** Unique in its timeline. */
  readonly id: string
  /** The name of the agent or the tool. */
  readonly label: string
  /** Holds the model calls of an agent, or the calls of a tool. */
  readonly kind: 'agent' | 'tool'
  /** How deep the row is in the tree. */
  readonly depth: number
  /** The steps, in order. */
  readonly steps: readonly Step[]
  /** When agents below it worked, if the agent has no steps of its own. */
  readonly spans: readonly { readonly from: number; readonly to: number }[]
}

/** A point in time. */
export interface Mark {
  /** What happened: the user wrote or answered, another agent became active, or an agent ended early. */
  readonly kind: 'message' | 'answer' | 'transfer' | 'error'
  /** When it happened. */
  readonly at: number
  /** What to show. */
  readonly label: string
  /** The event. */
  readonly eventId: string
}

/** Sums over a timeline. */
export interface Totals {
  /** From the message to the end, in milliseconds. */
  readonly durationMs: number
  /** The time in which nothing ran and a step waited, in milliseconds. */
  readonly waitingMs: number
  /** The number of model calls. */
  readonly modelCalls: number
  /** The number of tool calls. */
  readonly toolCalls: number
  /** The number of failed steps. */
  readonly failures: number
  /** Tokens that models read. */
  readonly inputTokens: number
  /** Tokens that models wrote. */
  readonly outputTokens: number
}

/** An invocation as a picture. Times are milliseconds since the epoch. */
export interface Timeline {
  /** The invocation. */
  readonly invocationId: string
  /** The user's message. */
  readonly message: string
  /** When the message arrived. */
  readonly start: number
  /** When the last step ended. */
  readonly end: number
  /** All steps, by the time they began. */
  readonly steps: readonly Step[]
  /** The rows of the picture. */
  readonly lanes: readonly Lane[]
  /** Messages, answers and transfers. */
  readonly marks: readonly Mark[]
  /** Sums over the steps. */
  readonly totals: Totals
}
