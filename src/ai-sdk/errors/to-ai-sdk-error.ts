// What can go wrong on the way to a provider and back, in plain words. Errors of providers are known by what they have
// (name, statusCode, isRetryable, responseHeaders), not by their class: there may be several copies of it.
import { retryAfterMs } from '../../base/backoff.ts'
import { isRecord, type JsonObject } from '../../base/json.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import { hideSecrets } from '../../error/secrets.ts'
import type { AiSdkModel } from '../ai-sdk-types.ts'

/** A call of an AI SDK model that failed. Neither keys nor what was asked are in it. */
export class AiSdkError extends Error {
  override readonly name: string = 'AiSdkError'
  readonly provider: string
  readonly model: string
  /** The HTTP status, when the provider answered. */
  readonly status: number | undefined
  /** It may work when it is tried again. */
  readonly isRetryable: boolean
  /** What the provider asks us to wait. */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    { provider, modelId }: Pick<AiSdkModel, 'provider' | 'modelId'>,
    details: { status?: number | undefined; isRetryable?: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.provider = provider
    this.model = modelId
    this.status = details.status
    this.isRetryable = details.isRetryable === true
    this.retryAfterMs = details.retryAfterMs
  }
}

/** The reply ended before its end. */
export function cut(model: AiSdkModel, cause?: unknown): AiSdkError {
  const message = `The reply of ${model.provider} was cut off before its end.`
  return new AiSdkError(message, model, { isRetryable: true, ...(cause !== undefined && { cause }) })
}

/** What a provider sent as an error inside a stream that had begun well. */
export class ErrorInStream extends Error {}

/** The provider ended its reply with an error instead of a reason to stop. */
export function failed(model: AiSdkModel, raw: string | undefined): AiSdkError {
  const reason = raw === undefined ? '' : ` (${clean(raw)})`
  const message = `${model.provider} ended its reply with an error${reason}. The reply was not used.`
  return new AiSdkError(message, model, { isRetryable: true })
}

/** The reply is larger than what one event may hold. */
export function tooLarge(model: AiSdkModel, most: number): AiSdkError {
  const message = `The reply of ${model.provider} has more than ${most} bytes and was not used. Set maxOutputTokens.`
  return new AiSdkError(message, model, {})
}

/** No reply within `timeoutMs`. */
export function late(model: AiSdkModel, timeoutMs: number): AiSdkError {
  const message = `${model.provider} did not finish its reply within ${timeoutMs} ms. Raise timeoutMs of fromAiSdk().`
  return new AiSdkError(message, model, { isRetryable: true })
}

/** Whatever a provider threw, as an error with plain words. Our own errors stay as they are. */
export function toAiSdkError(thrown: unknown, model: AiSdkModel, now: () => number): Error {
  if (thrown instanceof AiSdkError || thrown instanceof ToolwrightError) return thrown
  if (thrown instanceof ErrorInStream) return inStream(thrown.cause, model, now)
  const error: JsonObject = typeof thrown === 'object' && thrown !== null ? { ...read(thrown) } : {}
  const { provider } = model
  const status = typeof error.statusCode === 'number' ? error.statusCode : undefined
  const isRetryable = error.isRetryable === true
  const waitMs = retryAfter(error.responseHeaders, now)
  const details = { status, isRetryable, retryAfterMs: waitMs }
  const words = clean(saidBy(thrown))
  if (status !== undefined && status >= 400)
    return new AiSdkError(refusal(provider, status, words, waitMs), model, details)
  // the answer began well
  if (status !== undefined && isNetworkError(error.cause)) return cut(model)
  // xAI sends errors with the status of a success
  if (status !== undefined && error.cause === undefined)
    return new AiSdkError(`${provider} could not answer: ${words}`, model, { isRetryable })
  if (status !== undefined || UNREADABLE.has(error.name)) {
    const message = `${provider} gave an answer that could not be read.`
    // why is in the cause: the answer, but not what was asked
    return new AiSdkError(message, model, { cause: status === undefined ? thrown : error.cause })
  }
  const isNetwork = isNetworkError(thrown)
  if (error.name === 'AI_APICallError' || isNetwork) {
    const message = `${provider} could not be reached: ${words}`
    return new AiSdkError(message, model, { ...details, isRetryable: isRetryable || isNetwork })
  }
  // it has no request in it, so it may be looked at
  const cause = 'requestBodyValues' in error ? {} : { cause: thrown }
  return new AiSdkError(`${provider}: ${words}`, model, { ...details, ...cause })
}

