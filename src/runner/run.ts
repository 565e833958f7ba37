import type { Event } from '../event/event.ts'
import { type ActiveRun, Cancelled } from './active-run.ts'

/** The events of one run, as they happen. It starts when it is first iterated; leaving the loop cancels it. */
export interface Run extends AsyncIterable<Event> {
  readonly sessionId: string
  /** Known at once for new text; for `resume` and answers from the first event on. */
  readonly invocationId: string
  /** Ends the run; resolves when that is recorded. */
  cancel(reason?: string): Promise<void>
}

/** How a run is begun, once. */
export type OpenRun = () => Promise<ActiveRun>

export class RunHandle implements Run {
  readonly sessionId: string
  readonly #open: OpenRun
  readonly #detach: boolean
  readonly #signal: AbortSignal | undefined
  #invocationId: string
  #active: Promise<ActiveRun> | undefined
  #cancelled: Cancelled | undefined
  #taken = false

  constructor(options: {
    sessionId: string
    invocationId: string
    open: OpenRun
    detach: boolean
    signal: AbortSignal | undefined
  }) {
    this.sessionId = options.sessionId
    this.#invocationId = options.invocationId
    this.#open = options.open
    this.#detach = options.detach
    this.#signal = options.signal
    if (this.#detach) this.#start().catch(() => {}) // whoever iterates hears of it
  }

  get invocationId(): string {
    return this.#invocationId
  }
  async cancel(reason = 'The run was cancelled.'): Promise<void> {
    this.#cancelled ??= new Cancelled(reason)
    if (!this.#active) return
    const active = await this.#active
    active.stop(this.#cancelled)
    await active.finished
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    const active = await this.#begin()
    if (!active) return
    const forgetSignal = this.#detach ? undefined : followSignal(this.#signal, active)
    try {
      for (;;) {
        const event = active.events.take()
        if (event) yield event
        else if (active.over) break
        else await active.events.more()
      }
    } finally {
      forgetSignal?.()
      if (!active.over && !this.#detach) {
        active.stop(new Cancelled('The run was left before its end.'))
        await active.finished
      }
    }
    if (active.failure) throw active.failure.reason
  }

  /** Starts it for its only reader; undefined when it was cancelled before. */
  #begin(): Promise<ActiveRun | undefined> {
    if (this.#taken) return Promise.reject(new Error('The events of a run can be read once.'))
    this.#taken = true
    return this.#cancelled && !this.#active ? Promise.resolve(undefined) : this.#start()
  }

  #start(): Promise<ActiveRun> {
    this.#active ??= this.#open().then((active) => {
      this.#invocationId = active.invocationId
      if (this.#cancelled) active.stop(this.#cancelled)
      // whether anybody reads or not
      const forgetSignal = this.#detach ? followSignal(this.#signal, active) : undefined
      if (forgetSignal) void active.finished.then(forgetSignal)
      return active
    })
    return this.#active
  }
}

/** Stops the run when the caller's signal says so; the returned function ends that. */
export function followSignal(signal: AbortSignal | undefined, active: ActiveRun): (() => void) | undefined {
  if (!signal) return undefined
  const abort = (): void => active.stop(new Cancelled('The run was cancelled by its caller.'))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return () => signal.removeEventListener('abort', abort)
}
