import { canonicalJson, copyJson, isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { type Content, hasParts, isHandle, type Part } from '../../../core/content/content.ts'
import type { Event, EventActions } from '../../../core/event/event.ts'
import { RunCallbackContext } from '../../context/callback-context.ts'
import type { InvocationHost } from '../../context/invocation-host.ts'
import type { Plugin } from './plugin.ts'

/** Warns the operator that a plugin made a change that is not allowed. */
export type Warn = (problem: string) => void

/**
 * The event after `onEvent` of all plugins. Plugins may change text, tool results, metadata and deltas, but not tool calls,
 * answers or control actions. Each plugin gets a copy: changing it in place is the same as returning it, and a change made
 * after `onEvent` has returned has no effect.
 */
export async function applyEventPlugins(
  plugins: readonly Plugin[],
  host: InvocationHost,
  event: Event,
  warn: Warn,
): Promise<Event> {
  const context = new RunCallbackContext(host, event.author, event.branch)
  let current = event
  for (const plugin of plugins) {
    if (!plugin.onEvent) continue
    const copy = copyJson(current)
    const returned: unknown = await plugin.onEvent({ event: copy, context })
    const changed = checkEvent(plugin, returned === undefined ? copy : returned)
    current = merge(event, current, changed, () => warn(refusal(plugin.name)))
  }
  return current
}

function refusal(name: string): string {
  return `Plugin "${name}" changed a tool call, an answer or code in onEvent. The event is recorded without that change. Change only text, tool results, metadata and deltas.`
}

/** `event` with the allowed changes of `changed`. `before` is the event that the plugin got. */
function merge(event: Event, before: Event, changed: Event, refuse: () => void): Event {
  const { content: _, actions: __, ...fixed } = event
  const { customMetadata, groundingMetadata, citationMetadata, errorMessage, usageMetadata, fallback } = changed
  const metadata = {
    ...(customMetadata && { customMetadata }),
    ...(groundingMetadata && { groundingMetadata }),
    ...(citationMetadata && { citationMetadata }),
    ...(usageMetadata && { usageMetadata }),
    ...(fixed.fallback && fallback && { fallback }),
    ...(fixed.errorCode !== undefined && errorMessage !== undefined && { errorMessage }),
  }
  // copies: the plugin may keep the returned event and change it later
  return {
    ...fixed,
    ...(toJsonValue(metadata).value as Partial<Event>),
    ...copyJson(contentOf(before, changed.content, refuse)),
    actions: toJsonValue(actionsOf(before.actions, changed.actions)).value as EventActions,
  }
}

/** Throws if a plugin returns no event: the plugin may redact events, so the unchanged event must not be recorded. */
function checkEvent({ name }: Plugin, value: unknown): Event {
  if (isRecord(value) && (value.content === undefined || hasParts(value.content))) return value as unknown as Event
  throw new TypeError(`Plugin "${name}": onEvent returned ${kindOf(value)}. Return nothing (undefined) or an event.`)
}

/** The content, if it has the same calls, responses and code as before: the run continues with them. Answers cannot change at all. */
function contentOf(
  { author, content: before }: Event,
  after: Content | undefined,
  refuse: () => void,
): { content?: Content } {
  if (!after) return before ? { content: before } : {}
  if (!before) return after.parts.flatMap(fixedOf).length ? {} : { content: after }
  const isAnswer = author === 'user' && before.parts.some((part) => part.functionResponse)
  const isSame = isAnswer
    ? canonicalJson(before.parts) === canonicalJson(after.parts)
    : canonicalJson(before.parts.flatMap(fixedOf)) === canonicalJson(after.parts.flatMap(fixedOf))
  if (isSame && !isAnswer) return { content: { role: before.role, parts: after.parts } }
  if (!isSame) refuse()
  return { content: before }
}

/** The members of a part that plugins cannot change. The response of a tool can change, but not its call id and name. */
function fixedOf({ functionCall, functionResponse, executableCode, codeExecutionResult }: Part): unknown[] {
  if (functionCall) return [['call', functionCall]]
  if (functionResponse) {
    const { id, name } = functionResponse
    return [['response', id, name, isHandle(functionResponse)]]
  }
  if (executableCode) return [['code', executableCode]]
  return codeExecutionResult ? [['result', codeExecutionResult.id]] : []
}

/** The actions with changed deltas. Control actions, such as a transfer, cannot change. */
function actionsOf(before: EventActions, after: EventActions | undefined): EventActions {
  const { stateDelta: _, artifactDelta: __, ...control } = before
  const { stateDelta, artifactDelta } = after ?? before
  return { ...control, ...(stateDelta && { stateDelta }), ...(artifactDelta && { artifactDelta }) }
}
