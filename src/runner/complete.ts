import type { Content } from '../content/content.ts'
import { textOf } from '../content/content.ts'
import { type Event, isFinalResponse } from '../event/event.ts'
import type { PendingRequest } from '../event/pending.ts'
import { pendingOf } from './pending.ts'
import type { Followable } from './run.ts'

/** A run that has come to its end, or to a pause. */
export interface Completion {
  /** The last answer of the agent the user talks to. */
  readonly text: string
  readonly events: readonly Event[]
  /** What it waits for; empty when it is done. */
  readonly pending: readonly PendingRequest[]
  /** Why it ended early, when it did; one failing branch of several is in the events only. */
  readonly error: { readonly code: string; readonly message: string } | undefined
  readonly sessionId: string
  readonly invocationId: string
}

/** What became of a run that is over. */
export function completionOf(active: Followable): Completion {
  const events: Event[] = []
  let text = ''
  const all = active.events.takeAll()
  for (let at = 0; at < all.length; at++) {
    const event = all[at] as Event
    if (event.partial) continue
    events.push(event)
    if (event.isolationScope !== undefined || event.longRunningToolIds?.length) continue // a handle is no answer
    if (isFinalResponse(event) && event.content) text = answerOf(event.content)
  }
  const { sessionId, invocationId } = active
  const step = active.next()
  const pending = step.type === 'wait' ? pendingOf(step.on, active) : []
  return { text, events, pending, error: active.error(), sessionId, invocationId }
}

/** Text, or what a tool answered when nobody was to summarise it. */
function answerOf(content: Content): string {
  if (content.role !== 'tool') return textOf(content)
  const answers = content.parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse.response] : []))
  return answers
    .map((response) => {
      const said = response.text ?? response.result
      return typeof said === 'string' ? said : JSON.stringify(response)
    })
    .join('\n')
}
