import type { Ports } from '../../base/ports.ts'
import type { VmThread } from './vm-thread.ts'

export interface VmSessionsOptions {
  readonly maxSessions: number
  readonly idleMs: number
  readonly setTimer: Ports['setTimer']
  start(): VmThread
}

interface Session {
  readonly thread: VmThread
  /** Takes the end for want of use back. */
  keep(): void
}

/** Threads that live on between runs, one for each session, the longest unused given up first. */
export class VmSessions {
  readonly #options: VmSessionsOptions
  /** At rest, the longest unused first. */
  readonly #resting = new Map<string, Session>()
  /** The last run of each session that is running, which the next one waits for. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(options: VmSessionsOptions) {
    this.#options = options
  }

  /** Runs of one session come one after the other; each says whether its thread is still good. */
  async use<T>(key: string, run: (thread: VmThread) => Promise<T & { readonly isGood: boolean }>): Promise<T> {
    const before = this.#running.get(key) ?? Promise.resolve()
    const mine = before.then(() => this.#useNow(key, run))
    const settled = mine.catch(() => {})
    this.#running.set(key, settled)
    void settled.then(() => {
      if (this.#running.get(key) === settled) this.#running.delete(key)
    })
    return mine
  }

  async shutdown(): Promise<void> {
    await Promise.all([...this.#resting.keys()].map((key) => this.#end(key)))
  }

  async #useNow<T>(key: string, run: (thread: VmThread) => Promise<T & { readonly isGood: boolean }>): Promise<T> {
    const thread = this.#take(key)
    let isGood = false
    try {
      const result = await run(thread)
      isGood = result.isGood
      return result
    } finally {
      if (isGood) this.#rest(key, thread)
      else await thread.end()
    }
  }

  #take(key: string): VmThread {
    const session = this.#resting.get(key)
    this.#resting.delete(key)
    session?.keep()
    const thread = session?.thread ?? this.#options.start()
    thread.hold(true)
    return thread
  }

  #rest(key: string, thread: VmThread): void {
    const { idleMs, maxSessions, setTimer } = this.#options
    thread.hold(false)
    const keep = setTimer(() => void this.#end(key), idleMs, { background: true })
    this.#resting.set(key, { thread, keep })
    const [oldest] = this.#resting.keys()
    if (oldest !== undefined && this.#resting.size > maxSessions) void this.#end(oldest)
  }

  async #end(key: string): Promise<void> {
    const session = this.#resting.get(key)
    this.#resting.delete(key)
    session?.keep()
    await session?.thread.end()
  }
}
