// The actions of clients and operators. Plain data: `nextAction` generates them, `Clients` performs them.
import type { Message, PendingRequest } from 'toolwright'
import type { InboxItem } from 'toolwright/store'
import type { SentAnswer } from './evidence.ts'

export interface Where {
  readonly userId: string
  readonly sessionId: string
}

export type Action =
  | {
      readonly type: 'say'
      /** The slot of the process that receives it. */
      readonly slot: number
      readonly where: Where
      readonly message: Message
      readonly streaming: boolean
      /** Whether it uses `runner.complete()` instead of `runner.run()`. */
      readonly completes: boolean
      /** The client stops iterating after this number of events. */
      readonly leaveAfter?: number
    }
  | {
      readonly type: 'answer'
      readonly slot: number
      readonly where: Where
      readonly message: Message
      /** The meaning of each answer. */
      readonly means: readonly Pick<SentAnswer, 'requestId' | 'means' | 'args' | 'guess'>[]
      /** How the client answers: in turn, repeated, foreign, ... */
      readonly manner: string
      readonly completes?: boolean
    }
  /** An attacker with access to the store posts this to the inbox of a session. */
  | {
      readonly type: 'post'
      readonly where: Where
      readonly item: InboxItem
      readonly means: readonly Pick<SentAnswer, 'requestId' | 'means' | 'guess'>[]
    }
  /** An operator or a time server sets the wall clock of all processes. */
  | { readonly type: 'set clock'; readonly ms: number }
  | { readonly type: 'resume'; readonly slot: number; readonly where: Where }
  | { readonly type: 'cancel'; readonly slot: number; readonly where: Where }
  | { readonly type: 'recover'; readonly slot: number }
  /** A client forks a session, or imports its events into a new one. `at`: the share of the events that is copied. */
  | {
      readonly type: 'fork' | 'import'
      readonly slot: number
      readonly where: Where
      readonly at: number
      readonly to: string
    }
  /** An operator copies a part of the rows of a session to another one, as a script over the database would. */
  | { readonly type: 'copy rows'; readonly where: Where; readonly at: number; readonly to: string }
  | { readonly type: 'kill'; readonly slot: number }
  | { readonly type: 'stall'; readonly slot: number; readonly ms: number }
  | { readonly type: 'wait'; readonly ms: number }

/** What the generator knows about the conversation. */
export interface Sight {
  readonly pending: readonly PendingRequest[]
  /** Answers that clients sent before. */
  readonly sent: readonly Extract<Action, { type: 'answer' }>[]
  /** All requests that were pending at some time. */
  readonly seen: readonly PendingRequest[]
  /** How far the wall clock is ahead, in milliseconds. */
  readonly clockAhead: number
  /** The number of messages so far. */
  readonly turns: number
  /** The number of guessed answers so far. */
  readonly guesses: number
  /** The number of copies of sessions so far. */
  readonly copies: number
}
