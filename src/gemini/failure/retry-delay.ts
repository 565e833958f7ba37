// When a request is worth another attempt, and after which pause.
import { backoffMs, MAX_RETRY_AFTER_MS, retryAfterMs } from '../../base/backoff.ts'
import type { Failure, FailureKind } from './failure.ts'
import type { Settings } from '../settings.ts'

/** What the server asks for in its header or its details, in milliseconds. */
export function requestedDelayMs({ retryAfter, details }: Failure, now: number): number | undefined {
  const waits = [retryAfterMs(retryAfter, now), ...details.map(({ retryDelay }) => durationMs(retryDelay))]
  const known = waits.filter((wait) => wait !== undefined)
  return known.length ? Math.max(0, ...known) : undefined
}

/** The pause before the next attempt; undefined = there is none. */
export function retryDelayMs(attempt: number, failure: Failure, settings: Settings): number | undefined {
  const { retry, ports } = settings
  if (attempt > retry.attempts || !isRetryable(failure)) return undefined
  const asked = requestedDelayMs(failure, ports.now())
  if (asked !== undefined) return asked <= MAX_RETRY_AFTER_MS ? asked : undefined
  return backoffMs(attempt - 1, retry, ports.random)
}

export function isRetryable({ kind, status = 0 }: Failure): boolean {
  if (kind === 'refused') return status === 408 || status === 429 || (status >= 500 && status !== 501)
  return RETRYABLE_KINDS.has(kind)
}

const RETRYABLE_KINDS = new Set<FailureKind>(['unreachable', 'broken', 'late', 'empty', 'bad-call'])

/** A fault of the model, not of the connection: it is asked again only once. */
export function isModelFault({ kind }: Failure): boolean {
  return kind === 'empty' || kind === 'bad-call'
}

/** `google.rpc.RetryInfo` has a duration such as `1.5s`. */
function durationMs(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(value)?.[1] : undefined
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
