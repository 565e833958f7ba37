import { textOf } from '../../../src/core/content/content.ts'
import type { Entry } from '../../../src/core/event/event.ts'

/** An invocation of a session. */
export interface InvocationItem {
  /** The id of the invocation. */
  readonly id: string
  /** The user's message. */
  readonly message: string
  /** When it began, in seconds since the epoch. */
  readonly startedAt: number
}

/** The invocations of a log, the oldest first. Edits of the state are none. */
export function listInvocations(entries: readonly Entry[]): readonly InvocationItem[] {
  const found = new Map<string, InvocationItem>()
  for (const { event } of entries) {
    if (!event || event.invocationId === '' || found.has(event.invocationId)) continue
    if (event.author === 'user' && !event.content) continue
    found.set(event.invocationId, {
      id: event.invocationId,
      message: event.author === 'user' ? textOf(event.content) : '',
      startedAt: event.timestamp,
    })
  }
  return [...found.values()]
}
