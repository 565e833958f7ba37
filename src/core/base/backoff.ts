// The delay before a retry.

/**
 * The longest wait that a server may ask for and still get a retry. No caller waits longer, and an earlier retry is
 * refused.
 */
export const MAX_RETRY_AFTER_MS = 60_000

/**
 * The delay before the n-th retry (the first is 1). Full jitter, so that clients that failed together do not retry together.
 */
export function backoffMs(
  retry: number,
  limits: { readonly delayMs: number; readonly maxDelayMs: number },
  random: () => number,
): number {
  return random() * Math.min(limits.maxDelayMs, limits.delayMs * 2 ** (retry - 1))
}

/** The milliseconds of a `Retry-After` header, which holds seconds or a date. Undefined if it is missing or not valid. */
export function retryAfterMs(header: unknown, now: number): number | undefined {
  if (typeof header !== 'string' || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
