// Things clients and operators do. Data only: the generator makes them, the environment does them.
import type { InboxItem, Message, PendingRequest } from 'toolwright'
import type { SentAnswer } from './evidence.ts'

export interface Where {
  readonly userId: string
  readonly sessionId: string
}

export type Action =
  | {
      readonly type: 'say'
      /** Which of the processes is asked. */
      readonly slot: number
      readonly where: Where
      readonly message: Message
      readonly streaming: boolean
      /** By `runner.complete()` instead of `runner.run()`. */
      readonly completes: boolean
      /** The client goes away after so many events. */
      readonly leaveAfter?: number
    }
  | {
      readonly type: 'answer'
      readonly slot: number
      readonly where: Where
      readonly message: Message
      /** What it means, question by question. */
      readonly means: readonly Pick<SentAnswer, 'requestId' | 'means' | 'args' | 'guess'>[]
      /** In a word: as it should be, repeated, foreign, ... */
      readonly manner: string
      readonly completes?: boolean
    }
  /** Somebody who reaches the store leaves this in the inbox of a session. */
  | {
      readonly type: 'post'
      readonly where: Where
      readonly item: InboxItem
      readonly means: readonly Pick<SentAnswer, 'requestId' | 'means' | 'guess'>[]
    }
  /** The operator, or a time server, sets the wall clock of all processes. */
  | { readonly type: 'set clock'; readonly ms: number }
  | { readonly type: 'resume'; readonly slot: number; readonly where: Where }
  | { readonly type: 'cancel'; readonly slot: number; readonly where: Where }
  | { readonly type: 'recover'; readonly slot: number }
  | { readonly type: 'kill'; readonly slot: number }
  | { readonly type: 'stall'; readonly slot: number; readonly ms: number }
  | { readonly type: 'wait'; readonly ms: number }

/** What whoever acts can see. */
export interface Sight {
  readonly pending: readonly PendingRequest[]
  /** Answers that were sent before. */
  readonly sent: readonly Extract<Action, { type: 'answer' }>[]
  /** Questions that were open at some time. */
  readonly seen: readonly PendingRequest[]
  /** By how much the clock is ahead. */
  readonly clockAhead: number
  /** How many messages were sent. */
  readonly turns: number
  /** How many answers were sent on a guess. */
  readonly guesses: number
}
