import { type Ports, systemPorts } from '../../base/ports.ts'
import { messageOf } from '../../error/error.ts'
import type { Run } from '../../runner/run/run-handle.ts'
import type { ServedApp } from '../apps.ts'
import { benchAgentOf } from '../bench/bench-session.ts'
import type { ServerParts } from '../env.ts'
import type { RecoverySweepOptions } from '../server-options.ts'
import { RetryPlan } from './retry-plan.ts'

const EVERY_MS = 30_000

/** The share of the interval by which a sweep comes earlier or later: processes that started together do not meet for ever. */
const JITTER = 0.25

/**
 * Continues the interrupted runs of all apps from time to time, such as those of a process that died. Sessions with a live
 * lease are left alone. After a crash with many runs, at most `concurrentRuns` are under way: models have limits too.
 */
export class RecoverySweep {
  readonly #parts: Pick<ServerParts, 'apps' | 'logger' | 'metrics' | 'limits'>
  readonly #options: RecoverySweepOptions
  readonly #ports: Pick<Ports, 'setTimer' | 'random'>
  readonly #plans: Map<string, RetryPlan> = new Map()
  /** Continued runs that are under way, and those of this sweep that may be soon. */
  #running = 0
  #cancelTimer: (() => void) | undefined
  #isClosed = false

  constructor(
    parts: Pick<ServerParts, 'apps' | 'logger' | 'metrics' | 'limits'>,
    options: RecoverySweepOptions = {},
    ports: Pick<Ports, 'setTimer' | 'random'> = systemPorts,
  ) {
    this.#parts = parts
    this.#options = options
    this.#ports = ports
  }

  /** Starts the timer. The first sweep comes after the interval: the leases of a process that was restarted have ended then. */
  start(): void {
    if (this.#isClosed) return
    const { everyMs = EVERY_MS } = this.#options
    const waitMs = everyMs * (1 - JITTER + 2 * JITTER * this.#ports.random())
    this.#cancelTimer = this.#ports.setTimer(() => void this.#sweep(), waitMs, { background: true })
  }

  /** Stops the timer. Runs that a sweep has continued belong to their runners. */
  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
  }

  /** Never rejects. The next sweep is planned when this one is over. */
  async #sweep(): Promise<void> {
    await Promise.all(this.#parts.apps.all().map((app) => this.#recover(app)))
    this.start()
  }

  async #recover({ name, runner }: ServedApp): Promise<void> {
    const { where = () => true, runContext } = this.#options
    const plan = this.#plans.get(name) ?? new RetryPlan()
    this.#plans.set(name, plan)
    let tried = 0
    const mayTry = (session: { userId: string; sessionId: string }): boolean => {
      // the model of the app must not continue a single call of the tool bench
      if (benchAgentOf(session.sessionId) !== undefined || !where(session)) return false
      if (this.#running >= this.#parts.limits.concurrentRuns || !plan.isDue(session)) return false
      this.#running++
      tried++
      return true
    }
    try {
      const runs = await runner.recover({ runContext, where: mayTry })
      plan.endSweep()
      this.#parts.metrics.countRecoveredRuns(runs.length)
      tried -= runs.length
      for (const run of runs) void this.#watch(run)
    } catch (error) {
      this.#report(`The interrupted runs of app "${name}" were not continued`, error)
    } finally {
      this.#running -= tried // they were not continued
    }
  }

  async #watch(run: Run): Promise<void> {
    try {
      for await (const _ of run);
    } catch (error) {
      this.#report(`The continued run of session "${run.sessionId}" failed`, error)
    } finally {
      this.#running--
    }
  }

  #report(problem: string, error: unknown): void {
    if (this.#isClosed) return // runs are interrupted, and the store may be closed
    this.#parts.logger.error(`${problem}: ${messageOf(error)}`, error)
  }
}
