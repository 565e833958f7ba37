// Calls our services through the ingress of Restate.
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'
import { parseJson } from './parse-json.ts'
import { type CallTarget, checkSecret, sealCall } from './sealed-call.ts'

/** How to reach Restate. */
export interface IngressOptions {
  /** The address of the ingress: `http://127.0.0.1:8080`. */
  readonly ingress: string | URL
  /** The secret that signs calls, at least 32 characters, the same in all processes. */
  readonly secret: string
  /** Sends requests. Default: `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** How long Restate may take to store a call, in milliseconds. */
const SEND_MS = 10_000

/** The ingress of Restate. */
export class Ingress {
  readonly #url: URL
  readonly #options: IngressOptions

  constructor(options: IngressOptions) {
    checkSecret(options.secret)
    this.#url = urlOf('ingress', options.ingress)
    this.#options = options
  }

  /** Stores a call, which a worker handles later. */
  async send(target: CallTarget, input: JsonObject): Promise<void> {
    await this.#post(target, '/send', input, AbortSignal.timeout(SEND_MS))
  }

  /** Calls a handler, and waits for its result. */
  async call(target: CallTarget, input: JsonObject, signal?: AbortSignal): Promise<unknown> {
    return await this.#post(target, '', input, signal)
  }

  async #post(
    target: CallTarget,
    suffix: string,
    input: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { secret, now = Date.now, fetch: send = fetch } = this.#options
    const { service, key, handler } = target
    const path = [service, key, handler].map(encodeURIComponent).join('/')
    const url = new URL(`${path}${suffix}`, this.#url)
    const body = JSON.stringify(sealCall(secret, target, input, now()))
    const headers = { 'content-type': 'application/json' }
    let response: Response
    let text: string
    try {
      // a redirect would take the call, and its signature, to another server
      response = await send(url, { method: 'POST', headers, body, redirect: 'error', ...(signal && { signal }) })
      text = await response.text()
    } catch (error) {
      if (body.length > LARGE && isReset(error))
        throw tooLarge(`it closed the connection before ${body.length} characters`)
      throw unavailable(this.#url, messageOf(error), error)
    }
    if (!response.ok) throw errorOf(response.status, text, this.#url)
    if (text === '') return undefined
    const result = parseJson(text)
    if (result === undefined) throw unavailable(this.#url, 'its answer is not JSON. Is it the ingress of Restate?')
    return result
  }
}

/** The error of a response. Handlers send ours as JSON in the message. */
function errorOf(status: number, text: string, url: URL): ToolwrightError {
  const message = messageIn(text)
  const sent = parseJson(message)
  if (isRecord(sent) && typeof sent.errorCode === 'string' && typeof sent.error === 'string')
    return new ToolwrightError(sent.errorCode as 'INVALID_REQUEST', sent.error) // a code of ours
  if (status === 404) return unavailable(url, `${message} Start a worker, which registers the services of its apps.`)
  if (status === 413) return tooLarge(message)
  return unavailable(url, `${status} ${message}`)
}

/** Restate answers a call that is too large while it is sent, and often the answer is lost with the connection. */
function isReset(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : {}
  return isRecord(cause) && RESETS.includes(String(cause.code))
}

const RESETS: readonly string[] = ['EPIPE', 'ECONNRESET', 'UND_ERR_SOCKET']

/** Below this, Restate refuses no call for its size, in characters. */
const LARGE = 500_000

function tooLarge(reason: string): ToolwrightError {
  return new ToolwrightError(
    'TOO_LARGE',
    `Restate refuses the size of the call: ${reason}. Store large messages with runner.submit().`,
  )
}

function messageIn(text: string): string {
  const parsed = parseJson(text)
  return isRecord(parsed) && typeof parsed.message === 'string' ? parsed.message : text.slice(0, 500)
}

function unavailable({ origin }: URL, reason: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('UNAVAILABLE', `Restate at ${origin} cannot be called: ${reason}`, { cause })
}

/** An address without a query. Throws INVALID_CONFIG. */
export function urlOf(option: string, given: string | URL): URL {
  const url = URL.canParse(String(given)) ? new URL(given) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `restate: \`${option}\` must be an http or https address without user, query and fragment, such as "http://127.0.0.1:8080".`,
    )
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}
