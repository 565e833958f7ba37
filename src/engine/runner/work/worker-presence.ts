import { withTimeout } from '../../../core/base/with-timeout.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { WorkerReport, WorkerService } from '../../../services/worker/service.ts'
import type { RunFactory } from '../run/run-factory.ts'
import { agentsDigest } from './agents-digest.ts'

/** How a worker is shown to operators. */
export interface PresenceOptions {
  /** What gives the worker its work. */
  readonly engine: WorkerReport['engine']
  /** What its operator calls it. */
  readonly label?: string | undefined
}

/** How often a worker reports, in milliseconds. */
const REPORT_MS = 10_000
/** A worker that has not reported for this time, in milliseconds, is lost. */
export const LOST_MS: number = 3 * REPORT_MS
/** Lost workers are shown for this time, in milliseconds, with what they have recovered. */
const SWEEP_MS = 3_600_000
/** How often a worker looks for lost ones, in reports: each ten minutes. */
const SWEEP_EVERY = 60
/** How long a worker that ends waits for the store, in milliseconds. */
const END_MS = 2_000

/** Tells the store that a worker is there, from its start to its end. A store that fails is reported, and stops nothing. */
export class WorkerPresence {
  readonly #factory: RunFactory
  readonly #workers: WorkerService
  readonly #options: PresenceOptions
  readonly #id: string
  readonly #startedAt: number
  #agents: Promise<string> | undefined
  #reports = 0
  /** The report under way. */
  #reporting: Promise<void> = Promise.resolve()
  #isFailing = false
  #cancelTimer: (() => void) | undefined
  #hasEnded = false

  constructor(factory: RunFactory, workers: WorkerService, options: PresenceOptions) {
    const { ports } = factory.services
    this.#factory = factory
    this.#workers = workers
    this.#options = options
    this.#id = ports.newId()
    this.#startedAt = ports.now()
    this.#next()
  }

  /** Reports now, and plans the next report. */
  #next(): void {
    const { ports } = this.#factory.services
    this.#reporting = this.#report().then(() => {
      if (this.#hasEnded) return
      this.#cancelTimer = ports.setTimer(() => this.#next(), REPORT_MS, { background: true })
    })
  }

  /** Never rejects. */
  async #report(): Promise<void> {
    const { factory, workers } = { factory: this.#factory, workers: this.#workers }
    const { appName, services } = factory
    try {
      this.#agents ??= agentsDigest(factory.tree)
      await workers.report(this.#describe(await this.#agents))
      if (this.#reports++ % SWEEP_EVERY === 0) await workers.sweep({ appName, unseenMs: SWEEP_MS })
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing && !this.#hasEnded)
        services.logger.warn(`The worker works, but cannot be listed: ${messageOf(error)}`, error)
      this.#isFailing = true
    }
  }

  #describe(agents: string): WorkerReport {
    const { appName, activity, running } = this.#factory
    const { engine, label } = this.#options
    const { continued, crashes, recoveries } = activity
    return {
      appName,
      id: this.#id,
      ...(label !== undefined && { label }),
      engine,
      version: this.#workers.version ?? 'unknown',
      agents,
      startedAt: this.#startedAt,
      running: running.all().length,
      continued,
      crashes,
      recoveries,
    }
  }

  /** Removes the worker from the list. */
  async end(): Promise<void> {
    this.#hasEnded = true
    this.#cancelTimer?.()
    const { appName, services } = this.#factory
    const removed = this.#reporting.then(() => this.#workers.remove({ appName, id: this.#id }))
    // it is shown as lost, and swept later
    await withTimeout(
      removed.catch(() => {}),
      END_MS,
      services.ports,
      () => undefined,
    )
  }
}

/** Tells the store that there is a worker, if it stores workers. */
export function startPresence(factory: RunFactory, options: PresenceOptions): WorkerPresence | undefined {
  const { workerService } = factory.services
  return workerService && new WorkerPresence(factory, workerService, options)
}
