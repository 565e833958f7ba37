import { systemPorts } from '../../../core/base/ports.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { WorkItem } from '../../../engine/runner/work/work-item.ts'
import { watchSessions } from '../../../services/session/watch-sessions.ts'
import type { ServedApp } from '../apps.ts'
import { looksLikeBench, type UserSession } from '../bench/bench-session.ts'
import type { ServerParts } from '../env.ts'
import type { RecoverySweepOptions } from '../server-options.ts'

/** The most changed sessions that are remembered. The sweep continues the others. */
const MAX_CHANGED = 1_000

/** The first requests of a server come before its other work, in milliseconds. */
const DELAY_MS = 1_000

/** How long runs may go on after the signal of the worker, in milliseconds: the server closes its runners before. */
const GRACE_MS = 600_000

/**
 * A worker beside the sweep, for what should not wait for it: posted answers, schedules that are due, and sessions that another
 * process has just left with an answer.
 */
export class ServerWork {
  readonly #parts: Pick<ServerParts, 'apps' | 'logger' | 'metrics' | 'limits'>
  readonly #options: RecoverySweepOptions
  readonly #stop: AbortController = new AbortController()
  #cancelTimer: (() => void) | undefined

  constructor(parts: Pick<ServerParts, 'apps' | 'logger' | 'metrics' | 'limits'>, options: RecoverySweepOptions = {}) {
    this.#parts = parts
    this.#options = options
  }

  /** Starts a worker for each app, a second later. */
  start(): void {
    this.#cancelTimer = systemPorts.setTimer(() => this.#startAll(), DELAY_MS, { background: true })
  }

  #startAll(): void {
    for (const app of this.#parts.apps.all()) {
      if (app.runner.internals.engine) continue // the workers of the engine do it
      this.#work(app).catch((error) => {
        if (!this.#stop.signal.aborted)
          this.#parts.logger.error(`App "${app.name}" does no unattended work: ${messageOf(error)}`, error)
      })
    }
  }

  /** Ends the workers. Runs under way belong to their runners. */
  close(): void {
    this.#cancelTimer?.()
    this.#stop.abort()
  }

  async #work({ runner }: ServedApp): Promise<void> {
    const { where = () => true, runContext } = this.#options
    const { signal } = this.#stop
    const changed = new Set<string>()
    const unwatch = watchSessions(runner.sessionService, ({ appName, userId, sessionId }) => {
      if (appName === runner.appName) remember(changed, keyOf({ userId, sessionId }))
    })
    const filter = {
      isWanted: (item: WorkItem): boolean => {
        if (item.type === 'overdue' || looksLikeBench(item)) return false
        return item.type !== 'interrupted' || changed.has(keyOf(item))
      },
      onStarted: (item: WorkItem): void => {
        if (item.type === 'interrupted') this.#parts.metrics.countRecoveredRuns(1)
      },
    }
    const concurrency = this.#parts.limits.concurrentRuns
    try {
      await runner.internals.work({ signal, where, runContext, concurrency, graceMs: GRACE_MS }, filter)
    } finally {
      unwatch()
    }
  }
}

function remember(changed: Set<string>, key: string): void {
  changed.delete(key)
  changed.add(key)
  const [oldest] = changed
  if (changed.size > MAX_CHANGED && oldest !== undefined) changed.delete(oldest)
}

function keyOf({ userId, sessionId }: UserSession): string {
  return JSON.stringify([userId, sessionId])
}
