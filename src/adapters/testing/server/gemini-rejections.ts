// The error responses of Gemini.
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../../core/base/json.ts'
import type { GeminiRequest, GeminiRules, GeminiServerOptions } from '../gemini-script.ts'
import { requestProblem } from './gemini-rules.ts'

/** An error response. */
export interface Rejection {
  /** HTTP status. */
  readonly status: number
  /** The error message. */
  readonly message?: string | undefined
  /** The `Retry-After` header. */
  readonly retryAfter?: string | number | undefined
  /** The delay in the error details, for example `1.5s`. */
  readonly retryDelay?: string | undefined
  /** The error details. */
  readonly details?: readonly JsonObject[] | undefined
  /** An HTML page to send instead of JSON. */
  readonly html?: string | undefined
}

/** The error response for an invalid request. Undefined when the request is valid. */
export function findRejection(request: GeminiRequest, options: GeminiServerOptions): Rejection | undefined {
  const { model, isVertex } = request
  const refusal = findKeyRejection(request, options.apiKey)
  if (refusal) return refusal
  if (options.models && !options.models.includes(model)) {
    return { status: 404, message: `models/${model} is not found for API version v1beta.` }
  }
  const message = requestProblem(request.body, {
    isVertex,
    rules: { ...defaultRules(model), ...options.rules?.(model) },
  })
  return message === undefined ? undefined : { status: 400, message }
}

function defaultRules(model: string): GeminiRules {
  const isNew = Number(/gemini-(\d+)/.exec(model)?.[1] ?? 3) >= 3
  return { mixesTools: isNew, needsSignatures: isNew }
}

function findKeyRejection({ headers, isVertex }: GeminiRequest, apiKey: string | undefined): Rejection | undefined {
  const given = headers['x-goog-api-key']
  if (given === undefined && headers.authorization === undefined) {
    return { status: isVertex ? 401 : 403, message: "Method doesn't allow unregistered callers." }
  }
  if (apiKey === undefined || given === apiKey) return undefined
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }
  return { status: 400, message: 'API key not valid. Please pass a valid API key.', details: [info] }
}

/** Sends an error response. */
export function sendRejection(outgoing: ServerResponse, refusal: Rejection): void {
  const { status, retryAfter, html } = refusal
  if (retryAfter !== undefined) outgoing.setHeader('retry-after', String(retryAfter))
  outgoing.writeHead(status, { 'content-type': html === undefined ? 'application/json; charset=UTF-8' : 'text/html' })
  outgoing.end(html ?? JSON.stringify(errorBody(refusal)))
}

/** The JSON of an error, in a body or in an event of a stream. */
export function errorBody({ status, message, retryDelay, details = [] }: Rejection): JsonObject {
  const delay = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }
  const all = retryDelay === undefined ? details : [...details, delay]
  const error = {
    code: status,
    message: message ?? `The script rejects this request with status ${status}.`,
    status: STATUS_NAMES[status] ?? 'UNKNOWN',
  }
  return { error: all.length ? { ...error, details: all } : error }
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}
