import type { StopSignal } from '../../core/base/stop-signal.ts'
import { readTraceparent } from '../../core/base/traceparent.ts'
import { messageOf } from '../../core/error/error.ts'
import type { Observer } from './observer.ts'
import type { Measurement, Operation, OperationEnd, OperationNote } from './operation.ts'

/** How work has settled. */
export type Settled<T> = { readonly value: T; readonly error?: undefined } | { readonly error: unknown }

/** Makes the end of an operation from how its work has settled. */
export type EndOf<T> = (settled: Settled<T>) => OperationEnd

/** The observers of a runner. What they do wrong is reported once for each of them, and reaches no run. */
export class Observation {
  readonly #observers: readonly Observer[]
  readonly #warn: (problem: string, error: unknown) => void
  readonly #reported: Set<Observer> = new Set()

  constructor(observers: readonly Observer[], warn: (problem: string, error: unknown) => void) {
    this.#observers = observers
    this.#warn = warn
  }

  /** Whether no observer measures anything now. */
  get isIdle(): boolean {
    for (const observer of this.#observers) if (!this.#call(observer, () => observer.isIdle?.())) return false
    return true
  }

  /** These observers, then one more. */
  with(observer: Observer): Observation {
    return new Observation([...this.#observers, observer], this.#warn)
  }

  /**
   * Does the work within the observers, the first one outermost. Settles as the work does, after observers have seen the end. A stop
   * ends the operation also if the work hangs.
   */
  around<T>(operation: Operation, work: () => Promise<T>, endOf: EndOf<T>, stop?: StopSignal): Promise<T> {
    return this.#around(0, { operation, work, endOf, stop })
  }

  /** Shows an operation that has ended already. */
  report(operation: Operation, end: OperationEnd): Promise<void> {
    return this.around(operation, DONE, () => end)
  }

  #around<T>(at: number, observed: Observed<T>): Promise<T> {
    const observer = this.#observers[at]
    if (!observer) return start(observed.work)
    let started: Watched<T> | undefined
    // the first call starts the work: that of the observer, or the one below when the observer has returned without one
    const next = (): Promise<OperationEnd> => {
      started ??= watch(this.#around(at + 1, observed), observed)
      return started.end
    }
    this.#call(observer, () => observer.around(observed.operation, next))
    if (!started) {
      this.#report(observer, new Error('around() did not call next() before its first await'))
      next()
    }
    return (started as unknown as Watched<T>).work // next() has set it
  }

  /** The trace context of an operation. Undefined if no observer has one. */
  traceOf(operation: Operation): string | undefined {
    return this.#findTrace((observer) => observer.traceOf?.(operation))
  }

  /** The trace context that a tool sends to an origin. Undefined: none. */
  traceFor(operation: Operation, origin: string): string | undefined {
    return this.#findTrace((observer) => observer.traceFor?.(operation, origin))
  }

  /** Passes on what happens inside an operation. */
  note(operation: Operation, note: OperationNote): void {
    for (const observer of this.#observers) this.#call(observer, () => observer.note?.(operation, note))
  }

  /** Passes a figure on. */
  measure(measurement: Measurement): void {
    for (const observer of this.#observers) this.#call(observer, () => observer.measure?.(measurement))
  }

  /** The first trace context that an observer has. It is recorded and sent, so that nothing else may be in its place. */
  #findTrace(question: (observer: Observer) => unknown): string | undefined {
    for (const observer of this.#observers) {
      const answer = this.#call(observer, () => question(observer))
      if (answer === undefined) continue
      if (typeof answer === 'string' && readTraceparent(answer)) return answer
      this.#report(observer, new Error('a trace context must be a W3C traceparent'))
    }
    return undefined
  }

  /** Calls an observer. What it throws, now or later, is reported. */
  #call(observer: Observer, call: () => unknown): unknown {
    try {
      const result = call()
      if (result instanceof Promise) result.catch((error) => this.#report(observer, error))
      return result
    } catch (error) {
      this.#report(observer, error)
      return undefined
    }
  }

  #report(observer: Observer, error: unknown): void {
    if (this.#reported.has(observer)) return
    this.#reported.add(observer)
    try {
      this.#warn(`An observer failed, and runs go on without it: ${messageOf(error)}`, error)
    } catch {
      // the logger failed, too
    }
  }
}

interface Observed<T> {
  readonly operation: Operation
  readonly work: () => Promise<T>
  readonly endOf: EndOf<T>
  readonly stop: StopSignal | undefined
}

const DONE = (): Promise<void> => Promise.resolve()

function start<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Work under way. */
interface Watched<T> {
  readonly work: Promise<T>
  readonly end: Promise<OperationEnd>
}

/** An observer that awaits `end` goes on before the run does, so that nothing is lost when a program exports its spans after a run. */
function watch<T>(work: Promise<T>, { endOf, stop }: Observed<T>): Watched<T> {
  const { promise: end, resolve } = Promise.withResolvers<OperationEnd>()
  const listener = { stop: (error: unknown): void => resolve(endOf({ error })) }
  stop?.add(listener)
  const settle = (settled: Settled<T>): void => {
    stop?.delete(listener)
    resolve(endOf(settled))
  }
  const settled = work.then(
    (value) => {
      settle({ value })
      return value
    },
    (error) => {
      settle({ error })
      throw error
    },
  )
  return { work: settled, end }
}
