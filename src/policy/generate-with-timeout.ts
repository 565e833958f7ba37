import type { Ports } from '../base/ports.ts'
import type { LlmResponse, Model } from '../tool/model.ts'
import type { LlmRequest } from '../tool/tool.ts'
import { unlessAborted } from './wait.ts'

/** A model that did not do its part; another one may. */
export class NoResponseError extends Error {
  readonly isRetryable = true
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The responses of a model. A first one that is late, and a consumer that leaves, abort the model's own signal. */
export async function* generateWithTimeout(
  model: Model,
  request: LlmRequest,
  options: {
    readonly signal: AbortSignal | undefined
    readonly stream: boolean | undefined
    /** Until the first response. */
    readonly timeoutMs: number | undefined
    readonly setTimer: Ports['setTimer']
  },
): AsyncGenerator<LlmResponse, void, void> {
  const { signal, stream, timeoutMs, setTimer } = options
  signal?.throwIfAborted()
  const own = new AbortController()
  const follow = (): void => own.abort(signal?.reason)
  signal?.addEventListener('abort', follow, { once: true })
  const cancelTimer = timeoutMs === undefined ? undefined : setTimer(() => own.abort(timeoutError(model, timeoutMs)), timeoutMs)
  let responses: AsyncIterator<LlmResponse> | undefined
  try {
    responses = model.generate(request, { signal: own.signal, stream })[Symbol.asyncIterator]()
    for (;;) {
      const next = await unlessAborted(Promise.resolve(responses.next()), own.signal)
      cancelTimer?.()
      if (next.done) return
      yield next.value
    }
  } finally {
    cancelTimer?.()
    signal?.removeEventListener('abort', follow)
    own.abort() // a model that is no longer read lets go of its connection
    void Promise.resolve(responses?.return?.()).catch(() => {}) // not awaited: a model that hangs never gets there
  }
}

function timeoutError({ name }: Model, ms: number): NoResponseError {
  const message = `Model "${name}" gave no response within ${ms} ms. Raise timeoutMs of fallback() if it needs longer.`
  return new NoResponseError('TIMEOUT', message)
}
