// Requests to authorization servers. The servers are not trusted: their responses are limited in size and time, redirects
// are not followed, and nothing of a response appears in an error.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import { AuthError } from '../auth-error.ts'
import type { AuthServices } from '../auth-services.ts'
import { isEndpoint, originOf } from '../config/endpoint.ts'
import { serverError } from './server-error.ts'

/** What token requests need. */
export type TokenHttp = Pick<AuthServices, 'fetch' | 'ports'>

/** How long a response may take, in milliseconds. */
const RESPONSE_MS = 10_000

/** How long a response may be, in bytes. */
const MAX_RESPONSE_BYTES = 1024 * 1024

/** Sends one request to an authorization server and returns the JSON object of its response. Throws AuthError. */
export async function fetchJson(http: TokenHttp, url: string, init: RequestInit): Promise<JsonObject> {
  const server = originOf(url)
  const response = await fetchText(http, url, init)
  const body = parseObject(response)
  const error = typeof body?.error === 'string' ? body.error : undefined
  if (!response.ok || error !== undefined) throw serverError(server, response.status, error)
  if (body) return body
  throw new AuthError(`The authorization server ${server} did not respond with a JSON object. Check the URL.`)
}

/** A response whose body was read. */
interface TextResponse extends Pick<Response, 'status' | 'ok' | 'headers'> {
  /** The body. */
  readonly text: string
}

/** Sends one request and reads its response, limited in size and time. A redirect is refused. Throws AuthError. */
export async function fetchText(http: TokenHttp, url: string, init: RequestInit): Promise<TextResponse> {
  const server = originOf(url)
  if (!isEndpoint(url))
    throw new AuthError(`The URL of the authorization server ${server} is refused: it must be https or loopback.`)
  const stop = new AbortController()
  const late = (): never => {
    stop.abort()
    throw new AuthError(`The authorization server ${server} did not respond within ${RESPONSE_MS} ms. Try again later.`)
  }
  const signal = init.signal ? AbortSignal.any([init.signal, stop.signal]) : stop.signal
  const request = { ...init, redirect: 'manual', signal } as const
  return withTimeout(requestText(http.fetch ?? fetch, url, request), RESPONSE_MS, http.ports, late)
}

async function requestText(send: typeof fetch, url: string, init: RequestInit): Promise<TextResponse> {
  const server = originOf(url)
  const response = await sendTo(send, url, init)
  if (isRedirect(response)) {
    await discard(response)
    throw new AuthError(
      `The authorization server ${server} redirects token requests, which is refused. Configure the final URL.`,
    )
  }
  const { status, ok, headers } = response
  return { status, ok, headers, text: await readText(response, server) }
}

async function sendTo(send: typeof fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    return await send(url, init)
  } catch {
    // the cause is dropped: an error of fetch can contain the request
    throw new AuthError(
      `The authorization server ${originOf(url)} could not be reached. Check the URL and the network.`,
    )
  }
}

function isRedirect(response: Response): boolean {
  const { status, redirected, type } = response
  return redirected || type === 'opaqueredirect' || (status >= 300 && status < 400)
}

async function readText(response: Response, server: string): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > MAX_RESPONSE_BYTES) break // leaving the loop cancels the rest
      text += decoder.decode(chunk, { stream: true })
    }
  } catch {
    throw new AuthError(`The connection to the authorization server ${server} broke. Try again later.`)
  }
  if (bytes <= MAX_RESPONSE_BYTES) return text + decoder.decode()
  throw new AuthError(`The authorization server ${server} sent more than ${MAX_RESPONSE_BYTES} bytes. Check the URL.`)
}

function parseObject({ headers, text }: TextResponse): JsonObject | undefined {
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(headers.get('content-type') ?? '')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {})
}
