// How long to wait before a call is tried again, if it is.
import { backoffMs, MAX_RETRY_AFTER_MS } from '../../base/backoff.ts'
import { AiSdkError } from './to-ai-sdk-error.ts'

const PAUSES = { delayMs: 500, maxDelayMs: 8_000 }

/** Milliseconds, or undefined when it is not worth it. `attempt` counts from 0. */
export function pauseBeforeRetry(error: unknown, attempt: number, random: () => number): number | undefined {
  if (!(error instanceof AiSdkError) || !error.isRetryable) return undefined
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= MAX_RETRY_AFTER_MS ? error.retryAfterMs : undefined
  return backoffMs(attempt + 1, PAUSES, random)
}
