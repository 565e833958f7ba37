// What is written down while a simulation runs, for whoever judges it. Ticks order everything: no two are equal.
import type { Content, Effect, Entry, Event, JsonObject } from 'toolwright'
import type { Plan } from './plan.ts'

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
  readonly process: string
  readonly method: string
  readonly session: string
  readonly epoch?: number
  /** Of an append. */
  readonly expectedSeq?: number
  /** What is in it, in a word each. */
  readonly kinds?: readonly string[]
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
  readonly step: 'began' | 'effect' | 'ended' | 'reconciled'
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
}

/** Something a client asked for. */
export interface ActionEvidence {
  readonly tick: number
  readonly says: string
  readonly type: string
  readonly process: string
  readonly session: string
  readonly yielded: { readonly tick: number; readonly event: Event }[]
  /** `died`: the process took it along. */
  outcome: 'open' | 'ended' | 'left' | 'died' | 'failed'
  error?: { readonly code: string; readonly message: string }
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
  readonly means: 'yes' | 'no' | 'value' | 'nonsense'
  readonly args?: JsonObject
}

export interface Mishap {
  readonly tick: number
  readonly process: string
  readonly type: 'died' | 'stalled'
  /** Before or after what. */
  readonly when: string
}
