// How long to wait before something is tried again.

/** A server that asks for more is believed: trying sooner would be refused again, and nobody waits that long. */
export const MAX_RETRY_AFTER_MS = 60_000

/** The pause before the n-th retry, from 1. Full jitter: those who failed together do not come back together. */
export function backoffMs(
  retry: number,
  limits: { readonly delayMs: number; readonly maxDelayMs: number },
  random: () => number,
): number {
  return random() * Math.min(limits.maxDelayMs, limits.delayMs * 2 ** (retry - 1))
}

/** A `Retry-After` header in milliseconds: seconds or a date. Undefined when it says nothing. */
export function retryAfterMs(header: unknown, now: number): number | undefined {
  if (typeof header !== 'string' || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
