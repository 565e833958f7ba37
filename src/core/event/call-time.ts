import type { Event } from './event.ts'

/**
 * When a call of a batch ran, in seconds since the epoch. A call without valid times of its own, such as in a log that another
 * program wrote, ended with the event of its response.
 */
export function callTimeOf(event: Event, callId: string): { readonly startedAt?: number; readonly endedAt: number } {
  const { callTimes, timestamp } = event
  const own = callTimes && Object.hasOwn(callTimes, callId) ? callTimes[callId] : undefined
  const isValid = Number.isFinite(own?.startedAt) && Number.isFinite(own?.endedAt)
  return own && isValid ? own : { endedAt: timestamp }
}