/** An error that came as a part of a stream may pass: the request itself was accepted. */
function inStream(sent: unknown, model: AiSdkModel, now: () => number): Error {
  if (isNetworkError(sent) || /without a finish reason/.test(messageOf(sent))) return cut(model, sent)
  const { code, status, statusCode, value } = read(Object(sent))
  const number = [statusCode, status, code].find((one) => typeof one === 'number')
  const isFinal = number !== undefined && number >= 400 && number < 500 && ![408, 409, 429].includes(number)
  const details = { isRetryable: !isFinal }
  // what the provider could not read may be the error itself
  const words = saidIn(value) ?? (isRecord(value) && typeof value.message === 'string' ? value.message : undefined)
  if (words !== undefined) {
    const message = `${model.provider} failed while it answered: ${clean(words)}`
    return new AiSdkError(message, model, { ...details, cause: sent })
  }
  const { message, cause, ...known } = toAiSdkError(sent, model, now) as AiSdkError
  return new AiSdkError(message, model, { status: known.status, ...details, ...(cause !== undefined && { cause }) })
}

/** A provider that could not read a refusal (`data`) says "Bad Request"; the words are in the body. */
function saidInBody(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { data, responseBody } = read(thrown)
  if (data !== undefined || typeof responseBody !== 'string' || responseBody.length > MAX_BODY) return undefined
  try {
    const body: unknown = JSON.parse(responseBody)
    const { message, detail }: JsonObject = isRecord(body) ? body : {}
    return saidIn(body) ?? [message, detail].find((one) => typeof one === 'string')
  } catch {
    return undefined
  }
}

const MAX_BODY = 100_000

/** The words of `{ error }` or `{ error: { message } }`, the way most wires send an error. */
function saidIn(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  const { error, message } = value
  if (typeof error === 'string') return error
  if (isRecord(error) && typeof error.message === 'string') return error.message
  return error === undefined && value.type === 'error' && typeof message === 'string' ? message : undefined
}

const UNREADABLE = new Set<unknown>([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
])

const KEYS = [
  'name',
  'cause',
  'code',
  'status',
  'statusCode',
  'isRetryable',
  'responseHeaders',
  'requestBodyValues',
  'responseBody',
  'data',
  'value',
] as const

/** A getter that throws must not hide the error it sits on. */
function read(thrown: object): JsonObject {
  const found: JsonObject = {}
  for (const key of KEYS) {
    try {
      if (key in thrown) found[key] = (thrown as JsonObject)[key]
    } catch {}
  }
  return found
}

function refusal(provider: string, status: number, words: string, waitMs: number | undefined): string {
  // what is said about a wrong key may hold the key
  if (status === 401 || status === 403) return `${provider} refused the request (${status}): check its API key.`
  if (status === 429) {
    const wait = waitMs === undefined ? '' : ` It asks to wait ${Math.ceil(waitMs / 1000)} s.`
    return `${provider} has had too many requests (429): ${words}${wait}`
  }
  if (status === 408 || status >= 500) return `${provider} could not answer (${status}): ${words}`
  return `${provider} refused the request (${status}): ${words}`
}

export function saidBy(thrown: unknown): string {
  // an error part of a stream may be what the provider sent: { error: { message } }
  return saidIn(thrown) ?? saidInBody(thrown) ?? messageOf(thrown)
}

const MAX_WORDS = 500

/** Short, and without what looks like a key. */
function clean(words: string): string {
  const masked = hideSecrets(words)
  return masked.length > MAX_WORDS ? `${masked.slice(0, MAX_WORDS).toWellFormed()}...` : masked
}

/** A connection that failed or broke. */
export function isNetworkError(thrown: unknown): boolean {
  return thrown instanceof TypeError && /fetch failed|failed to fetch|terminated|network|socket/i.test(thrown.message)
}

/** `retry-after-ms`, or `retry-after` as seconds or as a date. */
function retryAfter(headers: unknown, now: () => number): number | undefined {
  if (!isRecord(headers)) return undefined
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (ms >= 0) return ms
  return retryAfterMs(headers['retry-after'], now())
}
