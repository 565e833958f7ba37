import type { Ports } from '../../core/base/ports.ts'

/** Aborts one request when it takes longer than `timeoutMs`, or when the outer signal aborts. */
export class RequestDeadline {
  /** The signal to pass to the provider. */
  readonly signal: AbortSignal
  /** Cancels the timer. */
  readonly clear: () => void

  constructor(
    outer: AbortSignal,
    timeoutMs: number | undefined,
    createError: () => Error,
    { setTimer }: Pick<Ports, 'setTimer'>,
  ) {
    if (timeoutMs === undefined) {
      this.signal = outer
      this.clear = () => {}
      return
    }
    const controller = new AbortController()
    this.signal = AbortSignal.any([outer, controller.signal])
    this.clear = setTimer(() => controller.abort(createError()), timeoutMs)
  }
}
