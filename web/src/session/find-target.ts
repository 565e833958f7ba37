import type { Entry } from '../../../src/core/event/event.ts'
import type { Selection } from './selection.ts'

/** Finds the event, the call or the request with an id. Undefined if the entries do not have it. */
export function findTarget(entries: readonly Entry[], id: string): Selection | undefined {
  for (const { event, record } of entries) {
    if (record?.type === 'request' && record.id === id) return { eventId: '', callId: record.callId }
    const parts = event?.content?.parts ?? []
    const calls = parts.map(({ functionCall, functionResponse }) => (functionCall ?? functionResponse)?.id)
    if (event?.id === id) return { eventId: id, callId: parts.some(({ text }) => text) ? undefined : calls[0] }
    if (event && calls.includes(id)) return { eventId: event.id, callId: id }
  }
  return undefined
}

/** The invocation of an event or a call. */
export function invocationOf(entries: readonly Entry[], { eventId, callId }: Selection): string | undefined {
  const found = entries.find(({ event }) =>
    callId === undefined
      ? event?.id === eventId
      : event?.content?.parts.some(({ functionCall }) => functionCall?.id === callId),
  )
  return found?.event?.invocationId
}
