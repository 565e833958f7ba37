import type { Ports } from '../../core/base/ports.ts'
import type { LlmRequest } from '../model/llm-request.ts'
import type { LlmResponse, Model } from '../model/model.ts'
import { unlessAborted } from './wait.ts'

/** A model did not respond, or not in time. Another model may succeed. */
export class NoResponseError extends Error {
  /** Always true. */
  readonly isRetryable = true
  /** `TIMEOUT` or `NO_RESPONSE`. */
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The responses of a model. Aborts the model when its first response is late or the consumer stops iterating. */
export async function* generateWithTimeout(
  model: Model,
  request: LlmRequest,
  options: {
    readonly signal: AbortSignal | undefined
    readonly stream: boolean | undefined
    /** Time limit of the first response in milliseconds. */
    readonly timeoutMs: number | undefined
    readonly setTimer: Ports['setTimer']
  },
): AsyncGenerator<LlmResponse, void, void> {
  const { signal, stream, timeoutMs, setTimer } = options
  signal?.throwIfAborted()
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  const cancelTimer =
    timeoutMs === undefined ? undefined : setTimer(() => controller.abort(timeoutError(model, timeoutMs)), timeoutMs)
  let responses: AsyncIterator<LlmResponse> | undefined
  try {
    responses = model.generate(request, { signal: controller.signal, stream })[Symbol.asyncIterator]()
    for (;;) {
      const next = await unlessAborted(Promise.resolve(responses.next()), controller.signal)
      cancelTimer?.()
      if (next.done) return
      yield next.value
    }
  } finally {
    cancelTimer?.()
    signal?.removeEventListener('abort', onAbort)
    controller.abort() // closes the connection of a model that is not read to its end
    void Promise.resolve(responses?.return?.()).catch(() => {}) // not awaited: a model that hangs would never return
  }
}

function timeoutError({ name }: Model, ms: number): NoResponseError {
  const message = `Model "${name}" did not respond within ${ms} ms. Raise timeoutMs of fallback() if the model needs more time.`
  return new NoResponseError('TIMEOUT', message)
}
