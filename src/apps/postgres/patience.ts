import { systemPorts } from '../../core/base/ports.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { failureOf } from './failure.ts'

/** How long a transaction is repeated while the server is away or has no room. Default of `awayMs`. */
const AWAY_MS = 8_000

/** How long a holder of a session repeats its write, while the server cannot tell whether its lease has ended. */
const HOLDER_MS = 120_000

/** How often a transaction that met another one is repeated. */
const MAX_CONFLICTS = 10

/** Upper limit of the pause between two attempts, before jitter. */
const MAX_PAUSE_MS = 1_000

/** Options of `Patience`. */
interface PatienceOptions {
  /** Ends the pauses. */
  readonly signal: AbortSignal
  /** How long a transaction is repeated while the server is away. */
  readonly awayMs?: number | undefined
  /** Asked when that takes longer. True keeps the transaction waiting. */
  readonly mayWaitLonger?: (() => Promise<boolean>) | undefined
}

/** Decides how long a failed transaction is repeated, and waits between the attempts. */
export class Patience {
  readonly #options: PatienceOptions
  readonly #start: number = systemPorts.monotonicNow()
  #attempts = 0
  #conflicts = 0

  constructor(options: PatienceOptions) {
    this.#options = options
  }

  /** Waits before the next attempt; throws the error if there shall be none. */
  async waitAfter(error: unknown): Promise<void> {
    if (!(await this.#isWorthRepeating(error))) throw error
    const pause = Math.min(10 * 2 ** this.#attempts++, MAX_PAUSE_MS) * (0.5 + systemPorts.random())
    await pauseFor(pause, this.#options.signal)
  }

  async #isWorthRepeating(error: unknown): Promise<boolean> {
    const { signal, awayMs = AWAY_MS } = this.#options
    if (error instanceof ToolwrightError || signal.aborted) return false
    const waited = systemPorts.monotonicNow() - this.#start
    switch (failureOf(error)) {
      case 'conflict':
        return ++this.#conflicts <= MAX_CONFLICTS
      case 'away':
        return waited < awayMs || (waited < HOLDER_MS && (await this.#mayHolderWait()))
      case 'slow':
        return waited < HOLDER_MS && (await this.#mayHolderWait())
      case 'final':
        return false
    }
  }

  /** A holder waits while its lease lives. If that cannot be read, no other process can claim the session either. */
  async #mayHolderWait(): Promise<boolean> {
    const { mayWaitLonger } = this.#options
    if (!mayWaitLonger) return false
    try {
      return await mayWaitLonger()
    } catch (error) {
      return failureOf(error) === 'away'
    }
  }
}

/** Waits; not at all once the signal is aborted. The timer keeps the process alive, so that no write is lost. */
function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = systemPorts.setTimer(done, ms)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}
