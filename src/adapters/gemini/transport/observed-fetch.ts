// The client drops the status and headers of error responses it cannot parse. This fetch records them.
import { MAX_REPLY_BYTES } from '../../../core/base/limits.ts'
import { limitBody } from './limit-body.ts'

/** The last HTTP response of an attempt. */
export interface ObservedResponse {
  /** Whether its status was 2xx. */
  isSuccess?: boolean
  /** HTTP status of an error response. */
  status?: number
  /** `Retry-After` header of an error response. */
  retryAfter?: string
  /** Whether its body was larger than the limit. */
  isTooLarge?: boolean
}

/** Maximum size of the body of an error response. */
const MAX_ERROR_BYTES = 1024 * 1024

/** A fetch that records the response, limits its body, and has no idle timeout: models can think for long. */
export function observedFetch(inner: typeof fetch | undefined, observed: ObservedResponse): typeof fetch {
  return async (input, init) => {
    const response = inner ? await inner(input, init) : await fetch(input, withoutIdleTimeout(init))
    observed.isSuccess = response.ok
    const limited = limitBody(response, response.ok ? MAX_REPLY_BYTES : MAX_ERROR_BYTES, () => {
      observed.isTooLarge = true
    })
    if (response.ok) return limited
    observed.status = response.status
    const retryAfter = response.headers.get('retry-after')
    if (retryAfter !== null) observed.retryAfter = retryAfter
    return limited
  }
}

/** Where Node stores the dispatcher of its global fetch. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean
}

// Node's fetch fails when a server sends nothing for five minutes. A model may think longer.
function withoutIdleTimeout(init: RequestInit | undefined): RequestInit | undefined {
  const current = (globalThis as { [DISPATCHER]?: Dispatcher })[DISPATCHER]
  if (!current) return init
  const dispatcher: Dispatcher = {
    dispatch: (options, handler) => current.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  }
  return { ...init, dispatcher } as RequestInit
}
