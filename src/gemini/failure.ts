// What went wrong in one attempt, read from what the client threw.
import { isRecord, type JsonObject } from '../base/json.ts'
import { messageOf } from '../error/error.ts'
import type { Seen } from './watched-fetch.ts'

export interface Failure {
  /** Who or what is at fault: the API said no, nobody answered, the answer broke off, made no sense, took too long; or nothing was sent. */
  readonly kind: 'refused' | 'unreachable' | 'broken' | 'malformed' | 'late' | 'unsent'
  readonly status: number | undefined
  /** Google's word for it: `RESOURCE_EXHAUSTED`, ... */
  readonly reason: string | undefined
  /** In the other side's words. */
  readonly detail: string
  /** `google.rpc` details of a refusal. */
  readonly details: readonly JsonObject[]
  /** The header. */
  readonly retryAfter: string | undefined
  readonly thrown: unknown
}

/** The answer broke off: what arrived is no answer. */
export class Broken extends Error {}

/** The answer is none. */
export class Malformed extends Error {}

export function failureOf(thrown: unknown, seen: Seen): Failure {
  const { status = seen.status, reason, message, details } = refusalIn(thrown)
  const detail = message ?? deepestMessage(thrown)
  const kind = status === undefined ? kindOf(thrown, seen) : 'refused'
  return { kind, status, reason, detail, details, retryAfter: seen.retryAfter, thrown }
}

function kindOf(thrown: unknown, { isAnswered }: Seen): Failure['kind'] {
  const name = thrown instanceof Error ? thrown.name : ''
  if (thrown instanceof Broken || messageOf(thrown).startsWith('Incomplete JSON segment')) return 'broken'
  if (thrown instanceof Malformed || name === 'SyntaxError') return 'malformed'
  if (name === 'AbortError' || name === 'TimeoutError') return 'late'
  if (isNetwork(thrown)) return 'unreachable'
  return isAnswered ? 'malformed' : 'unsent'
}

/** A lost or refused connection, in whatever words the runtime has. */
function isNetwork(thrown: unknown): boolean {
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

interface Refusal {
  readonly status?: number
  readonly reason?: string
  readonly message?: string
  readonly details: readonly JsonObject[]
}

/** The client writes the whole answer into its message: `{"error":{...}}`, in a stream with words before it. */
function refusalIn(thrown: unknown): Refusal {
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
