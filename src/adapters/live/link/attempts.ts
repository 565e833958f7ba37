import { backoffMs } from '../../../core/base/backoff.ts'
import type { Ports } from '../../../core/base/ports.ts'
import type { LiveConnectionError } from '../../../engine/model/live-model.ts'
import type { ReconnectOptions } from './link-options.ts'

const DEFAULT_ATTEMPTS = 10
const DEFAULT_DELAY_MS = 250
const DEFAULT_MAX_DELAY_MS = 8_000
/** A connection that lasted this long worked. */
const STABLE_MS = 30_000
/** A connection that is made again and lost sooner is made again with a delay. */
const SHORT_MS = 1_000
/** After this many attempts that the provider refused, the handle may be the reason. */
const HANDLE_ATTEMPTS = 4
/** The close code of a WebSocket that ended without one. */
const LOST = 1_006

/** Counts the attempts to connect since a connection last worked. */
export class Attempts {
  readonly #options: ReconnectOptions
  readonly #ports: Pick<Ports, 'monotonicNow' | 'random'>
  #connectedAt: number | undefined
  /** The latest connection. */
  #latest: 'none' | 'first' | 'again' = 'none'
  /** How long a connection that was made again lasted. */
  #lasted: 'short' | 'long' = 'long'
  /** Attempts since a connection last worked. */
  count = 0

  constructor(options: ReconnectOptions, ports: Pick<Ports, 'monotonicNow' | 'random'>) {
    this.#options = options
    this.#ports = ports
  }

  /** Are all attempts used up? */
  get isOver(): boolean {
    return this.count >= (this.#options.attempts ?? DEFAULT_ATTEMPTS)
  }

  /** A connection was made. */
  connected(): void {
    this.#latest = this.#latest === 'none' ? 'first' : 'again'
    this.#connectedAt = this.#ports.monotonicNow()
  }

  /** The connection works: the model has ended a turn. Less does not count, or a message that breaks the provider is repeated forever. */
  worked(): void {
    this.count = 0
  }

  /** The connection is over. Earlier attempts no longer count if it lasted. */
  ended(): void {
    const lastedMs = this.#ports.monotonicNow() - (this.#connectedAt ?? 0)
    if (lastedMs >= STABLE_MS) this.count = 0
    this.#lasted = this.#latest === 'again' && lastedMs < SHORT_MS ? 'short' : 'long'
  }

  /** The delay before the attempt with this number. The first one comes at once, unless connections are lost again and again. */
  delayMs(attempt: number): number {
    const { delayMs = DEFAULT_DELAY_MS, maxDelayMs = DEFAULT_MAX_DELAY_MS } = this.#options
    if (attempt <= 1 && this.#lasted === 'long') return 0
    return backoffMs(Math.max(1, attempt - 1), { delayMs, maxDelayMs }, this.#ports.random)
  }

  /** Is the handle the reason of the failure? Only a provider that closes the WebSocket with a code has looked at it. */
  isHandleRefused({ recover, code = 0 }: LiveConnectionError): boolean {
    return recover === 'fresh' || (this.count > HANDLE_ATTEMPTS && code >= 1_000 && code !== LOST)
  }
}
