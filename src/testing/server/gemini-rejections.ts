// What Gemini answers instead of an answer.
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../base/json.ts'
import type { GeminiRequest, GeminiRules, GeminiServerOptions } from '../gemini-script.ts'
import { requestProblem } from './gemini-rules.ts'

/** An answer with a status that is no 2xx. */
export interface Rejection {
  readonly status: number
  readonly message?: string | undefined
  readonly retryAfter?: string | number | undefined
  readonly retryDelay?: string | undefined
  readonly details?: readonly JsonObject[] | undefined
  readonly html?: string | undefined
}

/** Why this request is refused, or undefined when it is fine. */
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

export function sendRejection(outgoing: ServerResponse, refusal: Rejection): void {
  const { status, retryAfter, html } = refusal
  if (retryAfter !== undefined) outgoing.setHeader('retry-after', String(retryAfter))
  outgoing.writeHead(status, { 'content-type': html === undefined ? 'application/json; charset=UTF-8' : 'text/html' })
  outgoing.end(html ?? JSON.stringify(errorBody(refusal)))
}

/** The error as Google writes it: in a body, or as an event of a stream. */
export function errorBody({ status, message, retryDelay, details = [] }: Rejection): JsonObject {
  const delay = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }
  const all = retryDelay === undefined ? details : [...details, delay]
  const error = {
    code: status,
    message: message ?? `Refused with ${status}.`,
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
