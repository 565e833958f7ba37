import type { Event } from './event.ts'

/** When a call of a batch ran, in seconds since the epoch. A call without times of its own ended with the event of its response. */
export function callTimeOf(event: Event, callId: string): { readonly startedAt?: number; readonly endedAt: number } {
  const { callTimes, timestamp } = event
  const own = callTimes && Object.hasOwn(callTimes, callId) ? callTimes[callId] : undefined
  return own ?? { endedAt: timestamp }
}
