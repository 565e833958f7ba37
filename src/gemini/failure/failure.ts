// What went wrong in one attempt, read from what the client threw.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { messageOf } from '../../error/error.ts'
import type { ObservedResponse } from '../transport/observed-fetch.ts'

export type FailureKind =
  /** The API said no. */
  | 'refused'
  | 'unreachable'
  /** The reply broke off. */
  | 'broken'
  /** The reply cannot be read. */
  | 'malformed'
  /** The reply is finished and says nothing. */
  | 'empty'
  /** The model wrote a function call that cannot be used. */
  | 'bad-call'
  /** The reply has more than `MAX_REPLY_BYTES`. */
  | 'too-large'
  | 'late'
  /** Nothing was sent. */
  | 'unsent'

export interface Failure {
  readonly kind: FailureKind
  readonly status: number | undefined
  /** Google's word for it: `RESOURCE_EXHAUSTED`, ..., or the finish reason of a reply that cannot be used. */
  readonly reason: string | undefined
  /** In the other side's words. */
  readonly detail: string
  /** `google.rpc` details of a refusal. */
  readonly details: readonly JsonObject[]
  /** The header. */
  readonly retryAfter: string | undefined
  readonly thrown: unknown
}

/** A reply that arrived and is none. */
export class UnusableReply extends Error {
  readonly kind: FailureKind
  readonly reason: string | undefined
  constructor(kind: FailureKind, message: string, reason?: string) {
    super(message)
    this.kind = kind
    this.reason = reason
  }
}

export function readFailure(thrown: unknown, seen: ObservedResponse): Failure {
  const refusal = readRejection(thrown)
  const { status = seen.status, message, details } = refusal
  const reason = thrown instanceof UnusableReply ? thrown.reason : refusal.reason
  const detail = message ?? deepestMessage(thrown)
  const kind = status === undefined ? failureKind(thrown, seen) : 'refused'
  return { kind, status, reason, detail, details, retryAfter: seen.retryAfter, thrown }
}

function failureKind(thrown: unknown, { isAnswered, isTooLarge }: ObservedResponse): FailureKind {
  const name = thrown instanceof Error ? thrown.name : ''
  if (isTooLarge) return 'too-large'
  if (thrown instanceof UnusableReply) return thrown.kind
  if (messageOf(thrown).startsWith('Incomplete JSON segment')) return 'broken'
  if (name === 'SyntaxError') return 'malformed'
  if (name === 'AbortError' || name === 'TimeoutError') return 'late'
  if (isNetworkError(thrown)) return 'unreachable'
  return isAnswered ? 'malformed' : 'unsent'
}

/** A lost or refused connection, in whatever words the runtime has. */
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

/** The client writes the whole answer into its message: `{"error":{...}}`, in a stream with words before it. */
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

/** Proxies answer with pages. */
function plainText(text: string): string {
  const plain = /^\s*</.test(text) ? text.replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ') : text
  const short = plain.replace(/\s+/g, ' ').trim()
  return short.length > MAX_DETAIL ? `${short.slice(0, MAX_DETAIL)}...` : short
}
