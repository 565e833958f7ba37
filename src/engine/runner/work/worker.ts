// The loop of a worker: continues what no caller waits for, until its signal aborts.

import { withTimeout } from '../../../core/base/with-timeout.ts'
import { messageOf } from '../../../core/error/error.ts'
import { watchSessions } from '../../../services/session/watch-sessions.ts'
import { ActiveRun } from '../run/active-run.ts'
import type { StartedRun } from '../run/run-handle.ts'
import type { RunStarter } from '../run/run-starter.ts'
import { endRuns, interrupted } from '../run/stop-runs.ts'
import type { WorkOptions } from '../runner-options.ts'
import { startTick, type TickParts } from '../schedules/start-tick.ts'
import { type Continued, continueSession } from './continue-session.ts'
import { FairQueue } from './fair-queue.ts'
import type { WorkFinder } from './find-work.ts'
import { Refusals } from './refusals.ts'
import { type Outcome, RetryDelays } from './retry-delays.ts'
import { Wake } from './wake.ts'
import { itemKeyOf, keyOf, type SessionOfApp, type WorkFilter, type WorkItem } from './work-item.ts'

/** What a worker is made of. */
export interface WorkerParts extends Pick<TickParts, 'schedules'> {
  /** Starts runs. */
  readonly starter: RunStarter
  /** Finds work. */
  readonly finder: WorkFinder
  /** Which work the worker does. Default: all. */
  readonly filter?: WorkFilter | undefined
}

/** No run could start: the user or the app has as many as it may have. */
type Limited = Extract<Continued, { type: 'limited' }>

const DEFAULT_CONCURRENCY = 10
const POLL_MS = 1_000
/** How many processes in a row may die with a session before workers leave it alone. */
export const MAX_CRASHES = 5
const GRACE_MS = 10_000
/** The longest pause after the store has failed, in milliseconds. */
const MAX_PAUSE_MS = 30_000
/** Two looks into the store are this far apart, in milliseconds, also if a watched store changes all the time. */
const LEAST_MS = 50

/** A process that continues sessions without a caller. */
export class Worker {
  readonly #parts: WorkerParts
  readonly #options: WorkOptions
  readonly #queue: FairQueue = new FairQueue()
  readonly #delays: RetryDelays = new RetryDelays()
  readonly #refusals: Refusals = new Refusals()
  /** What is under way, by session. A run is there once it has started. */
  readonly #running: Map<string, { readonly userId: string; run?: StartedRun }> = new Map()
  readonly #wake: Wake
  /** Settle when what is under way has ended. */
  readonly #tries: Set<Promise<void>> = new Set()
  /** How often the store has failed since it last worked, and why. */
  /** How many sessions with work are for other workers. The search goes on behind them. */
  #leftOut = 0
  #failures: { readonly count: number; readonly reason: string } = { count: 0, reason: '' }

  constructor(parts: WorkerParts, options: WorkOptions) {
    this.#parts = parts
    this.#options = options
    this.#wake = new Wake(parts.starter.factory.services.ports)
  }

