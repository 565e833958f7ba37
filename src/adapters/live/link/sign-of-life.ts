// A connection whose other side is gone without a word: a network that changed, a machine that lost power. The socket stays open, and
// nothing ever arrives.
import type { Ports } from '../../../core/base/ports.ts'
import type { LiveConnection } from '../../../engine/model/live-model.ts'

/** How often the other side is asked for a sign of life, in milliseconds. */
const PING_MS = 10_000
/** A connection without a sign of life for so long is lost, in milliseconds. */
const SILENCE_MS = 30_000

/** What the watch of a connection needs. */
export interface SignOfLifeOptions {
  /** Clock and timers. */
  readonly ports: Ports
  /** Is reading paused? Then no sign can arrive. */
  isPaused(): boolean
  /** Called once when the other side has not answered for 30 seconds. */
  onSilent(): void
}

/** Asks the other side of a connection for signs of life. Does nothing for a connection without `ping()`. */
export class SignOfLife {
  readonly #connection: LiveConnection
  readonly #options: SignOfLifeOptions
  #latest: number
  #expectedAt = 0
  #cancelTimer: (() => void) | undefined
  #state: 'watching' | 'over' = 'watching'

  constructor(connection: LiveConnection, options: SignOfLifeOptions) {
    this.#connection = connection
    this.#options = options
    this.#latest = options.ports.monotonicNow()
    if (connection.ping) this.#schedule(PING_MS)
  }

  /** The other side has sent something. */
  seen(): void {
    this.#latest = this.#options.ports.monotonicNow()
  }

  /** Stops the watch. */
  close(): void {
    this.#state = 'over'
    this.#cancelTimer?.()
  }

  #schedule(ms: number): void {
    const { ports } = this.#options
    this.#expectedAt = ports.monotonicNow() + ms
    this.#cancelTimer = ports.setTimer(() => this.#check(), ms, { background: true })
  }

  #check(): void {
    if (this.#state === 'over') return
    const { ports, isPaused, onSilent } = this.#options
    const now = ports.monotonicNow()
    // a process that was suspended has asked for no sign meanwhile
    if (isPaused() || now - this.#expectedAt > PING_MS) this.#latest = now
    const leftMs = this.#latest + SILENCE_MS - now
    if (leftMs <= 0) {
      this.close()
      onSilent()
      return
    }
    this.#ping()
    this.#schedule(Math.min(PING_MS, leftMs))
  }

  #ping(): void {
    try {
      this.#connection.ping?.()?.then(
        () => this.seen(),
        () => {}, // the reader of the connection notices a loss
      )
    } catch {} // the same
  }
}
