import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { type FunctionResponse, isHandle, type Part } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import type { State } from '../../context/context.ts'
import type { Plugin } from '../plugins/plugin.ts'

/** Changes responses before they are recorded and sent to the model. */
export type ChangeResponses = (
  responses: readonly FunctionResponse[],
  state: State,
) => Promise<readonly FunctionResponse[]> | readonly FunctionResponse[]

/** A plugin that passes the tool responses of the speaking agent to `change`. What is recorded is what the model gets. */
export function responsePlugin(change: ChangeResponses): Plugin {
  return {
    name: 'beforeToolResponse',
    onEvent: async ({ event, context }) => {
      const { content, partial, isolationScope } = event
      if (partial || isolationScope !== undefined || content?.role !== 'tool') return undefined
      const responses = content.parts.flatMap(({ functionResponse: one }) => (one && !isHandle(one) ? [one] : []))
      if (responses.length === 0) return undefined
      const changed = await change(responses, context.state)
      const parts = changedParts(content.parts, Array.isArray(changed) ? changed : [])
      const stateDelta = { ...event.actions.stateDelta, ...context.actions.stateDelta }
      const actions = Object.keys(stateDelta).length ? { ...event.actions, stateDelta } : event.actions
      return { ...event, content: { ...content, parts }, actions } satisfies Event
    },
  }
}

/** The parts with the responses of the hook. The media of a response that the hook dropped is dropped, too. */
function changedParts(parts: readonly Part[], changed: readonly FunctionResponse[]): Part[] {
  let isDropped = false
  return parts.flatMap((part) => {
    const { functionResponse: own } = part
    if (!own) return isDropped ? [] : [part]
    const other = changed.find((one) => isRecord(one) && one.id === own.id)
    isDropped = !other && !isHandle(own)
    return [changedPart(part, own, other)]
  })
}

/** The part with the response of the hook. A response that the hook dropped becomes an error: the model waits for one. */
function changedPart(part: Part, own: FunctionResponse, other: FunctionResponse | undefined): Part {
  if (isHandle(own) || other === own) return part
  const { modelOutput: _, ...rest } = own
  return { ...part, functionResponse: { ...rest, response: other ? responseIn(other) : dropped(own.name) } }
}

function responseIn({ response }: FunctionResponse): JsonObject {
  const { value } = toJsonValue(response)
  return isRecord(value) ? value : { result: value }
}

function dropped(name: string): JsonObject {
  const error = `The response of tool "${name}" is withheld: beforeToolResponse did not return it. The call is done; do not repeat it.`
  return { error, errorCode: 'INVALID_RESULT' }
}
