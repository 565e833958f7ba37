import { backoffMs, MAX_RETRY_AFTER_MS } from '../../../core/base/backoff.ts'
import { AiSdkError } from './ai-sdk-error.ts'

const BACKOFF = { delayMs: 500, maxDelayMs: 8_000 }

/** Milliseconds to wait before the next attempt, or undefined when the error is final. `attempt` counts from 0. */
export function retryDelayMs(error: unknown, attempt: number, random: () => number): number | undefined {
  if (!(error instanceof AiSdkError) || !error.isRetryable) return undefined
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= MAX_RETRY_AFTER_MS ? error.retryAfterMs : undefined
  return backoffMs(attempt + 1, BACKOFF, random)
}
