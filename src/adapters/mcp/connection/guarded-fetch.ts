// The fetch function of one HTTP connection: adds the headers of the identity, remembers what the server answers to
// requests without permission, and bounds what the server may send and hold open.
import type { FetchLike } from '@modelcontextprotocol/client'
import { MAX_OPEN_RESPONSES, MAX_STREAMS_PER_MINUTE } from '../limits.ts'
import { boundResponse } from './bounded-response.ts'

/** A request that the server refused: it wants another credential, or more scopes. */
interface Refusal {
  /** 401 or 403. */
  readonly status: number
  /** The `WWW-Authenticate` header. */
  readonly challenge: string | undefined
}

/** A request whose headers and end are known. */
interface TrackedRequest {
  /** Pass them to the MCP client with the request. */
  readonly headers: Record<string, string>
  /** How the server has refused the request; undefined if it has not. */
  readonly refusal: Refusal | undefined
  /** Call it after the request. Closes its response, if the server holds it open. */
  done(): void
}

/** The header that names a tracked request. It is never sent. */
const REQUEST_ID = 'x-toolwright-request'

const MINUTE = 60_000

/** Options of `GuardedFetch`. */
interface GuardedFetchOptions {
  /** Sends requests. Default: the global `fetch`. */
  readonly fetch: typeof fetch | undefined
  /** How long the server may send nothing in a response, in milliseconds. */
  readonly readTimeoutMs: number
}

interface Tracked {
  readonly headers: Readonly<Record<string, string>>
  /** Ends the response when the request is done. Set when the request is sent. */
  abort: AbortController | undefined
  refusal: Refusal | undefined
  onEnd(): void
}

/** The fetch function of one HTTP connection. */
export class GuardedFetch {
  readonly #options: GuardedFetchOptions
  readonly #tracked: Map<string, Tracked> = new Map()
  #headers: Readonly<Record<string, string>> = {}
  #refusal: Refusal | undefined
  #lastRequest = 0
  #open = 0
  #answers = 0
  /** When event streams were opened, in the last minute. */
  #streams: readonly number[] = []

  constructor(options: GuardedFetchOptions) {
    this.#options = options
  }

  /** Sets the headers of all requests from now on. */
  setHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = headers
  }
  /** Tracks one request: adds headers to it, and calls `onEnd` when its response has ended and cannot be resumed. */
  track(headers: Readonly<Record<string, string>>, onEnd: () => void): TrackedRequest {
    const id = String(++this.#lastRequest)
    const tracked: Tracked = { headers, abort: undefined, refusal: undefined, onEnd }
    this.#tracked.set(id, tracked)
    const done = (): void => {
      this.#tracked.delete(id)
      tracked.abort?.abort()
    }
    return {
      headers: { [REQUEST_ID]: id },
      get refusal() {
        return tracked.refusal
      },
      done,
    }
  }
  /** How many requests the server has answered with status 200. */
  get answers(): number {
    return this.#answers
  }
  /** Has the server refused a request because of its credential? */
  get hasRefusal(): boolean {
    return this.#refusal !== undefined
  }
  /** The latest refusal of any request, which is forgotten. */
  takeRefusal(): Refusal | undefined {
    const refusal = this.#refusal
    this.#refusal = undefined
    return refusal
  }

  /** Sends a request. */
  readonly fetch: FetchLike = async (url, init) => {
    const headers = new Headers(init?.headers)
    const id = headers.get(REQUEST_ID)
    const tracked = id === null ? undefined : this.#tracked.get(id)
    headers.delete(REQUEST_ID)
    if (tracked) tracked.abort ??= new AbortController() // only here: a local server sends no HTTP requests
    for (const [name, value] of Object.entries({ ...this.#headers, ...tracked?.headers })) headers.set(name, value)
    this.#checkRate(init?.method)
    const send = this.#options.fetch ?? fetch
    this.#open++
    let isOpen = true
    const close = (): void => {
      if (isOpen) this.#open--
      isOpen = false
    }
    const signals = [init?.signal, tracked?.abort?.signal].filter((signal) => signal != null)
    const signal = signals.length ? { signal: AbortSignal.any(signals) } : {}
    const response = await send(url, { ...init, headers, ...signal }).catch((error: unknown) => {
      close()
      throw error
    })
    const isPost = init?.method === 'POST'
    if (isPost && response.status === 200) this.#answers++
    const refusal = refusalOf(response)
    if (refusal) this.#refusal = refusal
    if (tracked && isPost) tracked.refusal = refusal
    return boundResponse(response, {
      readTimeoutMs: isPost ? this.#options.readTimeoutMs : undefined,
      abandoned: tracked?.abort?.signal,
      onEnd: (isResumable) => {
        close()
        // after 202, the answer may arrive on another stream
        if (response.status === 200 && !isResumable) tracked?.onEnd()
      },
    })
  }

  /** Throws if the server holds too many responses open, or makes the client open streams again and again. */
  #checkRate(method = 'GET'): void {
    if (this.#open >= MAX_OPEN_RESPONSES)
      throw new Error(`The MCP server holds ${MAX_OPEN_RESPONSES} responses open. No further request is sent.`)
    if (method !== 'GET') return
    const now = performance.now()
    this.#streams = [...this.#streams.filter((at) => now - at < MINUTE), now]
    if (this.#streams.length > MAX_STREAMS_PER_MINUTE)
      throw new Error(`The MCP server ended more than ${MAX_STREAMS_PER_MINUTE} streams within a minute.`)
  }
}

function refusalOf({ status, headers }: Response): Refusal | undefined {
  const challenge = headers.get('www-authenticate') ?? undefined
  const isRefused = status === 401 || (status === 403 && challenge?.includes('insufficient_scope'))
  return isRefused ? { status, challenge } : undefined
}
