// Converts what a provider throws into an AiSdkError. Provider errors are recognised by their fields (name, statusCode,
// isRetryable, responseHeaders) instead of their class: several copies of a provider package can be installed.
import { retryAfterMs } from '../../../core/base/backoff.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { AiSdkModel } from '../ai-sdk-types.ts'
import { AiSdkError, cutOffError } from './ai-sdk-error.ts'
import { cleanMessage } from './clean-message.ts'

/** An error part of a stream that started normally. `cause` is what the provider sent. */
export class StreamError extends Error {}

/** The error to throw for what a provider threw. Errors of the framework are returned unchanged. */
export function toAiSdkError(thrown: unknown, model: AiSdkModel, now: () => number): Error {
  if (thrown instanceof AiSdkError || thrown instanceof ToolwrightError) return thrown
  if (thrown instanceof StreamError) return fromStreamError(thrown.cause, model, now)
  const error: JsonObject = typeof thrown === 'object' && thrown !== null ? { ...readFields(thrown) } : {}
  const { provider } = model
  const status = typeof error.statusCode === 'number' ? error.statusCode : undefined
  const isRetryable = error.isRetryable === true
  const waitMs = readRetryAfterMs(error.responseHeaders, now)
  const details = { status, isRetryable, retryAfterMs: waitMs }
  const providerText = cleanMessage(providerMessage(thrown))
  if (status !== undefined && status >= 400)
    return new AiSdkError(rejectionMessage(provider, status, providerText, waitMs), model, details)
  // the response started normally
  if (status !== undefined && isNetworkError(error.cause)) return cutOffError(model)
  // xAI sends errors with a 2xx status
  if (status !== undefined && error.cause === undefined)
    return new AiSdkError(`${provider} failed: ${providerText}`, model, { isRetryable })
  if (status !== undefined || UNREADABLE_REPLY_ERRORS.has(error.name)) {
    const message = `${provider} sent a reply that could not be parsed.`
    // the cause contains the response and the parse error, but not the prompt
    return new AiSdkError(message, model, { cause: status === undefined ? thrown : error.cause })
  }
  const isNetwork = isNetworkError(thrown)
  if (error.name === 'AI_APICallError' || isNetwork) {
    const message = `${provider} could not be reached: ${providerText}`
    return new AiSdkError(message, model, { ...details, isRetryable: isRetryable || isNetwork })
  }
  if (MISSING_SETTING_ERRORS.has(error.name)) return new AiSdkError(`${provider}: ${providerText}`, model, details)
  // only an error without the request may be the cause: the request contains the prompt
  const cause = 'requestBodyValues' in error ? {} : { cause: thrown }
  return new AiSdkError(`${provider}: ${providerText}`, model, { ...details, ...cause })
}

/** The error for an error part of a stream. Retryable unless its code is final: the provider accepted the request. */
function fromStreamError(sent: unknown, model: AiSdkModel, now: () => number): Error {
  if (isNetworkError(sent) || /without a finish reason/.test(messageOf(sent))) return cutOffError(model, sent)
  const { code, status, statusCode, value } = readFields(Object(sent))
  const number = [statusCode, status, code].find((one) => typeof one === 'number')
  const isFinal = number !== undefined && number >= 400 && number < 500 && ![408, 409, 429].includes(number)
  const details = { isRetryable: !isFinal }
  // `value` is what the provider package could not parse: it may be the error
  const providerText =
    messageIn(value) ?? (isRecord(value) && typeof value.message === 'string' ? value.message : undefined)
  if (providerText !== undefined) {
    const message = `${model.provider} failed while streaming its reply: ${cleanMessage(providerText)}`
    return new AiSdkError(message, model, { ...details, cause: sent })
  }
  const { message, cause, ...known } = toAiSdkError(sent, model, now) as AiSdkError
  return new AiSdkError(message, model, { status: known.status, ...details, ...(cause !== undefined && { cause }) })
}

/** The message in the response body. Needed when the provider package could not parse the error into `data`. */
function messageInBody(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { data, responseBody } = readFields(thrown)
  if (data !== undefined || typeof responseBody !== 'string' || responseBody.length > MAX_BODY_LENGTH) return undefined
  try {
    const body: unknown = JSON.parse(responseBody)
    const { message, detail }: JsonObject = isRecord(body) ? body : {}
    return messageIn(body) ?? [message, detail].find((one) => typeof one === 'string')
  } catch {
    return undefined
  }
}

const MAX_BODY_LENGTH = 100_000

/** The message in `{ error }` or `{ error: { message } }`, the format of most providers. */
function messageIn(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  const { error, message } = value
  if (typeof error === 'string') return error
  if (isRecord(error) && typeof error.message === 'string') return error.message
  return error === undefined && value.type === 'error' && typeof message === 'string' ? message : undefined
}

/** The message says what is missing. The stack of the provider's package would not help. */
const MISSING_SETTING_ERRORS = new Set<unknown>(['AI_LoadAPIKeyError', 'AI_LoadSettingError'])

const UNREADABLE_REPLY_ERRORS = new Set<unknown>([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
])

const ERROR_FIELDS = [
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

/** Copies the known fields. A getter that throws must not hide the error it belongs to. */
function readFields(thrown: object): JsonObject {
  const found: JsonObject = {}
  for (const key of ERROR_FIELDS) {
    try {
      if (key in thrown) found[key] = (thrown as JsonObject)[key]
    } catch {}
  }
  return found
}

function rejectionMessage(provider: string, status: number, providerText: string, waitMs: number | undefined): string {
  // the provider's message about a wrong key may contain the key
  if (status === 401 || status === 403) return `${provider} rejected the request (${status}). Check its API key.`
  if (status === 429) {
    const wait = waitMs === undefined ? '' : `, retry after ${Math.ceil(waitMs / 1000)} s`
    return `${provider} received too many requests (429${wait}): ${providerText}`
  }
  if (status === 408 || status >= 500) return `${provider} failed (${status}): ${providerText}`
  return `${provider} rejected the request (${status}): ${providerText}`
}

/** The most specific message of an error: from its body if it has one. */
export function providerMessage(thrown: unknown): string {
  // an error part of a stream can be the provider's JSON: { error: { message } }
  return messageIn(thrown) ?? messageInBody(thrown) ?? messageOf(thrown)
}

/** Whether a connection failed or was lost. */
export function isNetworkError(thrown: unknown): boolean {
  return thrown instanceof TypeError && /fetch failed|failed to fetch|terminated|network|socket/i.test(thrown.message)
}

/** `retry-after-ms`, or `retry-after` as seconds or as a date. */
function readRetryAfterMs(headers: unknown, now: () => number): number | undefined {
  if (!isRecord(headers)) return undefined
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (ms >= 0) return ms
  return retryAfterMs(headers['retry-after'], now())
}
