import { answerTextOf, isAnswerIn } from '../agent/agents/answer-text.ts'
import type { Event } from '../event/event.ts'
import type { PendingRequest } from '../event/pending.ts'
import { pendingOf } from './approvals/pending.ts'
import type { StartedRun } from './run/run-handle.ts'
import { addUsage, noUsage, type Usage } from './usage.ts'

/** A run that has come to its end, or to a pause. */
export interface Completion<Output = unknown> {
  /** The last answer of the agent the user talks to; of a `ParallelAgent` the answers of all branches, labelled. */
  readonly text: string
  /** The answer as a value of the agent's `outputSchema`, validated; undefined when the run is paused or ended early. */
  readonly output: Output | undefined
  readonly events: readonly Event[]
  /** What it waits for; empty when it is done. */
  readonly pending: readonly PendingRequest[]
  /** Why it ended early, when it did; one failing branch of several is in the events only. */
  readonly error: { readonly code: string; readonly message: string } | undefined
  /** Tokens of all model calls of this run, also those inside agent tools. */
  readonly usage: Usage
  readonly sessionId: string
  readonly invocationId: string
}

/** What became of a run that is over. */
export function completionOf(active: StartedRun): Completion {
  const events: Event[] = []
  let last: Event | undefined
  const usage = noUsage()
  const all = active.events.takeAll()
  for (let at = 0; at < all.length; at++) {
    const event = all[at] as Event
    if (event.partial) continue
    events.push(event)
    if (event.usageMetadata) addUsage(usage, event.usageMetadata)
    if (isAnswerIn(event, undefined)) last = event
  }
  const { sessionId, invocationId } = active
  const step = active.next()
  const pending = step.type === 'wait' ? pendingOf(step.on, active) : []
  const text = textOfRun(active, last)
  return { text, output: undefined, usage, events, pending, error: active.error(), sessionId, invocationId }
}

/** Branches that have spoken before a pause are in the log, not among the events of this run. */
function textOfRun(active: StartedRun, last: Event | undefined): string {
  if (!last?.content) return ''
  return last.branch === undefined ? answerTextOf(last.content) : active.branchedText()
}
