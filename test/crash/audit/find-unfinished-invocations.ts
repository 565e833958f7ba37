import type { Event } from 'toolwright'
import { type Evidence, eventsOf } from './evidence.ts'

/** Invocations whose last event is not a reply. */
export function findUnfinishedInvocations(evidence: Evidence): string[] {
  const last = new Map<string, Event>()
  for (const event of eventsOf(evidence)) if (!isStateEdit(event)) last.set(event.invocationId, event)
  return [...last].flatMap(([id, { author, content }]) => {
    const isOver = author !== 'user' && content?.role === 'model' && content.parts[0]?.text === 'done'
    return isOver && content.parts.length === 1 ? [] : [`Invocation ${id} has no end.`]
  })
}

/** A state edit of another process is an event without content. */
function isStateEdit({ author, content }: Event): boolean {
  return author === 'user' && content === undefined
}
