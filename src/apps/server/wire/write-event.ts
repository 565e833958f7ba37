import { type JsonObject, setOwn } from '../../../core/base/json.ts'
import { type Content, type FunctionResponse, isHandle, type Part } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'

/** An event as ADK clients read it. */
export type WireEvent = JsonObject & {
  /** The id of the event. */
  readonly id: string
}

/** The options of `writeEvent()`. */
interface WriteEventOptions {
  /** Keeps the handles that long-running calls returned, and results in the form that the model gets. Default false. */
  readonly forDevelopers?: boolean
}

/**
 * The event on the ADK wire. ADK clients offer to answer a long-running call while it has no response: the handles that such calls
 * returned are in `handles`, by call id, and not in the content.
 */
export function writeEvent(event: Event, { forDevelopers = false }: WriteEventOptions = {}): WireEvent {
  const { content, actions, trace, ...rest } = event
  const handles = forDevelopers || event.partial ? undefined : handlesIn(content) // progress is partial and stays
  const parts = handles ? content?.parts.filter((part) => !hasHandle(part)) : content?.parts
  return {
    ...rest,
    ...(forDevelopers && trace !== undefined && { trace }),
    // an event with handles only has content without parts: adk-web reads the parts of every event
    ...(content && {
      content: {
        role: content.role === 'tool' ? 'user' : content.role,
        parts: forDevelopers ? parts : parts?.map(withoutModelOutput),
      },
    }),
    ...(handles && { handles }),
    actions: {
      stateDelta: {},
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
      ...actions,
    },
  }
}

/** What long-running calls returned, by call id; undefined if the content has none. */
function handlesIn(content: Content | undefined): JsonObject | undefined {
  let handles: JsonObject | undefined
  for (const part of content?.parts ?? []) {
    if (!hasHandle(part)) continue
    handles ??= {}
    setOwn(handles, part.functionResponse.id ?? '', part.functionResponse.response)
  }
  return handles
}

function hasHandle(part: Part): part is Part & { readonly functionResponse: FunctionResponse } {
  return part.functionResponse !== undefined && isHandle(part.functionResponse)
}

function withoutModelOutput(part: Part): Part {
  if (!part.functionResponse?.modelOutput) return part
  const { modelOutput: _, ...functionResponse } = part.functionResponse
  return { ...part, functionResponse }
}
