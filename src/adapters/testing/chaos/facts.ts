// What has happened in a story, as it was seen.

import type { ChaosPoint } from './plan.ts'

/** What `outside()` has returned, as JSON. */
export type Snapshot = unknown

/** What is seen of one piece of work: what was outside before it and after it. */
interface Work {
  /** The idempotency key of the call. */
  readonly key: string
  /** What was outside before. */
  readonly before: Snapshot
  /** What was outside after. Undefined until it has ended. */
  after?: Snapshot
  /** Has it ended? */
  hasEnded: boolean
  /** Was other work under way at the same time? Then nothing says which of them has changed the outside. */
  isShared: boolean
  /** Has it thrown? */
  hasThrown: boolean
}

/** A body of the tool. */
export interface BodyFact extends Work {
  /** Discriminates facts. */
  readonly type: 'body'
}

/** A call of `reconcile`. */
export interface ReconcileFact extends Work {
  /** Discriminates facts. */
  readonly type: 'reconcile'
  /** The status that it returned. Undefined if it is none. */
  said?: string | undefined
}

/** A call of `cancel`. */
export interface StopFact extends Work {
  /** Discriminates facts. */
  readonly type: 'stop'
}

/** Work of the tool. */
export type WorkFact = BodyFact | ReconcileFact | StopFact

/** One thing that has happened. */
export type Fact =
  | WorkFact
  /** The model has called the tool. */
  | { readonly type: 'call'; readonly calls: number }
  /** The process has died. */
  | { readonly type: 'kill'; readonly at: ChaosPoint }
  /** Another process continues. */
  | { readonly type: 'recover' }
  /** The user has cancelled. `after` is what is outside once the cancel has returned. */
  | { readonly type: 'cancel'; after?: Snapshot }
  /** What goes on outside has ended. */
  | { readonly type: 'finish'; readonly before: Snapshot; readonly after: Snapshot }

/** A story that was played. */
export interface PlayedStory {
  /** What has happened, in order. */
  readonly facts: readonly Fact[]
  /** What was outside at the start. */
  readonly before: Snapshot
  /** What is outside at the end. */
  readonly after: Snapshot
  /** The error code of the first response of the tool. Undefined: it is no error. */
  readonly errorCode: string | undefined
}
