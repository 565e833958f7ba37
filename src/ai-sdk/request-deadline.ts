import type { Ports } from '../base/ports.ts'

/** A signal that also fires when a request takes too long. */
export class Deadline {
  readonly signal: AbortSignal
  /** Takes the timer back. */
  readonly stop: () => void

  constructor(
    outer: AbortSignal,
    timeoutMs: number | undefined,
    reason: () => Error,
    { setTimer }: Pick<Ports, 'setTimer'>,
  ) {
    if (timeoutMs === undefined) {
      this.signal = outer
      this.stop = () => {}
      return
    }
    const controller = new AbortController()
    this.signal = AbortSignal.any([outer, controller.signal])
    this.stop = setTimer(() => controller.abort(reason()), timeoutMs)
  }
}
