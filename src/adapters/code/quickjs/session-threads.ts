import type { Ports } from '../../../core/base/ports.ts'
import type { VmThread } from './vm-thread.ts'

/** How many idle threads are kept, for how long, and how a thread is started. */
interface SessionThreadsOptions {
  /** The maximum number of idle threads. Above this number, the thread that is idle the longest is terminated. */
  readonly maxSessions: number
  /** An idle thread is terminated after this many milliseconds. */
  readonly idleMs: number
  /** Starts a timer; the tests pass their own. */
  readonly setTimer: Ports['setTimer']
  /** Starts a thread for a new session. */
  startThread(): VmThread
}

interface IdleThread {
  readonly thread: VmThread
  cancelTimer(): void
}

type RunInThread<T> = (thread: VmThread) => Promise<T & { readonly isReusable: boolean }>

/** Keeps one thread for each session between runs, so that its variables survive. */
export class SessionThreads {
  readonly #options: SessionThreadsOptions
  /** Threads without a run, the longest idle first. */
  readonly #idle = new Map<string, IdleThread>()
  /** The last run of each session that has one. The next run of the session waits for it. */
  readonly #lastRuns = new Map<string, Promise<unknown>>()

  constructor(options: SessionThreadsOptions) {
    this.#options = options
  }

  /** Runs code in the thread of a session, after the earlier runs of that session. */
  async run<T>(sessionKey: string, run: RunInThread<T>): Promise<T> {
    const previous = this.#lastRuns.get(sessionKey) ?? Promise.resolve()
    const current = previous.then(() => this.#runNow(sessionKey, run))
    const settled = current.catch(() => {})
    this.#lastRuns.set(sessionKey, settled)
    void settled.then(() => {
      if (this.#lastRuns.get(sessionKey) === settled) this.#lastRuns.delete(sessionKey)
    })
    return current
  }

  /** Terminates the idle threads. */
  async shutdown(): Promise<void> {
    await Promise.all([...this.#idle.keys()].map((sessionKey) => this.#terminateIdle(sessionKey)))
  }

  async #runNow<T>(sessionKey: string, run: RunInThread<T>): Promise<T> {
    const thread = this.#takeThread(sessionKey)
    let isReusable = false
    try {
      const result = await run(thread)
      isReusable = result.isReusable
      return result
    } finally {
      if (isReusable) this.#keepIdle(sessionKey, thread)
      else await thread.terminate()
    }
  }

  #takeThread(sessionKey: string): VmThread {
    const idle = this.#idle.get(sessionKey)
    this.#idle.delete(sessionKey)
    idle?.cancelTimer()
    const thread = idle?.thread ?? this.#options.startThread()
    thread.setKeepsProcessAlive(true)
    return thread
  }

  #keepIdle(sessionKey: string, thread: VmThread): void {
    const { idleMs, maxSessions, setTimer } = this.#options
    thread.setKeepsProcessAlive(false)
    const cancelTimer = setTimer(() => void this.#terminateIdle(sessionKey), idleMs, { background: true })
    this.#idle.set(sessionKey, { thread, cancelTimer })
    const [longestIdle] = this.#idle.keys()
    if (longestIdle !== undefined && this.#idle.size > maxSessions) void this.#terminateIdle(longestIdle)
  }

  async #terminateIdle(sessionKey: string): Promise<void> {
    const idle = this.#idle.get(sessionKey)
    this.#idle.delete(sessionKey)
    idle?.cancelTimer()
    await idle?.thread.terminate()
  }
}
