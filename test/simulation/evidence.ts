// The evidence that a simulation records for the auditor. Every recorded step has a unique tick, and the ticks give the
// order of all steps.
import type { Content, Effect, Event, JsonObject } from 'toolwright'
import type { Entry } from 'toolwright/store'
import type { Plan, ScriptedCall } from './plan.ts'

export interface Evidence {
  readonly plan: Plan
  readonly sessions: readonly SessionEvidence[]
  readonly journal: readonly JournalEntry[]
  readonly ledger: readonly LedgerEntry[]
  readonly actions: readonly ActionEvidence[]
  readonly requests: readonly ModelRequest[]
  readonly answers: readonly SentAnswer[]
  /** Processes that died or stalled, and when. */
  readonly mishaps: readonly Mishap[]
  /** Errors that the runners logged. */
  readonly logged: readonly { readonly process: string; readonly message: string }[]
  /** Call ids that models used twice, by the kind of reuse. */
  readonly reused: readonly NonNullable<ScriptedCall['reuse']>[]
  /** When the wall clock was set, and by how much. */
  readonly clockSteps: readonly { readonly tick: number; readonly ms: number }[]
  /** Unhandled rejections. */
  readonly strays: readonly string[]
  /** Work that is still unfinished after everything was resumed and answered. Empty on success. */
  readonly unfinished: readonly string[]
  readonly trace: readonly string[]
  readonly copies: readonly CopyEvidence[]
}

/** A copy of a session that a client or an operator has made or tried to make. */
export interface CopyEvidence {
  readonly kind: 'fork' | 'import' | 'rows'
  /** `user/session` */
  readonly session: string
  /** The session that was copied. */
  readonly origin: string
  /** What bodies did in the copy. The ledger of the evidence does not have it. */
  readonly ledger: readonly LedgerEntry[]
  /** Whether the store still has it, unfinished, at the end. */
  readonly isUnfinished: boolean
  /** Whether it is a session at the end. */
  readonly exists: boolean
}

export interface SessionEvidence {
  readonly userId: string
  readonly sessionId: string
  readonly entries: readonly Entry[]
  readonly state: JsonObject
}

/** A call of the session service that reached the store. */
export interface JournalEntry {
  readonly tick: number
  /** Milliseconds on the monotonic clock. */
  readonly at: number
  readonly process: string
  readonly method: string
  readonly session: string
  readonly epoch?: number
  /** Set for an append only. */
  readonly expectedSeq?: number
  /** The kind of each entry. */
  readonly kinds?: readonly string[]
  /** Set for a post only: the ids that the post answers, and the unique text of the answer. */
  readonly posted?: { readonly ids: readonly string[]; readonly mark: string | undefined }
  /** Whether an append completes a copy. */
  readonly completes?: boolean
  /** Set for a release only: whether the run was interrupted. */
  readonly interrupted?: boolean
  /** The sequence number that an append returned. */
  seq?: number
  /** Whether the store performed the call. */
  done: boolean
  /** The error code of a call that the store did not perform. */
  error?: string
  /** What the caller received. */
  told: 'answer' | 'nothing' | 'storage error'
  readonly fault?: Fault
}

/** `late`: the call takes at least as long as a lease. `repeat`: the second call of a duplicate. */
export type Fault = 'kill before' | 'kill after' | 'storage' | 'lost ack' | 'duplicate' | 'stall' | 'late' | 'repeat'

/** A line in the ledger of the outside world, written by a tool body. */
export interface LedgerEntry {
  readonly tick: number
  /** `cancelled`: `cancel` of the tool was called. `stopped`: the signal of a long-running call was aborted. */
  readonly step: 'began' | 'effect' | 'ended' | 'reconciled' | 'cancelled' | 'stopped'
  readonly process: string
  readonly session: string
  readonly tool: string
  readonly effect: Effect
  readonly callId: string
  readonly key: string
  readonly args: JsonObject
  /** Whether the idempotency key was known, so that the outside world ignored the effect. */
  readonly repeated?: boolean
  /** The state that the body wrote. */
  readonly writes?: JsonObject
  /** The confirmation that the body received. */
  readonly confirmed?: boolean
  /** The result of `reconcile`. */
  readonly found?: 'done' | 'not-done'
  /** The handle that `cancel` received. */
  readonly handle?: JsonObject
}

/** A client action and its result. */
export interface ActionEvidence {
  readonly tick: number
  readonly says: string
  readonly type: string
  readonly process: string
  readonly session: string
  /** Whether the client called `complete()`, which returns all events at the end and none on failure. */
  readonly completes: boolean
  readonly yielded: { readonly tick: number; readonly event: Event }[]
  /** `died`: the action ended with its process. */
  outcome: 'open' | 'ended' | 'left' | 'died' | 'failed'
  error?: { readonly code: string; readonly message: string }
  /** The tick at which it ended. */
  endedAt?: number
}

export interface ModelRequest {
  readonly tick: number
  readonly process: string
  readonly agent: string
  readonly contents: readonly Content[]
}

/** An answer that a client sent, and what the client meant by it. */
export interface SentAnswer {
  readonly tick: number
  readonly userId: string
  readonly sessionId: string
  readonly requestId: string
  readonly means: 'yes' | 'no' | 'value' | 'nonsense' | 'misedited'
  readonly args?: JsonObject
  /** Seconds since the epoch, by the wall clock. */
  readonly wall: number
  /** The unique text of an answer that guesses an id. */
  readonly guess?: { readonly callId: string; readonly mark: string }
}

/** The unique text in an answer that guesses an id. */
export function markIn(answer: unknown): string | undefined {
  return /guess-\d+/.exec(JSON.stringify(answer) ?? '')?.[0]
}

export interface Mishap {
  readonly tick: number
  readonly process: string
  readonly type: 'died' | 'stalled'
  /** The step before or after which the process died or stalled. */
  readonly when: string
}
