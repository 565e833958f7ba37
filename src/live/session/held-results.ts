import type { Ports } from '../../base/ports.ts'
import type { Content } from '../../content/content.ts'
import type { LiveClientMessage } from '../../tool/live-model.ts'

/**
 * A model that has been quiet for so long counts as idle, in milliseconds: a model may choose not to reply, and some never say that
 * their turn is complete.
 */
const QUIET_MS = 3_000

/** Results that a model must not hear now. */
export interface HeldMessage {
  /** The results. */
  readonly contents: readonly Content[]
  /** Does the model reply? */
  readonly turnComplete: boolean
}

/** What held results need from the session. */
export interface HeldResultsOptions {
  /** Timers. */
  readonly ports: Ports
  /** Does the model neither speak nor owe a reply? */
  isIdle(): boolean
  /** Does the model wait for a call? It cannot speak then. */
  isBlocked(): boolean
  /** Milliseconds since anyone spoke or wrote. */
  quietMs(): number
  /** Sends a message of the conversation. */
  tell(message: LiveClientMessage): void
}

/** Results for a model that takes them only as messages. A message would stop what the model says, so that they wait for its end. */
export class HeldResults {
  readonly #options: HeldResultsOptions
  #held: HeldMessage[] = []
  #cancelTimer: (() => void) | undefined

  constructor(options: HeldResultsOptions) {
    this.#options = options
  }

  /** Sends results once the model is idle. */
  add(message: HeldMessage): void {
    this.#held.push(message)
    this.send()
  }

  /** Sends all results as one message if the model is idle. */
  send(): void {
    if (this.#held.length === 0) return
    const { isIdle, isBlocked, quietMs, ports } = this.#options
    const leftMs = isIdle() ? 0 : QUIET_MS - (isBlocked() ? 0 : quietMs())
    if (leftMs <= 0) {
      this.#tell()
      return
    }
    const check = (): void => {
      this.#cancelTimer = undefined
      this.send()
    }
    this.#cancelTimer ??= ports.setTimer(check, leftMs, { background: true })
  }

  #tell(): void {
    const message = this.take()
    if (message) this.#options.tell({ type: 'content', ...message })
  }

  /** Removes and returns all results as one message, such as for a new conversation, which the log tells. */
  take(): HeldMessage | undefined {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const held = this.#held
    this.#held = []
    if (held.length === 0) return undefined
    return {
      contents: held.flatMap(({ contents }) => contents),
      turnComplete: held.some(({ turnComplete }) => turnComplete),
    }
  }
}
