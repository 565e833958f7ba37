import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { ServerParts } from '../env.ts'
import type { SweepPruneOptions } from '../server-options.ts'

/** How long retention waits between two times, in milliseconds. */
const EVERY_MS = 3_600_000

/** Deletes old sessions of all apps from time to time, when a sweep asks for it. */
export class Pruning {
  readonly #parts: Pick<ServerParts, 'apps' | 'logger'>
  readonly #options: SweepPruneOptions
  readonly #ports: Pick<Ports, 'monotonicNow'>
  readonly #stop: AbortController = new AbortController()
  #nextAt = Number.NEGATIVE_INFINITY
  #isRunning = false

  constructor(
    parts: Pick<ServerParts, 'apps' | 'logger'>,
    options: SweepPruneOptions,
    ports: Pick<Ports, 'monotonicNow'> = systemPorts,
  ) {
    this.#parts = parts
    this.#options = options
    this.#ports = ports
  }

  /** Prunes all apps if it is time. Never rejects. */
  async pruneIfDue(): Promise<void> {
    const now = this.#ports.monotonicNow()
    if (this.#isRunning || now < this.#nextAt) return
    const { everyMs = EVERY_MS, ...options } = this.#options
    this.#nextAt = now + everyMs
    this.#isRunning = true
    for (const { name, runner } of this.#parts.apps.all()) {
      if (this.#stop.signal.aborted) break
      await runner.prune({ ...options, signal: this.#stop.signal }).catch((error) => {
        if (!this.#stop.signal.aborted)
          this.#parts.logger.error(`The sessions of app "${name}" were not pruned: ${messageOf(error)}`, error)
      })
    }
    this.#isRunning = false
  }

  /** Ends after the session that is being deleted. */
  close(): void {
    this.#stop.abort()
  }
}
