import { ToolwrightError } from '../../core/error/error.ts'

/** How many posted messages may wait for a run. */
export interface WaitingLimits {
  /** Messages of all users of the app. Default: any number. */
  readonly perApp?: number | undefined
  /** Messages of one user. Default: any number. */
  readonly perUser?: number | undefined
}

/** How an item is posted. */
export interface PostOptions {
  /** Throws RATE_LIMITED for a new item if so many messages wait. */
  readonly maxWaiting?: WaitingLimits | undefined
}

/** The ids of posted messages start with this, and those of no other items. */
export const MESSAGE_PREFIX = 'message-'

/** A caller that is refused tries again after this time, in milliseconds. */
const RETRY_AFTER_MS = 1_000

/** The error for a message that finds too many others waiting. */
export function tooManyWaiting(scope: 'app' | 'user', max: number): ToolwrightError {
  const [whose, option] = scope === 'app' ? ['of the app', 'perApp'] : ['of the user', 'perUser']
  return new ToolwrightError(
    'RATE_LIMITED',
    `${max} messages ${whose} wait for a worker, and no more may (limits.waiting.${option}). Try again later.`,
    { retryAfterMs: RETRY_AFTER_MS },
  )
}
