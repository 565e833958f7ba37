// How long to wait before a call is tried again, if it is.
import { AiSdkError } from './errors.ts'

const FIRST_MS = 500
const LONGEST_MS = 8_000
/** Nobody waits longer than this because a provider asked for it. */
const PATIENCE_MS = 60_000

/** Milliseconds, or undefined when it is not worth it. `attempt` counts from 0. */
export function pauseBeforeRetry(error: unknown, attempt: number, random: () => number): number | undefined {
  if (!(error instanceof AiSdkError) || !error.isRetryable) return undefined
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= PATIENCE_MS ? error.retryAfterMs : undefined
  return random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt)
}
