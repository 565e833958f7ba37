import type { JsonObject } from '../../base/json.ts'
import type { Content, Part } from '../../content/content.ts'
import type { Event } from '../../event/event.ts'

/** An event as ADK clients read it. */
export type WireEvent = JsonObject & {
  /** The id of the event. */
  readonly id: string
}

/** The options of `writeEvent()`. */
export interface WriteEventOptions {
  /** Keeps the handles that long-running calls returned, and results in the form that the model gets. Default false. */
  readonly forDevelopers?: boolean
}

/**
 * The event on the ADK wire; undefined for an event that consists of handles of long-running calls only. ADK clients offer to
 * answer such a call while it has no response.
 */
export function writeEvent(event: Event, options: { readonly forDevelopers: true }): WireEvent
export function writeEvent(event: Event, options?: WriteEventOptions): WireEvent | undefined
export function writeEvent(event: Event, { forDevelopers = false }: WriteEventOptions = {}): WireEvent | undefined {
  const { content, actions, ...rest } = event
  const shown = content && !forDevelopers ? partsForClients(content, event.partial === true) : content?.parts
  const isHidden = content !== undefined && content.parts.length > 0 && shown?.length === 0
  if (isHidden && Object.keys(actions).length === 0) return undefined
  return {
    ...rest,
    ...(content && !isHidden && { content: { role: content.role === 'tool' ? 'user' : content.role, parts: shown } }),
    actions: {
      stateDelta: {},
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
      ...actions,
    },
  }
}

/** The parts without handles of long-running calls. Progress is partial and stays. */
function partsForClients({ parts }: Content, isPartial: boolean): Part[] {
  return parts.filter((part) => isPartial || part.functionResponse?.willContinue !== true).map(withoutModelOutput)
}

function withoutModelOutput(part: Part): Part {
  if (!part.functionResponse?.modelOutput) return part
  const { modelOutput: _, ...functionResponse } = part.functionResponse
  return { ...part, functionResponse }
}
