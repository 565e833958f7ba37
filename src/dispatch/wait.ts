// Waiting that can be cut short. One object instead of a handful of closures: thousands of calls may wait at once.
import type { Deadline } from '../base/deadlines.ts'
import { keepShape } from '../base/keep-shape.ts'
import type { CallContext } from '../tool/call-context.ts'
import type { DispatchHost } from './host.ts'
import type { StopListener } from './stop-signal.ts'

/** A body that did not come back in time. */
export class Timeout extends Error {
  /** True when calls inside an agent that timed out may have taken effect. For other tools their `effect` decides. */
  readonly mayHaveActed: boolean
  constructor(message: string, mayHaveActed = false) {
    super(message)
    this.mayHaveActed = mayHaveActed
  }
}

export interface WaitOptions {
  readonly host: DispatchHost
  readonly name: string
  readonly context: CallContext
  readonly timeoutMs: number | undefined
  /** Called when nobody waits for the work any more. */
  readonly onLeave?: (() => unknown) | undefined
}

/** Waits for work until it is done, its time is up or the run is stopped; what comes later is dropped. */
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

class Wait<T> implements StopListener, Deadline {
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
  begin(): void {
    const { host, timeoutMs } = this.#options
    host.stop.add(this)
    if (host.stop.stopped) return // by the body itself, before it first waited
    if (timeoutMs !== undefined && timeoutMs !== Number.POSITIVE_INFINITY) host.services.deadlines.set(timeoutMs, this)
  }
  done(value: T): void {
    this.#end()
    this.#resolve(value)
  }
  fail(error: unknown): void {
    this.#end()
    this.#reject(error)
  }
  pass(): void {
    const { name, timeoutMs } = this.#options
    this.stop(new Timeout(`${name} timed out after ${timeoutMs} ms`))
  }
  stop(reason: unknown): void {
    const { context, onLeave } = this.#options
    this.#end()
    context.abort(reason)
    this.#reject(reason)
    if (onLeave) void Promise.resolve().then(onLeave).catch(ignore)
  }
  #end(): void {
    const { host } = this.#options
    host.stop.delete(this)
    host.services.deadlines.end(this)
  }
}

function ignore(): void {}

keepShape(() => new Wait({} as WaitOptions, ignore, ignore))
