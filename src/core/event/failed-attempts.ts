import { isRecord } from '../base/json.ts'
import type { Event, FailedAttempt } from './event.ts'

/** The failed attempts of a call, from the event of its response. Values of another form are left out. */
export function failedAttemptsOf({ failedAttempts }: Event, callId: string): readonly FailedAttempt[] {
  const own: unknown = failedAttempts && Object.hasOwn(failedAttempts, callId) ? failedAttempts[callId] : undefined
  return Array.isArray(own) ? own.filter(isFailedAttempt) : []
}

function isFailedAttempt(value: unknown): value is FailedAttempt {
  if (!isRecord(value)) return false
  const { attempt, attempts, error, errorCode, startedAt, endedAt } = value
  return (
    [attempt, attempts ?? 1, startedAt, endedAt].every(Number.isFinite) &&
    typeof errorCode === 'string' &&
    (error === undefined || typeof error === 'string')
  )
}

/** A failed attempt in words, such as `Attempt 1 of 3 failed: the service is down`. */
export function describeFailedAttempt({ attempt, attempts, error, errorCode }: FailedAttempt): string {
  const which = attempts === undefined ? `Attempt ${attempt}` : `Attempt ${attempt} of ${attempts}`
  return `${which} failed: ${error || errorCode}`
}
