import { isRecord } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { type Content, hasParts, type Part } from '../content/content.ts'
import type { Event, EventActions } from '../event/event.ts'
import { RunCallbackContext } from '../tool/callback-context.ts'
import type { InvocationHost } from '../tool/host.ts'
import type { Plugin } from './plugin.ts'

/** The event as plugins leave it: they may change what it says, not what it is or what follows from it. */
export async function showEvent(plugins: readonly Plugin[], host: InvocationHost, event: Event): Promise<Event> {
  const context = new RunCallbackContext(host, event.author, event.branch)
  let shown = event
  for (const plugin of plugins) shown = eventFrom(plugin, await plugin.onEvent?.({ event: shown, context })) ?? shown
  if (shown === event) return event
  const { content, actions, ...is } = event
  const { customMetadata, groundingMetadata, citationMetadata, errorMessage, usageMetadata } = shown
  return {
    ...is,
    ...(customMetadata && { customMetadata }),
    ...(groundingMetadata && { groundingMetadata }),
    ...(citationMetadata && { citationMetadata }),
    ...(usageMetadata && { usageMetadata }),
    ...(is.errorCode !== undefined && errorMessage !== undefined && { errorMessage }),
    ...said(event, content, shown.content),
    actions: done(actions, shown.actions),
  }
}

/** A plugin that changes events may have meant to hide something: what is no event must not leave the event as it was. */
function eventFrom({ name }: Plugin, value: unknown): Event | undefined {
  if (value === undefined) return undefined
  if (isRecord(value) && (value.content === undefined || hasParts(value.content))) return value as unknown as Event
  throw new TypeError(`Plugin "${name}": onEvent returned ${kindOf(value)}. Return nothing (undefined) or an event.`)
}

/** Calls, answers and code stay what they were: the run goes on with those. A user's answers stay word for word. */
function said({ author }: Event, before: Content | undefined, after: Content | undefined): { content?: Content } {
  if (!after || !Array.isArray(after.parts)) return before ? { content: before } : {}
  if (!before) return after.parts.flatMap(keyOf).length ? {} : { content: after }
  const isAnswer = author === 'user' && before.parts.some((part) => part.functionResponse)
  const isSame = JSON.stringify(before.parts.flatMap(keyOf)) === JSON.stringify(after.parts.flatMap(keyOf))
  return { content: isAnswer || !isSame ? before : { role: before.role, parts: after.parts } }
}

function keyOf({ functionCall, functionResponse, executableCode, codeExecutionResult }: Part): unknown[] {
  if (functionCall) return [['call', functionCall.id, functionCall.name]]
  if (functionResponse) return [['response', functionResponse.id, functionResponse.willContinue === true]]
  if (executableCode) return [['code', executableCode.id, executableCode.code]]
  return codeExecutionResult ? [['result', codeExecutionResult.id]] : []
}

/** What was written may be changed, where control goes may not. */
function done(before: EventActions, after: EventActions | undefined): EventActions {
  const { stateDelta: _, artifactDelta: __, ...control } = before
  const { stateDelta, artifactDelta } = after ?? before
  return { ...control, ...(stateDelta && { stateDelta }), ...(artifactDelta && { artifactDelta }) }
}
