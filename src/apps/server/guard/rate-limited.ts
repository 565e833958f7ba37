import { ToolwrightError } from '../../../core/error/error.ts'

/** Refuses a request that comes too soon. The response says when to try again. */
export class RateLimited extends ToolwrightError {
  constructor(message: string, retryAfterSeconds: number) {
    super('RATE_LIMITED', message, { retryAfterMs: retryAfterSeconds * 1_000 })
  }
}
