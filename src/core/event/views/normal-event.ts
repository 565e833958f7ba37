import { isRecord } from '../../base/json.ts'
import type { FunctionCall, Part } from '../../content/content.ts'
import type { Event } from '../event.ts'

/**
 * An event in the form of our own logs. Events of other programs, of imports and of ADK's wire have no scope path, responses in
 * a content of the role `user`, handles beside the content, or calls without ids, names or arguments. `path`: the scope of an event
 * without one.
 */
export function toNormalEvent(given: Event, path: string): Event {
  if (given.author === 'user') return given
  const event = withHandles(given)
  const { nodeInfo, content } = event
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

/** An event with the members that every event has. Files of other programs leave out what is empty. */
export function toWholeEvent(event: Event): Event {
  const { actions, content }: { readonly actions?: unknown; readonly content?: unknown } = event
  const hasParts = isRecord(content) ? Array.isArray(content.parts) : content === undefined
  if (isRecord(actions) && hasParts) return event
  const { content: given, ...rest } = event
  return { ...rest, actions: isRecord(actions) ? actions : {}, ...(given && hasParts && { content: given }) }
}

/** On the wire, a long-running call has no response until its result arrives. What it returned is in `handles`, by call id. */
function withHandles(event: Event): Event {
  const { handles } = event as { readonly handles?: unknown }
  if (!isRecord(handles)) return event
  const parts: Part[] = [...(event.content?.parts ?? [])]
  for (const [id, response] of Object.entries(handles))
    if (isRecord(response)) parts.push({ functionResponse: { id, name: '', response, willContinue: true } })
  return { ...event, content: { role: 'tool', parts } }
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
