// Sends a request: redirects within the origin, a limit for the response, and retries of what may be repeated.
import { backoffMs, retryAfterMs } from '../../../core/base/backoff.ts'
import type { Ports } from '../../../core/base/ports.ts'
import { ToolError } from '../../../core/error/error.ts'
import { sleep } from '../../../engine/policy/wait.ts'
import type { ApiRequest } from '../request/build-request.ts'
import { readBytes, TooLargeError } from '../response/read-bytes.ts'
import type { ApiResponse } from '../response/to-result.ts'
import { LostRequestError, lostRequest } from './lost-request.ts'
import { MAX_REDIRECTS, redirectOf } from './redirects.ts'

/** Options of `sendRequest()`. */
interface SendOptions {
  /** Adds the credentials to a request. Called for each attempt and redirect, after the origin is checked. */
  authorize(request: Request): Request
  /** Aborts the request. */
  readonly signal: AbortSignal
  /** May the request be sent again after a failure? */
  readonly isRepeatable: boolean
  /** May the model call the operation again after a failure? A new call has another idempotency key. */
  readonly isHarmless: boolean
  /** How often it is sent again. */
  readonly retries: number
  /** The most decoded bytes of a response. */
  readonly maxResponseBytes: number
  /** The fetch function. */
  readonly fetch: typeof fetch
  /** Time and randomness. */
  readonly ports: Ports
}

const DELAYS = { delayMs: 200, maxDelayMs: 5_000 }

/** A server that asks to wait longer gets no retry: the model learns when to call again. */
const MAX_WAIT_MS = 10_000

const RETRIED = new Set([429, 502, 503, 504])

/** Sends a request and reads the response. Throws `ToolError`, or the reason of the signal. */
export async function sendRequest(request: ApiRequest, options: SendOptions): Promise<ApiResponse> {
  const { isRepeatable, isHarmless, retries, signal, ports } = options
  for (let attempt = 1; ; attempt++) {
    const canRetry = isRepeatable && attempt <= retries
    const outcome = await attemptRequest(request, options)
    signal.throwIfAborted()
    const delay = backoffMs(attempt, DELAYS, ports.random)
    if (outcome instanceof LostRequestError) {
      if (!canRetry) throw toolErrorOf(outcome, isHarmless)
      await sleep(delay, signal, ports)
      continue
    }
    const wait = Math.max(outcome.retryAfterMs ?? 0, delay)
    if (!canRetry || !RETRIED.has(outcome.status) || wait > MAX_WAIT_MS) return outcome
    await sleep(wait, signal, ports)
  }
}

function toolErrorOf(lost: LostRequestError, isHarmless: boolean): ToolError {
  if (lost.isUnsent || isHarmless) return new ToolError(lost.message)
  const unknown = 'The outcome is unknown: the operation may have taken effect. Check before you call it again.'
  return new ToolError(`${lost.message} ${unknown}`, { code: 'UNKNOWN_OUTCOME' })
}

async function attemptRequest(request: ApiRequest, options: SendOptions): Promise<ApiResponse | LostRequestError> {
  const { signal, isHarmless } = options
  const attempt = new AbortController()
  let hasRun = false
  const onSeeOther = (): void => {
    hasRun = !isHarmless
  }
  try {
    const response = await fetchFollowing(request, options, {
      signal: AbortSignal.any([signal, attempt.signal]),
      onSeeOther,
    })
    if (hasRun && response.status >= 400) throw new Error(`status ${response.status}`)
    return await readResponse(response, options)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (hasRun) throw resultLost()
    if (error instanceof ToolError) throw error
    return lostRequest(error, new URL(request.url).origin)
  } finally {
    attempt.abort() // closes the connection of a response that is not read to its end
  }
}

/** The error of an operation that was answered with the address of its result, which cannot be read. */
function resultLost(): ToolError {
  return new ToolError(
    'The API answered with the address of the result, which cannot be read. The operation has taken effect: do not call it again.',
    { code: 'UNKNOWN_OUTCOME' },
  )
}

interface Following {
  readonly signal: AbortSignal
  /** Called when the API answers with the address of the result (303): the operation has run. */
  onSeeOther(): void
}

async function fetchFollowing(
  first: ApiRequest,
  options: SendOptions,
  { signal, onSeeOther }: Following,
): Promise<Response> {
  let request = first
  for (let redirects = 0; ; redirects++) {
    const { method, url, headers, body = null } = request
    const init: RequestInit = { method, headers, body, redirect: 'manual', signal }
    const send = options.fetch
    const response = await send(options.authorize(new Request(url, init)))
    if (response.status === 303) onSeeOther()
    const next = redirectOf(request, response)
    if (!next) return response
    await response.body?.cancel()
    if (redirects === MAX_REDIRECTS) throw new ToolError(`The API redirects more than ${MAX_REDIRECTS} times.`)
    request = next
  }
}

/** Bytes that are read of the response of a failed request. */
const MAX_ERROR_BYTES = 64 * 1024

async function readResponse(response: Response, options: SendOptions): Promise<ApiResponse> {
  const { maxResponseBytes, isHarmless, ports } = options
  const { status, headers } = response
  const isError = status >= 400
  try {
    const bytes = await readBytes(response, isError ? MAX_ERROR_BYTES : maxResponseBytes, { cut: isError })
    const contentType = headers.get('content-type') ?? undefined
    return { status, contentType, bytes, retryAfterMs: retryAfterMs(headers.get('retry-after'), ports.now()) }
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error
    const advice = isHarmless ? 'Ask for less data.' : 'The operation has taken effect: do not call it again.'
    throw new ToolError(
      `The API answered with status ${status}, but its response has more than ${maxResponseBytes} bytes. ${advice}`,
      { code: isHarmless ? 'EXECUTION_FAILED' : 'UNKNOWN_OUTCOME' },
    )
  }
}
