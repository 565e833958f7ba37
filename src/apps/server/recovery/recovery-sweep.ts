import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { Run } from '../../../engine/runner/run/run-handle.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { ServedApp } from '../apps.ts'
import { looksLikeBench, type UserSession } from '../bench/bench-session.ts'
import type { ServerParts } from '../env.ts'
import type { RecoverySweepOptions } from '../server-options.ts'
import { Pruning } from './pruning.ts'
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
  readonly #pruning: Pruning | undefined
  readonly #plans: Map<string, RetryPlan> = new Map()
  /** Continued runs that are under way, and those of this sweep that may be soon. */
  #running = 0
  /** One sweep at a time: the plans count sweeps. */
  #underWay: Promise<unknown> | undefined
  #cancelTimer: (() => void) | undefined
  #isClosed = false

  constructor(
    parts: Pick<ServerParts, 'apps' | 'logger' | 'metrics' | 'limits'>,
    options: RecoverySweepOptions = {},
    ports: Pick<Ports, 'setTimer' | 'random'> = systemPorts,
  ) {
    this.#parts = parts
    this.#options = options
    this.#pruning = options.prune && new Pruning(parts, options.prune)
    this.#ports = ports
  }

  /** Starts the timer. The first sweep comes after the interval: the leases of a process that was restarted have ended then. */
  start(): void {
    if (this.#isClosed) return
    const { everyMs = EVERY_MS } = this.#options
    const waitMs = everyMs * (1 - JITTER + 2 * JITTER * this.#ports.random())
    this.#cancelTimer = this.#ports.setTimer(() => void this.#sweepAndPlan(), waitMs, { background: true })
  }

  /** Stops the timer. Runs that a sweep has continued belong to their runners. */
  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    this.#pruning?.close()
  }

  /**
   * Looks for interrupted runs now, such as when the server starts. Returns how many were continued, by app. The others are
   * continued by later sweeps. Never rejects.
   */
  sweep(): Promise<ReadonlyMap<string, number>> {
    const sweep = async (): Promise<ReadonlyMap<string, number>> => {
      const apps = this.#parts.apps.all()
      return new Map(await Promise.all(apps.map(async (app) => [app.name, await this.#recover(app)] as const)))
    }
    const swept = this.#underWay ? this.#underWay.then(sweep) : sweep()
    this.#underWay = swept
    return swept.finally(() => {
      if (this.#underWay === swept) this.#underWay = undefined
    })
  }

  /** The next sweep is planned when this one is over. */
  async #sweepAndPlan(): Promise<void> {
    await this.sweep()
    void this.#pruning?.pruneIfDue() // may take long, and never rejects
    this.start()
  }

  /** Returns how many runs were continued. */
  async #recover(app: ServedApp): Promise<number> {
    const { name, benchSessions, runner } = app
    if (runner.internals.engine) return 0 // workers find them: two searches would compete
    const { where = () => true } = this.#options
    const plan = this.#plans.get(name) ?? new RetryPlan()
    this.#plans.set(name, plan)
    const similar: UserSession[] = []
    const isWanted = (session: UserSession): boolean => {
      if (!where(session) || !plan.isDue(session)) return false
      if (!looksLikeBench(session)) return true
      similar.push(session)
      return false
    }
    try {
      const runs = await this.#continue(app, isWanted)
      plan.endSweep()
      if (similar.length === 0) return runs
      // the model of the app must not continue a single call of the tool bench
      const findBenchAgent = await benchSessions.finder()
      const isBench = (session: UserSession): boolean => findBenchAgent(session) !== undefined
      await removeBenches(app.runner, similar.filter(isBench))
      const ids = new Set(similar.filter((session) => !isBench(session)).map(keyOf))
      return ids.size === 0 ? runs : runs + (await this.#continue(app, (session) => ids.has(keyOf(session))))
    } catch (error) {
      this.#report(`The interrupted runs of app "${name}" were not continued`, error)
      return 0
    }
  }

  /** Continues the interrupted runs that are wanted, as many as the limit allows. */
  async #continue({ runner }: ServedApp, isWanted: (session: UserSession) => boolean): Promise<number> {
    let tried = 0
    const mayTry = (session: UserSession): boolean => {
      if (this.#running >= this.#parts.limits.concurrentRuns || !isWanted(session)) return false
      this.#running++
      tried++
      return true
    }
    try {
      const runs = await runner.recover({ runContext: this.#options.runContext, where: mayTry })
      this.#parts.metrics.countRecoveredRuns(runs.length)
      tried -= runs.length
      for (const run of runs) void this.#watch(run)
      return runs.length
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

/** Removes calls of the tool bench that died with their process: no page waits for them, and no model may continue them. */
async function removeBenches(runner: Runner, benches: readonly UserSession[]): Promise<void> {
  for (const bench of benches) {
    const isOurs = await runner.sessionService.claim({ appName: runner.appName, ...bench }).then(
      () => true,
      () => false, // another process was faster
    )
    if (isOurs) await runner.deleteSession(bench)
  }
}

function keyOf({ userId, sessionId }: UserSession): string {
  return JSON.stringify([userId, sessionId])
}
