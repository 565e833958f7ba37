import type { Part } from '../../content/content.ts'
import type { Event } from '../event.ts'

/**
 * An event in the form of our own logs. Events of other programs, of imports and of ADK's wire have no scope path, responses in
 * a content of the role `user`, or calls without ids. `path`: the scope of an event without one.
 */
export function toNormalEvent(event: Event, path: string): Event {
  const { author, nodeInfo, content } = event
  if (author === 'user') return event
  const hasResponses =
    content && content.role !== 'tool' && content.parts.some(({ functionResponse }) => functionResponse)
  const hasNamelessCalls = content?.parts.some(({ functionCall }) => functionCall && !functionCall.id)
  if (nodeInfo && !hasResponses && !hasNamelessCalls) return event
  return {
    ...event,
    nodeInfo: nodeInfo ?? { path },
    ...(content && {
      content: {
        role: hasResponses ? 'tool' : content.role,
        parts: hasNamelessCalls
          ? content.parts.map((part, at) => withCallId(part, `${event.id}-${at}`))
          : content.parts,
      },
    }),
  }
}

function withCallId(part: Part, id: string): Part {
  return part.functionCall && !part.functionCall.id ? { ...part, functionCall: { ...part.functionCall, id } } : part
}
