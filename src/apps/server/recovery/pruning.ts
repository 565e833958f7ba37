import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { ServerParts } from '../env.ts'
import type { SweepPruneOptions } from '../server-options.ts'

/** How long retention waits between two times, in milliseconds. */
const EVERY_MS = 3_600_000

/** The first requests of a server come before retention, in milliseconds. */
const DELAY_MS = 1_000

/** Deletes old sessions of all apps from time to time. */
export class Pruning {
  readonly #parts: Pick<ServerParts, 'apps' | 'logger'>
  readonly #options: SweepPruneOptions
  readonly #ports: Pick<Ports, 'setTimer'>
  readonly #stop: AbortController = new AbortController()
  #cancelTimer: (() => void) | undefined

  constructor(
    parts: Pick<ServerParts, 'apps' | 'logger'>,
    options: SweepPruneOptions,
    ports: Pick<Ports, 'setTimer'> = systemPorts,
  ) {
    this.#parts = parts
    this.#options = options
    this.#ports = ports
  }

  /** Prunes a second later, then again and again. */
  start(): void {
    this.#pruneIn(DELAY_MS)
  }

  /** Ends after the session that is being deleted. */
  close(): void {
    this.#stop.abort()
    this.#cancelTimer?.()
  }

  #pruneIn(ms: number): void {
    this.#cancelTimer = this.#ports.setTimer(() => void this.#prune(), ms, { background: true })
  }

  /** Prunes all apps, and plans the next time. Never rejects. */
  async #prune(): Promise<void> {
    const { everyMs = EVERY_MS, ...options } = this.#options
    const { signal } = this.#stop
    for (const { name, runner } of this.#parts.apps.all()) {
      if (signal.aborted) return
      await runner.prune({ ...options, signal }).catch((error) => {
        if (signal.aborted) return
        this.#parts.logger.error(`The sessions of app "${name}" were not pruned: ${messageOf(error)}`, error)
      })
    }
    if (!signal.aborted) this.#pruneIn(everyMs)
  }
}
