import type { JsonObject } from '../../base/json.ts'
import { keepShape } from '../../base/keep-shape.ts'
import type { Content } from '../../content/content.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import type { EventActions } from '../../event/event.ts'
import type { ScopePath } from '../../event/scope.ts'

/** An event with what every event has; always in the same order, so that all have one of few shapes. */
export function draftEvent(
  id: string,
  invocationId: string,
  author: string,
  now: number,
  actions: EventActions,
  content: Content | undefined,
  scope: ScopePath | undefined,
  customMetadata: JsonObject | undefined,
): EventDraft {
  const event: EventDraft = { id, invocationId, author, timestamp: now / 1000, actions }
  if (content) event.content = content
  if (scope) {
    event.nodeInfo = { path: scope.path }
    if (scope.branch !== undefined) event.branch = scope.branch
    if (scope.isolation !== undefined) event.isolationScope = scope.isolation
  }
  if (customMetadata) event.customMetadata = customMetadata
  return event
}

const sample = (scope?: ScopePath): EventDraft => draftEvent('', '', '', 1.5, {}, { role: 'user', parts: [] }, scope, undefined)
for (const scope of [{ path: '' }, { path: '', branch: '' }, { path: '', isolation: '' }]) {
  keepShape(() => sample(scope))
  keepShape(() => Object.assign(sample(scope), { turnComplete: true }))
  keepShape(() => Object.assign(sample(scope), { partial: true }))
}
keepShape(() => sample())
