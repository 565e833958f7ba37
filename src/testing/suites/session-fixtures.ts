import type { JsonObject } from '../../base/json.ts'
import type { Event, NewEntry } from '../../event/event.ts'
import type { PendingRequest } from '../../event/pending.ts'
import type { SessionKey, SessionService } from '../../session/service.ts'

/** Where the suites' main session lives. */
export const HOME: SessionKey = { appName: 'shop', userId: 'ada', sessionId: 's1' }

/** An event as the framework would append it. */
export function eventOf(id: string, changes: Partial<Event> = {}): Event {
  const content = { role: 'model', parts: [{ text: `text of ${id}` }] } as const
  return { id, invocationId: 'i1', author: 'clerk', timestamp: 1_700_000_000, content, actions: {}, ...changes }
}

/** An entry with an event, perhaps one that changes state. */
export function entryOf(id: string, stateDelta?: JsonObject): NewEntry {
  return { event: eventOf(id, stateDelta ? { actions: { stateDelta } } : {}) }
}

/** An entry only the framework sees. */
export function intentOf(callId: string): NewEntry {
  return { record: { type: 'intent', invocationId: 'i1', path: 'clerk', calls: [{ id: callId }] } }
}

/** A pending request as the framework would list it. */
export function requestOf(id: string, changes: Partial<PendingRequest> = {}): PendingRequest {
  const { userId, sessionId } = HOME
  const about = { invocationId: 'i1', functionCallId: `call of ${id}`, tool: 'refund', args: { amount: 5 } }
  return { id, kind: 'confirmation', userId, sessionId, ...about, agent: 'clerk', ...changes }
}

/** Appends in a lease of its own. */
export async function write(service: SessionService, key: SessionKey, ...entries: NewEntry[]): Promise<number> {
  const lease = await service.claim(key)
  try {
    return await service.append(lease, lease.seq, entries)
  } finally {
    await service.release(lease)
  }
}

/** The ids of a session's events, in order. */
export async function eventIds(service: SessionService, key: SessionKey): Promise<string[] | undefined> {
  return (await service.getSession(key))?.events.map((event) => event.id)
}

/** A session's state as anyone may read it. */
export async function stateOf(service: SessionService, key: SessionKey): Promise<JsonObject | undefined> {
  return (await service.getSession(key))?.state
}