  /** Works until the signal aborts or the runner is closed, then ends what is under way. */
  async work(): Promise<void> {
    const { signal, pollMs = POLL_MS } = this.#options
    const { factory } = this.#parts.starter
    const stop = (): void => this.#wake.wake()
    signal.addEventListener('abort', stop)
    const unwatch = watchSessions(factory.services.sessionService, (key) => {
      if (key.appName === factory.appName) this.#onChange(key)
    })
    try {
      while (!this.#isStopped) {
        const isFound = await this.#find()
        this.#startNext()
        const pauseMs = isFound ? pollMs : Math.min(pollMs * 2 ** this.#failures.count, MAX_PAUSE_MS)
        await this.#wake.wait(pauseMs, LEAST_MS)
      }
    } finally {
      unwatch()
      signal.removeEventListener('abort', stop)
    }
    await this.#end()
  }

  /** Looks for work once, also without `work()`. Resolves when what it tries has started, or has failed to. */
  async look(): Promise<void> {
    await this.#find()
    await Promise.all(this.#startNext())
  }

  get #isStopped(): boolean {
    return this.#options.signal.aborted || this.#parts.starter.factory.isClosed
  }

  #onChange(session: SessionOfApp): void {
    const key = keyOf(session)
    if (this.#running.has(key)) return // the change may be our own; the run reads its inbox itself
    this.#delays.shorten(key)
    this.#wake.wake()
  }

  /** Looks for work. False if the store failed: the worker goes on, and tries less often. */
  async #find(): Promise<boolean> {
    const { starter, finder, filter } = this.#parts
    const { ports, logger } = starter.factory.services
    const { where } = this.#options
    this.#delays.clean(ports.monotonicNow())
    try {
      let selected: readonly WorkItem[] = []
      for (let before = -1; selected.length === 0 && before < this.#leftOut; ) {
        before = this.#leftOut
        const found = await finder.find(this.#delays.size + this.#running.size + before)
        const free = found.filter((item) => !this.#isUnderWay(item))
        const wanted = where ? free.filter(({ userId, sessionId }) => where({ userId, sessionId })) : free
        selected = filter ? await filter.select(wanted) : wanted
        this.#leftOut = free.length - selected.length
      }
      this.#queue.replace(selected)
      this.#failures = { count: 0, reason: '' }
      return true
    } catch (error) {
      const reason = messageOf(error)
      const isNews = reason !== this.#failures.reason
      this.#failures = { count: this.#failures.count + 1, reason }
      if (isNews && !this.#isStopped) logger.error(`The worker cannot look for work, and tries again: ${reason}`, error)
      return false
    }
  }

  /** Starts as much of the work as the limit allows. Returns when each run has started, or has failed to. */
  #startNext(): Promise<void>[] {
    const { concurrency = DEFAULT_CONCURRENCY } = this.#options
    const starts: Promise<void>[] = []
    while (!this.#isStopped && this.#running.size < concurrency) {
      const item = this.#queue.take((userId) => this.#runsOf(userId))
      if (!item) break
      if (!this.#mayTry(item)) continue
      const { promise, resolve } = Promise.withResolvers<void>()
      const tried = this.#do(item, resolve).finally(() => this.#tries.delete(tried))
      this.#tries.add(tried)
      starts.push(promise)
    }
    return starts
  }

  #runsOf(userId: string): number {
    let runs = 0
    for (const one of this.#running.values()) if (one.userId === userId) runs++
    return runs
  }

  /** Whether this process runs the session. A run renews its lease, also if that has ended while the process was suspended. */
  #isUnderWay(item: WorkItem): boolean {
    return this.#running.has(keyOf(item)) || this.#parts.starter.factory.running.of(item).length > 0
  }

  #mayTry(item: WorkItem): boolean {
    const now = this.#parts.starter.factory.services.ports.monotonicNow()
    if (this.#isUnderWay(item) || !this.#refusals.mayTry(item.userId, now)) return false
    return this.#delays.isDue(itemKeyOf(item), now)
  }

  /** Does an item. `onStarted`: called when its run has started, or will not. */
  async #do(item: WorkItem, onStarted: () => void): Promise<void> {
    const { ports } = this.#parts.starter.factory.services
    const key = keyOf(item)
    const entry: { readonly userId: string; run?: StartedRun } = { userId: item.userId }
    this.#running.set(key, entry)
    let outcome: Outcome | Limited
    try {
      outcome = await this.#try(item, (run) => {
        entry.run = run
        this.#parts.filter?.onStarted(item)
        onStarted()
      })
    } catch (error) {
      outcome = { type: 'failed', reason: messageOf(error) }
      if (this.#isStopped) outcome = { type: 'nothing' } // interrupted, for another worker
    }
    if (outcome.type === 'limited') this.#refusals.note(item.userId, outcome.scope, ports.monotonicNow())
    else this.#note(item, outcome)
    if (entry.run) this.#refusals.clear() // its slots are free
    this.#running.delete(key)
    onStarted()
    if (this.#queue.size > 0) this.#startNext()
    else if (outcome.type !== 'limited') this.#wake.wake() // there may be more for the session, or a limit kept other work away
  }

  #note(item: WorkItem, outcome: Outcome): void {
    const { ports, logger } = this.#parts.starter.factory.services
    if (item.type === 'tick' && outcome.type === 'nothing') return // its delay is in the store
    const isNews = this.#delays.note(itemKeyOf(item), outcome, ports.monotonicNow())
    if (isNews && outcome.type === 'failed')
      logger.error(
        `The worker could not continue session "${item.sessionId}", and tries again later: ${outcome.reason}`,
      )
  }

  async #try(item: WorkItem, onStarted: (run: StartedRun) => void): Promise<Outcome | Limited> {
    const { starter, schedules } = this.#parts
    const { runContext, maxCrashes = MAX_CRASHES } = this.#options
    const how = { runContext, unattended: { maxCrashes } }
    let run: StartedRun | undefined
    if (item.type === 'tick') run = await startTick(item.schedule, { starter, schedules, ...how })
    else {
      const continued = await continueSession(starter, item, { ...how, needsWork: item.type === 'posted' })
      if (continued.type === 'limited') return continued
      if (continued.type === 'run') run = continued.run
    }
    if (!run) return { type: 'nothing' }
    onStarted(run)
    run.events.close() // no consumer comes
    if (this.#isStopped) run.stop(interrupted())
    await run.finished
    if (run.failure) throw run.failure.reason
    return run instanceof ActiveRun && run.hasProgressed ? { type: 'progress' } : { type: 'nothing' }
  }

  /** Waits for the runs under way, then leaves the rest interrupted. */
  async #end(): Promise<void> {
    const { graceMs = GRACE_MS } = this.#options
    const { services } = this.#parts.starter.factory
    const runs = (): StartedRun[] => [...this.#running.values()].flatMap(({ run }) => run ?? [])
    await endRuns(runs, services, { graceMs, interrupt: true })
    await withTimeout(Promise.all(this.#tries), STOP_MS, services.ports, () => undefined) // the rest has just started
  }
}

/** How long a worker that ends waits for starts under way, in milliseconds. */
const STOP_MS = 2_000
