import type { JsonObject } from '../../../core/base/json.ts'
import type { Event, NewEntry } from '../../../core/event/event.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { SessionKey, SessionService } from '../../../services/session/service.ts'

/** The key of the main session in the suites. */
export const HOME: SessionKey = { appName: 'shop', userId: 'ada', sessionId: 's1' }

/** Creates an event as the framework appends it. */
export function eventOf(id: string, changes: Partial<Event> = {}): Event {
  const content = { role: 'model', parts: [{ text: `text of ${id}` }] } as const
  return { id, invocationId: 'i1', author: 'clerk', timestamp: 1_700_000_000, content, actions: {}, ...changes }
}

/** Creates an entry with an event, optionally with a state delta. */
export function entryOf(id: string, stateDelta?: JsonObject): NewEntry {
  return { event: eventOf(id, stateDelta ? { actions: { stateDelta } } : {}) }
}

/** Creates an entry with an intent record. */
export function intentOf(callId: string): NewEntry {
  return { record: { type: 'intent', invocationId: 'i1', path: 'clerk', calls: [{ id: callId }] } }
}

/** Creates a pending request as the framework lists it. */
export function requestOf(id: string, changes: Partial<PendingRequest> = {}): PendingRequest {
  const { userId, sessionId } = HOME
  const call = { invocationId: 'i1', functionCallId: `call of ${id}`, tool: 'refund', args: { amount: 5 } }
  return { id, kind: 'confirmation', userId, sessionId, ...call, agent: 'clerk', ...changes }
}

/** Claims the session, appends entries and releases it. */
export async function write(service: SessionService, key: SessionKey, ...entries: NewEntry[]): Promise<number> {
  const lease = await service.claim(key)
  try {
    return await service.append(lease, lease.seq, entries)
  } finally {
    await service.release(lease)
  }
}

/** The event ids of a session in order. */
export async function eventIds(service: SessionService, key: SessionKey): Promise<string[] | undefined> {
  return (await service.getSession(key))?.events.map((event) => event.id)
}

/** The state of a session as `getSession` returns it. */
export async function stateOf(service: SessionService, key: SessionKey): Promise<JsonObject | undefined> {
  return (await service.getSession(key))?.state
}
