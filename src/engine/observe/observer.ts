import type { Measurement, Operation, OperationEnd, OperationNote } from './operation.ts'

/**
 * Measures what runs do, and changes nothing. One that throws is logged once, and runs go on without it.
 *
 * @example
 * const slow: Observer = {
 *   async around(operation, next) {
 *     const started = performance.now()
 *     const { outcome } = await next()
 *     const ms = performance.now() - started
 *     if (ms > 1_000) console.log(operation.type, operation.agent, outcome, ms)
 *   },
 * }
 */
export interface Observer {
  /**
   * Asked when a run begins: is there nothing that it measures for, such as an SDK? A run whose observers are all idle is not observed,
   * unless it has a trace context to pass on. Default: it always measures.
   */
  isIdle?(): boolean
  /**
   * Called for each operation. `next` starts it, and resolves with its end; it never rejects, and does not give the value. Call it before
   * the first `await`: what is entered around the call, such as an async context, is then active in the operation. An operation whose
   * observer does not call `next` starts without it.
   */
  around(operation: Operation, next: () => Promise<OperationEnd>): unknown
  /** The trace context of an operation, as a W3C `traceparent`: recorded with the first event of an invocation, and with pauses. */
  traceOf?(operation: Operation): string | undefined
  /** The `traceparent` that a tool sends to an origin during an operation. Undefined: none. */
  traceFor?(operation: Operation, origin: string): string | undefined
  /** Called with what happens inside an operation: log lines, progress and waiting of a tool call. Also when a reply of a model is recorded. */
  note?(operation: Operation, note: OperationNote): void
  /** Called with figures of stores and workers. */
  measure?(measurement: Measurement): void
}
