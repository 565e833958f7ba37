// What is written down while a simulation runs, for whoever judges it. Ticks order everything: no two are equal.
import type { Content, Effect, Entry, Event, JsonObject } from 'toolwright'
import type { Plan, ScriptedCall } from './plan.ts'

export interface Evidence {
  readonly plan: Plan
  readonly sessions: readonly SessionEvidence[]
  readonly journal: readonly JournalEntry[]
  readonly ledger: readonly LedgerEntry[]
  readonly actions: readonly ActionEvidence[]
  readonly requests: readonly ModelRequest[]
  readonly answers: readonly SentAnswer[]
  /** Processes that died or stood still, and when. */
  readonly mishaps: readonly Mishap[]
  /** Errors the runners logged. */
  readonly logged: readonly { readonly process: string; readonly message: string }[]
  /** Ids that models used again, by where they had them from. */
  readonly reused: readonly NonNullable<ScriptedCall['reuse']>[]
  /** When the wall clock was set, and by how much. */
  readonly clockSteps: readonly { readonly tick: number; readonly ms: number }[]
  /** Promises that were rejected and nobody heard. */
  readonly strays: readonly string[]
  /** What was not at its end when all had been done to get it there; empty when all is well. */
  readonly unfinished: readonly string[]
  readonly trace: readonly string[]
}

export interface SessionEvidence {
  readonly userId: string
  readonly sessionId: string
  readonly entries: readonly Entry[]
  readonly state: JsonObject
}

/** A call of the session service, as the store saw it. */
export interface JournalEntry {
  readonly tick: number
  /** Milliseconds on the clock that is never set. */
  readonly at: number
  readonly process: string
  readonly method: string
  readonly session: string
  readonly epoch?: number
  /** Of an append. */
  readonly expectedSeq?: number
  /** What is in it, in a word each. */
  readonly kinds?: readonly string[]
  /** Of a post: the ids it answers, and what tells the answer from all others. */
  readonly posted?: { readonly ids: readonly string[]; readonly mark: string | undefined }
  /** Of a release: the run was interrupted. */
  readonly interrupted?: boolean
  /** The store did it, and what it gave back; else the code of its refusal. */
  seq?: number
  done: boolean
  error?: string
  /** What became of the answer. */
  told: 'answer' | 'nothing' | 'storage error'
  readonly fault?: Fault
}

/** `late`: it takes as long as a lease lives, or longer. `repeat`: the second of a duplicate. */
export type Fault = 'kill before' | 'kill after' | 'storage' | 'lost ack' | 'duplicate' | 'stall' | 'late' | 'repeat'

/** A line of the outside world's own book, written by tool bodies. */
export interface LedgerEntry {
  readonly tick: number
  /** `cancelled`: its `cancel` was called. `stopped`: the signal of a long-running call says that its run is over. */
  readonly step: 'began' | 'effect' | 'ended' | 'reconciled' | 'cancelled' | 'stopped'
  readonly process: string
  readonly session: string
  readonly tool: string
  readonly effect: Effect
  readonly callId: string
  readonly key: string
  readonly args: JsonObject
  /** An effect under a key that was there before: the outside took it for the same. */
  readonly repeated?: boolean
  /** What the body wrote to state, when it ended. */
  readonly writes?: JsonObject
  /** What the body was told about a confirmation. */
  readonly confirmed?: boolean
  /** What `reconcile` said. */
  readonly found?: 'done' | 'not-done'
  /** What `cancel` was given. */
  readonly handle?: JsonObject
}

/** Something a client asked for. */
export interface ActionEvidence {
  readonly tick: number
  readonly says: string
  readonly type: string
  readonly process: string
  readonly session: string
  /** By `complete()`: what it gives is shown at its end, and nothing when it fails. */
  readonly completes: boolean
  readonly yielded: { readonly tick: number; readonly event: Event }[]
  /** `died`: the process took it along. */
  outcome: 'open' | 'ended' | 'left' | 'died' | 'failed'
  error?: { readonly code: string; readonly message: string }
  /** When it ended, however it did. */
  endedAt?: number
}

export interface ModelRequest {
  readonly tick: number
  readonly process: string
  readonly agent: string
  readonly contents: readonly Content[]
}

/** An answer a client sent, and what it meant by it. */
export interface SentAnswer {
  readonly tick: number
  readonly userId: string
  readonly sessionId: string
  readonly requestId: string
  readonly means: 'yes' | 'no' | 'value' | 'nonsense' | 'misedited'
  readonly args?: JsonObject
  /** Seconds since the epoch, by the wall clock. */
  readonly wall: number
  /** It was sent on a guess, under the id of a call, and can be told from all others by this text in it. */
  readonly guess?: { readonly callId: string; readonly mark: string }
}

/** The text in an answer that was sent on a guess. */
export function markIn(answer: unknown): string | undefined {
  return /guess-\d+/.exec(JSON.stringify(answer) ?? '')?.[0]
}

export interface Mishap {
  readonly tick: number
  readonly process: string
  readonly type: 'died' | 'stalled'
  /** Before or after what. */
  readonly when: string
}
