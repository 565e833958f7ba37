import { backoffMs, MAX_RETRY_AFTER_MS, retryAfterMs } from '../../../core/base/backoff.ts'
import type { Settings } from '../settings.ts'
import type { Failure, FailureKind } from './failure.ts'

/** Milliseconds the server asks to wait, from its `Retry-After` header or its error details. */
export function requestedDelayMs({ retryAfter, details }: Failure, now: number): number | undefined {
  const waits = [retryAfterMs(retryAfter, now), ...details.map(({ retryDelay }) => durationMs(retryDelay))]
  const known = waits.filter((wait) => wait !== undefined)
  return known.length ? Math.max(0, ...known) : undefined
}

/** Milliseconds to wait before attempt number `attempt`, or undefined when the failure is final. */
export function retryDelayMs(attempt: number, failure: Failure, settings: Settings): number | undefined {
  const { retry, ports } = settings
  if (attempt > retry.attempts || !isRetryable(failure)) return undefined
  const requested = requestedDelayMs(failure, ports.now())
  if (requested !== undefined) return requested <= MAX_RETRY_AFTER_MS ? requested : undefined
  return backoffMs(attempt - 1, retry, ports.random)
}

/** Whether the same request may succeed when it is sent again. */
export function isRetryable({ kind, status = 0 }: Failure): boolean {
  if (kind === 'rejected') return status === 408 || status === 429 || (status >= 500 && status !== 501)
  return RETRYABLE_KINDS.has(kind)
}

const RETRYABLE_KINDS = new Set<FailureKind>([
  'unreachable',
  'cut-off',
  'timed-out',
  'empty',
  'invalid-call',
  'invalid-reply',
])

/** Whether the model caused the failure, not the connection. Such a request is retried only once. */
export function isModelFault({ kind }: Failure): boolean {
  return kind === 'empty' || kind === 'invalid-call' || kind === 'invalid-reply'
}

/** Reads a duration of `google.rpc.RetryInfo`, for example `1.5s`. */
function durationMs(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(value)?.[1] : undefined
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
