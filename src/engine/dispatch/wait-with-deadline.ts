// Waits with a deadline and a stop signal. Uses one object instead of closures: thousands of calls may wait at once.
import type { Deadline } from '../../core/base/deadlines.ts'
import type { StopListener } from '../../core/base/stop-signal.ts'
import type { CallContext } from '../context/call-context.ts'
import type { DispatchHost } from './host.ts'

/** The error of work that did not finish before its deadline. */
export class Timeout extends Error {
  /** True when calls inside an agent that timed out may have taken effect. For other tools `effect` decides. */
  readonly mayHaveActed: boolean
  constructor(message: string, mayHaveActed = false) {
    super(message)
    this.mayHaveActed = mayHaveActed
  }
}

/** What `waitFor` waits with. */
export interface WaitOptions {
  /** The run. */
  readonly host: DispatchHost
  /** The name of the tool, for the timeout message. */
  readonly name: string
  /** The step of the call, for the timeout message; undefined for the body. */
  readonly step?: string
  /** The context whose signal is aborted on timeout or stop. */
  readonly context: CallContext
  /** The deadline in milliseconds; undefined = none. */
  readonly timeoutMs: number | undefined
  /** Called when the wait ends before the work. */
  readonly onAbandon?: (() => unknown) | undefined
}

/** Waits until the work is done, its deadline passes or the run is stopped. A later result is dropped. */
export function waitFor<T>(work: PromiseLike<T>, options: WaitOptions): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const wait = new Wait(options, resolve, reject)
    work.then(
      (value) => wait.done(value),
      (error) => wait.fail(error),
    )
    wait.begin()
  })
}

/** One wait for a body, with its deadline and its stop. */
export class Wait<T> implements StopListener, Deadline {
  readonly #options: WaitOptions
  readonly #resolve: (value: T) => void
  readonly #reject: (reason: unknown) => void
  at: number = Number.POSITIVE_INFINITY
  isOver = true

  constructor(options: WaitOptions, resolve: (value: T) => void, reject: (reason: unknown) => void) {
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
  }
  /** Starts the deadline, and listens for a stop. */
  begin(): void {
    const { host, timeoutMs } = this.#options
    host.stop.add(this)
    if (host.stop.stopped) return // the body stopped the run before it waited
    if (timeoutMs !== undefined && timeoutMs !== Number.POSITIVE_INFINITY) host.services.deadlines.set(timeoutMs, this)
  }
  /** The body returned a value. */
  done(value: T): void {
    this.#end()
    this.#resolve(value)
  }
  /** The body threw an error. */
  fail(error: unknown): void {
    this.#end()
    this.#reject(error)
  }
  expire(): void {
    const { name, step, timeoutMs } = this.#options
    const what = step ? `${step} of tool "${name}"` : `Tool "${name}"`
    this.stop(new Timeout(`${what} timed out after ${timeoutMs} ms`))
  }
  stop(reason: unknown): void {
    const { context, onAbandon } = this.#options
    this.#end()
    context.abort(reason)
    this.#reject(reason)
    if (onAbandon) void Promise.resolve().then(onAbandon).catch(ignore)
  }
  #end(): void {
    const { host } = this.#options
    host.stop.delete(this)
    host.services.deadlines.clear(this)
  }
}

function ignore(): void {}
