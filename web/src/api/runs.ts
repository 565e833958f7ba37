import type { Part } from '../../../src/core/content/content.ts'
import type { Event } from '../../../src/core/event/event.ts'
import { readStream } from './read-stream.ts'
import { requestJson } from './request.ts'
import { sessionPath } from './sessions.ts'
import type { SessionKey } from './types.ts'

/** Sends a message, or answers, and yields the events of the run. */
export function runMessage(key: SessionKey, parts: readonly Part[], signal?: AbortSignal): AsyncGenerator<Event, void> {
  const { app: appName, userId, sessionId } = key
  const newMessage = { role: 'user', parts }
  return readStream('/run_sse', { body: { appName, userId, sessionId, newMessage, streaming: true }, signal })
}

/** Yields the events after the given one: the stored ones, then those of the run under way. Ends with the run. */
export function followRun(
  key: SessionKey,
  afterEventId: string | undefined,
  signal?: AbortSignal,
): AsyncGenerator<Event, void> {
  const query = afterEventId === undefined ? '' : `?${new URLSearchParams({ after: afterEventId })}`
  return readStream(`${sessionPath(key)}/stream${query}`, { signal })
}

/** Cancels the run of a session. */
export async function cancelRun(key: SessionKey): Promise<void> {
  await requestJson(`${sessionPath(key)}/cancel`, { body: {} })
}
