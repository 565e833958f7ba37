import type { Event } from '../../../src/core/event/event.ts'
import { readLog } from '../../../src/core/event/views/log-reader.ts'
import { type BenchCall, callTool } from '../api/dev.ts'
import type { SessionKey } from '../api/types.ts'
import { refreshPending } from '../inbox/pending-store.ts'
import { EMPTY_VIEW, type LogView, withEvent } from '../session/log-view.ts'
import { openLog } from '../session/open-logs.ts'
import { type Signal, signal } from '../state/signal.ts'

/** What is known about a call. */
export interface BenchRunView {
  /** The events of the call; its whole log once it has waited for an answer. */
  readonly log: LogView
  /** The session of the call. Known once the server has started the call. */
  readonly key: SessionKey | undefined
}

/** One call of the tool bench: streams its events, and follows its log when it waits for an answer. */
export class BenchRun {
  /** Names the run on this page. */
  readonly id: number
  /** The call. */
  readonly call: BenchCall
  /** Seconds since the epoch. */
  readonly startedAt: number = Date.now() / 1000
  /** What is known about it. */
  readonly view: Signal<BenchRunView> = signal({
    log: { ...EMPTY_VIEW, status: 'ready', isRunning: true },
    key: undefined,
  })
  readonly #stopped = new AbortController()

  constructor(id: number, call: BenchCall) {
    this.id = id
    this.call = call
  }

  /** Makes the call. */
  async start(): Promise<void> {
    const { app, userId } = this.call
    const onSession = (sessionId: string): void =>
      this.view.update((view) => ({ ...view, key: { app, userId, sessionId } }))
    try {
      for await (const event of callTool(this.call, { signal: this.#stopped.signal, onSession }))
        this.#updateLog((log) => withEvent(log, event, false))
    } catch (error) {
      if (!this.#stopped.signal.aborted) this.#updateLog((log) => ({ ...log, error }))
    }
    this.#updateLog((log) => ({ ...log, isRunning: false, streaming: [] }))
    await this.#followAnswers()
  }

  /** Cancels the call. */
  stop(): void {
    this.#stopped.abort()
  }

  /** A call that waits has everything that follows in the log of its session. */
  async #followAnswers(): Promise<void> {
    const { log: streamed, key } = this.view.value
    if (!key || streamed.recent.length === 0 || hasEnded(streamed.recent)) return
    const log = openLog(key)
    const update = (): void => {
      if (log.view.value.status === 'ready') this.view.set({ key, log: log.view.value })
    }
    log.view.watch(update)
    update()
    await refreshPending()
  }

  #updateLog(change: (log: LogView) => LogView): void {
    this.view.update((view) => ({ ...view, log: change(view.log) }))
  }
}

/** Has the call itself ended? Agents inside it make further calls. */
function hasEnded(events: readonly Event[]): boolean {
  const calls = readLog(events.map((event) => ({ event }))).calls()
  return calls.some(({ parent, response }) => parent === undefined && response)
}

/** Runs that are kept for the history. */
const MOST_RUNS = 50

/** The calls made in this browser tab, the latest first. */
export const benchRuns: Signal<readonly BenchRun[]> = signal<readonly BenchRun[]>([])

let count = 0

/** Makes a call and adds it to the history. */
export function startRun(call: BenchCall): BenchRun {
  const run = new BenchRun(++count, call)
  benchRuns.update((runs) => [run, ...runs].slice(0, MOST_RUNS))
  void run.start()
  return run
}
