import { canonicalJson, copyJson, isRecord } from '../../base/json.ts'
import { kindOf } from '../../base/kind-of.ts'
import { toJsonValue } from '../../base/to-json-value.ts'
import { type Content, hasParts, type Part } from '../../content/content.ts'
import type { Event, EventActions } from '../../event/event.ts'
import { RunCallbackContext } from '../../tool/callback-context.ts'
import type { InvocationHost } from '../../tool/invocation-host.ts'
import type { Plugin } from './plugin.ts'

/** What a plugin does when it may not: for the operator. */
export type Warn = (problem: string) => void

/**
 * The event as plugins leave it: they may change text, tool results, metadata and deltas, not calls, answers or control.
 * Each gets a copy, so a change in place counts like one that is returned, and one made later reaches nothing.
 */
export async function showEvent(
  plugins: readonly Plugin[],
  host: InvocationHost,
  event: Event,
  warn: Warn,
): Promise<Event> {
  const context = new RunCallbackContext(host, event.author, event.branch)
  let shown = event
  for (const plugin of plugins) {
    if (!plugin.onEvent) continue
    const copy = copyJson(shown)
    const returned: unknown = await plugin.onEvent({ event: copy, context })
    const left = eventFrom(plugin, returned === undefined ? copy : returned)
    shown = merge(event, shown, left, () => warn(refusal(plugin.name)))
  }
  return shown
}

function refusal(name: string): string {
  return `Plugin "${name}" changed a call, an answer or code in onEvent: the event is recorded without that change.`
}

/** `event` as it was, with what `left` may change; `before` is what the plugin got. */
function merge(event: Event, before: Event, left: Event, refuse: () => void): Event {
  const { content: _, actions: __, ...is } = event
  const { customMetadata, groundingMetadata, citationMetadata, errorMessage, usageMetadata, fallback } = left
  const metadata = {
    ...(customMetadata && { customMetadata }),
    ...(groundingMetadata && { groundingMetadata }),
    ...(citationMetadata && { citationMetadata }),
    ...(usageMetadata && { usageMetadata }),
    ...(is.fallback && fallback && { fallback }),
    ...(is.errorCode !== undefined && errorMessage !== undefined && { errorMessage }),
  }
  // copies: the plugin may keep what it gave, and change it later
  return {
    ...is,
    ...(toJsonValue(metadata).value as Partial<Event>),
    ...copyJson(contentOf(before, left.content, refuse)),
    actions: toJsonValue(actionsOf(before.actions, left.actions)).value as EventActions,
  }
}

/** A plugin that changes events may have meant to hide something: what is no event must not leave the event as it was. */
function eventFrom({ name }: Plugin, value: unknown): Event {
  if (isRecord(value) && (value.content === undefined || hasParts(value.content))) return value as unknown as Event
  throw new TypeError(`Plugin "${name}": onEvent returned ${kindOf(value)}. Return nothing (undefined) or an event.`)
}

/** Calls, answers and code stay what they were: the run continues with those. A user's answers stay word for word. */
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

/** What of a part no plugin may change. A tool's result may be changed, but not which call it answers. */
function fixedOf({ functionCall, functionResponse, executableCode, codeExecutionResult }: Part): unknown[] {
  if (functionCall) return [['call', functionCall]]
  if (functionResponse) {
    const { id, name, willContinue } = functionResponse
    return [['response', id, name, willContinue === true]]
  }
  if (executableCode) return [['code', executableCode]]
  return codeExecutionResult ? [['result', codeExecutionResult.id]] : []
}

/** Deltas may be changed, control may not. */
function actionsOf(before: EventActions, after: EventActions | undefined): EventActions {
  const { stateDelta: _, artifactDelta: __, ...control } = before
  const { stateDelta, artifactDelta } = after ?? before
  return { ...control, ...(stateDelta && { stateDelta }), ...(artifactDelta && { artifactDelta }) }
}
