import type { CallView } from '../../../src/core/event/views/views.ts'

/** The number of the attempt that a call has come to: repeated by the model, started again after a crash, or run again by a policy. */
export function attemptOf({ attempt, interruptions, failedAttempts, error }: CallView): number {
  const last = failedAttempts.at(-1)
  return attempt + interruptions + (last ? last.attempt - (error ? 1 : 0) : 0)
}
