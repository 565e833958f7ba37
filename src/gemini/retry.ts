// When a request is worth another attempt, and after which pause.
import type { Failure } from './failure.ts'
import type { Settings } from './settings.ts'

/** A server that asks for more is believed: trying sooner would be refused again. */
const MAX_WAIT_MS = 60_000

/** What the server asks for in its header or its details, in milliseconds. */
export function askedWait({ retryAfter, details }: Failure, now: number): number | undefined {
  const waits = [headerWait(retryAfter, now), ...details.map(({ retryDelay }) => durationMs(retryDelay))]
  const known = waits.filter((wait) => wait !== undefined)
  return known.length ? Math.max(0, ...known) : undefined
}

/** The pause before the next attempt; undefined = there is none. */
export function pauseBefore(attempt: number, failure: Failure, settings: Settings): number | undefined {
  const { retry, ports } = settings
  if (attempt > retry.attempts || !isWorthIt(failure)) return undefined
  const asked = askedWait(failure, ports.now())
  if (asked !== undefined) return asked <= MAX_WAIT_MS ? asked : undefined
  // full jitter: those who failed together do not come back together
  return ports.random() * Math.min(retry.maxDelayMs, retry.delayMs * 2 ** (attempt - 2))
}

function isWorthIt({ kind, status = 0 }: Failure): boolean {
  if (kind === 'refused') return status === 408 || status === 429 || (status >= 500 && status !== 501)
  return kind === 'unreachable' || kind === 'broken' || kind === 'late'
}

/** Seconds or a date. */
function headerWait(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value.trim() === '') return undefined
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return seconds * 1_000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : date - now
}

/** `google.rpc.RetryInfo` has a duration such as `1.5s`. */
function durationMs(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(value)?.[1] : undefined
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
