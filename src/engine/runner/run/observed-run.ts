// A run as observers see it: one operation, from its message to its end or pause.

import { ToolwrightError } from '../../../core/error/error.ts'
import type { Next } from '../../agent/loop/next.ts'
import type { Observation } from '../../observe/observation.ts'
import type { OperationEnd, RunOperation } from '../../observe/operation.ts'
import type { RunData } from './run-data.ts'

/** How a run ended. */
interface RunEnd {
  /** The error that ended the run. */
  readonly failure: { readonly reason: unknown } | undefined
  /** The error that ended the invocation. */
  readonly error: { readonly code: string } | undefined
  /** The next step of the invocation. */
  readonly next: Next
}

/** The observers of a run. Undefined if it is not observed: no one measures it, and there is no trace context to pass on. */
export function observersOf({ services, traceparent, recordedTrace }: RunData): Observation | undefined {
  const { observation } = services
  const passesOn = traceparent !== undefined || recordedTrace !== undefined
  return observation?.isIdle && !passesOn ? undefined : observation
}

/** Shows a run to observers. Its operation ends before the lease is released, so that it is over when the caller goes on. */
export class ObservedRun {
  readonly #data: RunData
  readonly #observation: Observation
  readonly #ended = Promise.withResolvers<OperationEnd>()
  #around: Promise<unknown> = Promise.resolve()

  constructor(data: RunData, observation: Observation) {
    this.#data = data
    this.#observation = observation
  }

  /** Starts the loop of the run within the observers. */
  start<T>(loop: () => Promise<T>): Promise<T> {
    const operation = operationOf(this.#data)
    this.#data.operation = operation
    if (isInterrupted(this.#data)) this.#measureRecovery()
    let running: Promise<T> | undefined
    const work = (): Promise<OperationEnd> => {
      if (!operation.isContinued) this.#data.recorder.trace = this.#observation.traceOf(operation)
      running = loop()
      return this.#ended.promise
    }
    this.#around = this.#observation.around(operation, work, (settled) =>
      'value' in settled ? settled.value : { outcome: 'failed', error: settled.error },
    )
    return running as unknown as Promise<T> // around() starts the work before it returns
  }

  /** How long the work of another run rested: since its last event. */
  #measureRecovery(): void {
    const { view, services } = this.#data
    const last = view.events.at(-1)?.timestamp
    if (last === undefined) return
    this.#observation.measure({ type: 'recovery', seconds: Math.max(0, services.ports.now() / 1000 - last) })
  }

  /** Ends the operation. */
  async end(end: RunEnd): Promise<void> {
    this.#ended.resolve(endOf(end))
    await this.#around
  }
}

/** Does the run continue work that another one did not end? A paused invocation waits for its answer. */
function isInterrupted({ fold }: RunData): boolean {
  return fold.version > 0 && !fold.isWaiting
}

function operationOf(data: RunData): RunOperation {
  const { root } = data.tree
  return {
    type: 'run',
    run: data,
    parent: undefined,
    agent: root.name,
    description: root.description,
    isContinued: data.fold.version > 0,
    traceparent: data.traceparent,
  }
}

function endOf({ failure, error, next }: RunEnd): OperationEnd {
  if (failure) {
    const { reason } = failure
    return { outcome: 'failed', errorCode: reason instanceof ToolwrightError ? reason.code : 'INTERNAL', error: reason }
  }
  if (error) return { outcome: error.code === 'CANCELLED' ? 'cancelled' : 'failed', errorCode: error.code }
  return { outcome: next.type === 'wait' ? 'paused' : 'completed' }
}
