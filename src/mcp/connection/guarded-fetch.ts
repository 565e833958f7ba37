// The fetch function of one HTTP connection: adds the headers of the identity, remembers what the server answers to
// requests without permission, and bounds what the server may send.
import type { FetchLike } from '@modelcontextprotocol/client'
import { MAX_MESSAGE_BYTES } from './line-reader.ts'

/** A request that the server refused: it wants another credential, or more scopes. */
export interface Refusal {
  /** 401 or 403. */
  readonly status: number
  /** The `WWW-Authenticate` header. */
  readonly challenge: string | undefined
}

/** The header that names the headers of one request. It is never sent. */
const REQUEST_HEADERS = 'x-toolwright-request'

/** Options of `GuardedFetch`. */
interface GuardedFetchOptions {
  /** Sends requests. Default: the global `fetch`. */
  readonly fetch: typeof fetch | undefined
  /** How long the server may send nothing in a response, in milliseconds. */
  readonly readTimeoutMs: number
}

/** The fetch function of one HTTP connection. */
export class GuardedFetch {
  readonly #options: GuardedFetchOptions
  readonly #byRequest: Map<string, Readonly<Record<string, string>>> = new Map()
  #headers: Readonly<Record<string, string>> = {}
  #refusal: Refusal | undefined
  #lastRequest = 0

  constructor(options: GuardedFetchOptions) {
    this.#options = options
  }

  /** Sets the headers of all requests from now on. */
  setHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = headers
  }
  /** Registers headers for one request. Pass `headers` to the MCP client, and call `done` after the request. */
  forRequest(headers: Readonly<Record<string, string>>): { headers: Record<string, string>; done(): void } {
    const id = String(++this.#lastRequest)
    this.#byRequest.set(id, headers)
    return { headers: { [REQUEST_HEADERS]: id }, done: () => void this.#byRequest.delete(id) }
  }
  /** Has the server refused a request because of its credential? */
  get hasRefusal(): boolean {
    return this.#refusal !== undefined
  }
  /** The latest refusal, which is forgotten. */
  takeRefusal(): Refusal | undefined {
    const refusal = this.#refusal
    this.#refusal = undefined
    return refusal
  }

  /** Sends a request. */
  readonly fetch: FetchLike = async (url, init) => {
    const headers = new Headers(init?.headers)
    const id = headers.get(REQUEST_HEADERS)
    headers.delete(REQUEST_HEADERS)
    for (const [name, value] of Object.entries(this.#headers)) headers.set(name, value)
    const own = id === null ? undefined : this.#byRequest.get(id)
    for (const [name, value] of Object.entries(own ?? {})) headers.set(name, value)
    const send = this.#options.fetch ?? fetch
    const response = await send(url, { ...init, headers })
    const challenge = response.headers.get('www-authenticate') ?? undefined
    const isRefused = response.status === 401 || (response.status === 403 && challenge?.includes('insufficient_scope'))
    if (isRefused) this.#refusal = { status: response.status, challenge }
    return init?.method === 'POST' ? bounded(response, this.#options.readTimeoutMs) : bounded(response, undefined)
  }
}

/** The response with a body that fails when one message is too large, or when nothing arrives for too long. */
function bounded(response: Response, readTimeoutMs: number | undefined): Response {
  if (!response.body) return response
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
  const reader = response.body.getReader()
  let bytes = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await readInTime(reader, readTimeoutMs)
        if (done) return controller.close()
        const lastLine = isStream ? value.lastIndexOf(10) : -1
        bytes = lastLine >= 0 ? value.length - lastLine : bytes + value.length
        if (bytes > MAX_MESSAGE_BYTES) throw new Error(`The MCP server sent more than ${MAX_MESSAGE_BYTES} bytes.`)
        controller.enqueue(value)
      } catch (error) {
        await reader.cancel(error).catch(() => {})
        controller.error(error)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const { status, statusText, headers } = response
  return withUrl(new Response(body, { status, statusText, headers }), response)
}

type ReadResult = ReadableStreamReadResult<Uint8Array>

async function readInTime(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  readTimeoutMs: number | undefined,
): Promise<ReadResult> {
  if (readTimeoutMs === undefined) return await reader.read()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The MCP server sent nothing for ${readTimeoutMs} ms.`)), readTimeoutMs)
  })
  return await Promise.race([reader.read(), late]).finally(() => clearTimeout(timer))
}

/** A constructed response has no URL. The MCP client compares it to detect redirects. */
function withUrl(made: Response, { url, redirected, type }: Response): Response {
  return Object.defineProperties(made, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
  })
}
