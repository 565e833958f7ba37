// The client drops what it does not understand of a refusal. This looks over its shoulder.
import { MAX_REPLY_BYTES } from '../../base/limits.ts'
import { limitBody } from './limit-body.ts'

/** What the last response of an attempt said. */
export interface ObservedResponse {
  /** There was a good one. */
  isAnswered?: boolean
  /** Of a refusal. */
  status?: number
  retryAfter?: string
  /** The body had more bytes than a reply may have. */
  isTooLarge?: boolean
}

/** Bytes of the body of a refusal. */
const MAX_REFUSAL_BYTES = 1024 * 1024

/** A fetch that notes a refusal's status and header, bounds the body, and waits for a model as long as it takes. */
export function observedFetch(inner: typeof fetch | undefined, seen: ObservedResponse): typeof fetch {
  return async (input, init) => {
    const response = inner ? await inner(input, init) : await fetch(input, withoutIdleTimeout(init))
    seen.isAnswered = response.ok
    const bounded = limitBody(response, response.ok ? MAX_REPLY_BYTES : MAX_REFUSAL_BYTES, () => {
      seen.isTooLarge = true
    })
    if (response.ok) return bounded
    seen.status = response.status
    const retryAfter = response.headers.get('retry-after')
    if (retryAfter !== null) seen.retryAfter = retryAfter
    return bounded
  }
}

/** Where Node's own fetch keeps what connects it. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean
}

// Node's fetch gives up on a server that is silent for five minutes; a model may think longer than that.
function withoutIdleTimeout(init: RequestInit | undefined): RequestInit | undefined {
  const found = (globalThis as { [DISPATCHER]?: Dispatcher })[DISPATCHER]
  if (!found) return init
  const dispatcher: Dispatcher = {
    dispatch: (options, handler) => found.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  }
  return { ...init, dispatcher } as RequestInit
}
