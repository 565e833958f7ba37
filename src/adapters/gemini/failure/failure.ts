import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { ObservedResponse } from '../transport/observed-fetch.ts'

/** What kind of failure an attempt ended with. */
export type FailureKind =
  /** The API responded with an error status. */
  | 'rejected'
  /** The connection failed or was lost. */
  | 'unreachable'
  /** The stream ended before the reply was complete. */
  | 'cut-off'
  /** The reply could not be parsed. */
  | 'malformed'
  /** The reply is complete, but has no text and no call. */
  | 'empty'
  /** The model wrote a function call that cannot be run. */
  | 'invalid-call'
  /** The model wrote a reply that Gemini could not parse. */
  | 'invalid-reply'
  /** The reply has more than `MAX_REPLY_BYTES`. */
  | 'too-large'
  /** The attempt took longer than `timeoutMs`. */
  | 'timed-out'
  /** The client threw before it sent the request. */
  | 'not-sent'

/** Why one attempt failed. */
export interface Failure {
  /** What kind of failure it is. */
  readonly kind: FailureKind
  /** HTTP status of a rejection. */
  readonly status: number | undefined
  /** Google's error status (`RESOURCE_EXHAUSTED`), or the finish reason of an unusable reply. */
  readonly reason: string | undefined
  /** The message of the API, or of what the client threw. */
  readonly detail: string
  /** `google.rpc` details of a rejection. */
  readonly details: readonly JsonObject[]
  /** The `Retry-After` header. */
  readonly retryAfter: string | undefined
  /** What the client threw. */
  readonly thrown: unknown
}

/** A reply that arrived but cannot be used. */
export class UnusableReply extends Error {
  /** Why it cannot be used. */
  readonly kind: FailureKind
  /** Its finish reason. */
  readonly reason: string | undefined
  constructor(kind: FailureKind, message: string, reason?: string) {
    super(message)
    this.kind = kind
    this.reason = reason
  }
}

/** Finds out why an attempt failed, from the error of the client and the HTTP response. */
export function readFailure(thrown: unknown, observed: ObservedResponse): Failure {
  const rejection = readRejection(thrown)
  const { status = observed.status, message, details } = rejection
  const reason = thrown instanceof UnusableReply ? thrown.reason : rejection.reason
  const detail = message ?? deepestMessage(thrown)
  const kind = status === undefined ? failureKind(thrown, observed) : 'rejected'
  return { kind, status, reason, detail, details, retryAfter: observed.retryAfter, thrown }
}

function failureKind(thrown: unknown, { isSuccess, isTooLarge }: ObservedResponse): FailureKind {
  const name = thrown instanceof Error ? thrown.name : ''
  if (isTooLarge) return 'too-large'
  if (thrown instanceof UnusableReply) return thrown.kind
  if (messageOf(thrown).startsWith('Incomplete JSON segment')) return 'cut-off'
  if (name === 'SyntaxError') return 'malformed'
  if (name === 'AbortError' || name === 'TimeoutError') return 'timed-out'
  if (isNetworkError(thrown)) return 'unreachable'
  return isSuccess ? 'malformed' : 'not-sent'
}

/** Whether a connection failed or was lost. The names and messages differ between runtimes. */
function isNetworkError(thrown: unknown): boolean {
  for (let at = thrown, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = String((at as { code?: unknown }).code ?? '')
    if (/^(E(CONN|NOTFOUND|PIPE|TIMEDOUT|HOST|NET|AI_)|UND_ERR_|CERT_|ERR_(TLS|SSL))/.test(code)) return true
    const isFetch = at.name === 'TypeError' || at.name === 'NetworkError'
    if (isFetch && /fetch|terminated|network|connection|load failed/i.test(at.message)) return true
  }
  return false
}

function deepestMessage(thrown: unknown): string {
  let at = thrown
  for (let depth = 0; at instanceof Error && at.cause instanceof Error && depth < 5; depth++) at = at.cause
  return messageOf(at)
}

interface Rejection {
  readonly status?: number
  readonly reason?: string
  readonly message?: string
  readonly details: readonly JsonObject[]
}

/** The error in the client's message, which contains the whole response: `{"error":{...}}`, with a prefix in streams. */
function readRejection(thrown: unknown): Rejection {
  if (!(thrown instanceof Error) || thrown.name !== 'ApiError') return { details: [] }
  const { status } = thrown as { status?: unknown }
  const parsed = parse(thrown.message.slice(Math.max(0, thrown.message.search(/[[{]/))))
  const [first] = Array.isArray(parsed) ? parsed : [parsed]
  const error = isRecord(first) && isRecord(first.error) ? first.error : {}
  return {
    ...(typeof status === 'number' && { status }),
    ...(typeof error.status === 'string' && error.status !== '' && { reason: error.status }),
    message: plainText(typeof error.message === 'string' ? error.message : thrown.message),
    details: Array.isArray(error.details) ? error.details.filter(isRecord) : [],
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const MAX_DETAIL = 1_000

/** The text without HTML tags: proxies respond with HTML pages. */
function plainText(text: string): string {
  const plain = /^\s*</.test(text) ? text.replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ') : text
  const short = plain.replace(/\s+/g, ' ').trim()
  return short.length > MAX_DETAIL ? `${short.slice(0, MAX_DETAIL)}...` : short
}
