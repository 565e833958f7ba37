import type { FunctionCall, Part } from '../../content/content.ts'
import type { Event } from '../event.ts'

/**
 * An event in the form of our own logs. Events of other programs, of imports and of ADK's wire have no scope path, responses in
 * a content of the role `user`, or calls without ids, names or arguments. `path`: the scope of an event without one.
 */
export function toNormalEvent(event: Event, path: string): Event {
  const { author, nodeInfo, content } = event
  if (author === 'user') return event
  const hasResponses =
    content && content.role !== 'tool' && content.parts.some(({ functionResponse }) => functionResponse)
  const hasPoorCalls = content?.parts.some(({ functionCall }) => functionCall && !isWhole(functionCall))
  if (nodeInfo && !hasResponses && !hasPoorCalls) return event
  return {
    ...event,
    nodeInfo: nodeInfo ?? { path },
    ...(content && {
      content: {
        role: hasResponses ? 'tool' : content.role,
        parts: hasPoorCalls ? content.parts.map((part, at) => withWholeCall(part, `${event.id}-${at}`)) : content.parts,
      },
    }),
  }
}

function isWhole({ id, name, args }: FunctionCall): boolean {
  return Boolean(id) && typeof name === 'string' && (args ?? undefined) !== undefined
}

function withWholeCall(part: Part, id: string): Part {
  const { functionCall: call } = part
  if (!call || isWhole(call)) return part
  const { name, args } = call
  return {
    ...part,
    functionCall: { id: call.id || id, name: typeof name === 'string' ? name : '', args: args ?? {} },
  }
}
