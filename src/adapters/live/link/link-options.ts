import type { Ports } from '../../../core/base/ports.ts'
import type {
  LiveClientMessage,
  LiveConnectionError,
  LiveConnectOptions,
  LiveModel,
  LiveServerMessage,
} from '../../../engine/model/live-model.ts'

/** How often and how fast a lost connection is made again. */
export interface ReconnectOptions {
  /** Attempts until the session ends. Default 10. */
  readonly attempts?: number | undefined
  /** Longest delay before the second attempt in milliseconds; it doubles with each further one. Default 250. */
  readonly delayMs?: number | undefined
  /** Upper limit of the delay in milliseconds. Default 8,000. */
  readonly maxDelayMs?: number | undefined
}

/** What a session hears from its link. */
export type LinkNews =
  | { readonly type: 'message'; readonly message: LiveServerMessage }
  /** A connection is lost, or is left for another one. */
  | { readonly type: 'lost' }
  /** An attempt to connect again begins. */
  | { readonly type: 'reconnecting'; readonly attempt: number }
  /** The session is connected again. */
  | { readonly type: 'resumed' }
  /** All attempts have failed. */
  | { readonly type: 'failed'; readonly error: LiveConnectionError }

/** What the link needs from the session. */
export interface LinkOptions {
  /** The live model. */
  readonly model: LiveModel
  /** Timers and randomness. */
  readonly ports: Ports
  /** When to give up. */
  readonly reconnect: ReconnectOptions
  /** Instruction and tools for a new connection. */
  setup(): Promise<Pick<LiveConnectOptions, 'instruction' | 'tools'>>
  /** A handle has arrived. Returns false if the handle misses a part of the conversation. The link does not use it then. */
  onHandle(): boolean
  /** Can the conversation go on from the newest handle? Otherwise a new one starts from the log. */
  canResume(): boolean
  /**
   * Passes what a new connection must be told first to `send`, at a moment when nothing is half recorded. `isResumed`: the
   * model knows what the newest handle covers; otherwise it knows nothing. Rejects with what `send` throws.
   */
  introduce(isResumed: boolean, send: (messages: readonly LiveClientMessage[]) => void): Promise<void>
  /** Settles when nothing is under way, so that the connection can be changed unnoticed. */
  whenIdle(): Promise<void>
  /** Called with what happens on the connection. Never waits. */
  on(news: LinkNews): void
}
