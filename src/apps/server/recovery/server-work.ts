import { systemPorts } from '../../../core/base/ports.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { WorkItem } from '../../../engine/runner/work/work-item.ts'
import type { Worker } from '../../../engine/runner/work/worker.ts'
import type { ServedApp } from '../apps.ts'
import { looksLike, type UserSession } from '../bench/signed-sessions.ts'
import type { ServerParts } from '../env.ts'
import type { RecoverySweepOptions } from '../server-options.ts'

/** The first requests of a server come before its other work, in milliseconds. */
const DELAY_MS = 1_000

/** How long runs may go on after the signal of the worker, in milliseconds: the server closes its runners before. */
const GRACE_MS = 600_000

/**
 * A worker for each app, which continues what other processes have left or answered, and starts what is scheduled. After a crash with
 * many runs, at most `concurrentRuns` of an app are under way: models have limits too.
 */
export class ServerWork {
  readonly #parts: Pick<ServerParts, 'apps' | 'logger' | 'metrics' | 'limits'>
  readonly #options: RecoverySweepOptions
  readonly #stop: AbortController = new AbortController()
  readonly #workers: Map<string, Promise<Worker>> = new Map()
  /** How many runs were continued, by app. */
  readonly #recovered: Map<string, number> = new Map()
  #cancelTimer: (() => void) | undefined

  constructor(parts: Pick<ServerParts, 'apps' | 'logger' | 'metrics' | 'limits'>, options: RecoverySweepOptions = {}) {
    this.#parts = parts
    this.#options = options
  }

  /** Starts the workers, a second later. */
  start(): void {
    const workAll = (): void => {
      for (const app of this.#apps()) void this.#with(app, (worker) => worker.work())
    }
    this.#cancelTimer = systemPorts.setTimer(workAll, DELAY_MS, { background: true })
  }

  /**
   * Looks for work now, such as when the server starts. Returns how many runs were continued, by app. The others are continued when
   * these have ended. Never rejects.
   */
  async recover(): Promise<ReadonlyMap<string, number>> {
    const apps = this.#parts.apps.all()
    const countOf = ({ name }: ServedApp): number => this.#recovered.get(name) ?? 0
    const before = new Map(apps.map((app) => [app, countOf(app)]))
    await Promise.all(this.#apps().map((app) => this.#with(app, (worker) => worker.look())))
    return new Map(apps.map((app) => [app.name, countOf(app) - (before.get(app) ?? 0)]))
  }

  /** The apps whose work no engine gives to workers: two searches would compete. */
  #apps(): readonly ServedApp[] {
    return this.#parts.apps.all().filter(({ runner }) => runner.internals.engine === undefined)
  }

  /** Ends the workers. Runs under way belong to their runners. */
  close(): void {
    this.#cancelTimer?.()
    this.#stop.abort()
  }

  async #with(app: ServedApp, use: (worker: Worker) => Promise<void>): Promise<void> {
    try {
      await use(await this.#workerOf(app))
    } catch (error) {
      if (this.#stop.signal.aborted) return // runs are interrupted, and the store may be closed
      this.#parts.logger.error(`App "${app.name}" does no unattended work: ${messageOf(error)}`, error)
    }
  }

  #workerOf(app: ServedApp): Promise<Worker> {
    const known = this.#workers.get(app.name)
    if (known) return known
    const { where, runContext, everyMs: pollMs } = this.#options
    const concurrency = this.#parts.limits.concurrentRuns
    const made = app.runner.internals.worker(
      { signal: this.#stop.signal, where, runContext, pollMs, concurrency, graceMs: GRACE_MS },
      { select: (items) => this.#ownItems(app, items), onStarted: (item) => this.#count(app, item) },
    )
    this.#workers.set(app.name, made)
    return made
  }

  /** What the agents of the app continue. */
  async #ownItems(app: ServedApp, items: readonly WorkItem[]): Promise<readonly WorkItem[]> {
    return await this.#withoutWhatIfs(app, await withoutBenches(app, items))
  }

  /** The agents of the file must not continue a what-if copy. A server with `dev` continues it with the variants of the copy. */
  async #withoutWhatIfs({ whatIfs }: ServedApp, items: readonly WorkItem[]): Promise<readonly WorkItem[]> {
    if (!items.some((item) => looksLike('what-if', item))) return items
    const isWhatIf = await whatIfs.finder()
    const { runContext } = this.#options
    const how = { signal: this.#stop.signal, runContext, logger: this.#parts.logger }
    for (const item of items) if (isWhatIf(item)) void whatIfs.work(item, how)
    return items.filter((item) => !isWhatIf(item))
  }

  #count({ name }: ServedApp, { type }: WorkItem): void {
    if (type !== 'interrupted' && type !== 'overdue') return
    this.#recovered.set(name, (this.#recovered.get(name) ?? 0) + 1)
    this.#parts.metrics.countRecoveredRuns(1)
  }
}

/** The model of an app must not continue a single call of the tool bench. Those that died with their process are removed. */
async function withoutBenches(
  { runner, benchSessions }: ServedApp,
  items: readonly WorkItem[],
): Promise<readonly WorkItem[]> {
  if (!items.some((item) => looksLike('bench', item))) return items
  const findBenchAgent = await benchSessions.finder()
  const isBench = (item: WorkItem): boolean => findBenchAgent(item) !== undefined
  const isDead = ({ type }: WorkItem): boolean => type === 'interrupted' || type === 'overdue'
  await removeBenches(
    runner,
    items.filter((item) => isBench(item) && isDead(item)),
  )
  return items.filter((item) => !isBench(item))
}

/** Removes calls of the tool bench: no page waits for them. */
async function removeBenches(runner: Runner, benches: readonly UserSession[]): Promise<void> {
  const { appName, sessionService } = runner
  for (const { userId, sessionId } of benches) {
    const isOurs = await sessionService.claim({ appName, userId, sessionId }).then(
      () => true,
      () => false, // another process was faster
    )
    if (isOurs) await runner.deleteSession({ userId, sessionId })
  }
}
