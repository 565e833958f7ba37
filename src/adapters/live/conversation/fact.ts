// What happens between a session and its live model. Everything that the session knows of the conversation follows from these facts.
import type { Content, FunctionResponse } from '../../../core/content/content.ts'
import type { LiveServerMessage, LiveToolCall } from '../../../engine/model/live-model.ts'

/** What happened. */
export type Happening =
  /** This side sent contents, or keeps them for the next connection. */
  | { readonly type: 'sent'; readonly contents: readonly Content[]; readonly wants: Wanted }
  /** This side sent a response to a call, or keeps it for the next connection. */
  | { readonly type: 'responded'; readonly response: FunctionResponse }
  /** Results must not be told before the model is idle. */
  | { readonly type: 'held'; readonly contents: readonly Content[]; readonly wants: Wanted }
  /** Held results are sent. */
  | { readonly type: 'released' }
  /** The app says that the user starts or stops to speak. */
  | { readonly type: 'activity'; readonly state: 'start' | 'end' }
  /** The user writes. What was heard before is a message of its own. */
  | { readonly type: 'wrote' }
  /** The model sent a message. */
  | { readonly type: 'received'; readonly message: LiveServerMessage }
  /** The model made calls that it had not made before. */
  | { readonly type: 'called'; readonly calls: readonly LiveToolCall[] }
  /** A new handle has arrived: the provider can restore the conversation as it was when it made the handle. */
  | { readonly type: 'handle' }
  /** The connection is gone, and the reply with it. */
  | { readonly type: 'lost' }
  /** A connection that knows what the newest handle covers was told the rest. */
  | { readonly type: 'resumed'; readonly wants: Wanted }
  /** A connection that knows nothing was told what the log has. */
  | { readonly type: 'restarted'; readonly told: 'log' | 'nothing'; readonly wants: Wanted }

/** One fact, and when it happened. */
export type Fact = Happening & {
  /** Milliseconds on a clock that is never set. */
  readonly at: number
}

/** What this side wants the model to do about what it was sent. */
export type Wanted = 'reply' | 'nothing'
