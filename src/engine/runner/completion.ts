import type { Event } from '../../core/event/event.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import type { Agent } from '../agent/agents/agent.ts'
import { answerTextOf, isAnswerIn } from '../agent/agents/answer-text.ts'
import { pendingOf } from './approvals/pending-requests.ts'
import { outputSchemaOf, parseOutput } from './output.ts'
import type { StartedRun } from './run/run-handle.ts'
import type { RunServices } from './run-services.ts'
import { addUsage, noUsage, type Usage } from './usage.ts'

/** The result of a run that has completed, paused or ended early. */
export interface Completion<Output = unknown> {
  /** The last answer of the active agent. For a `ParallelAgent`: the answers of all branches, labelled. */
  readonly text: string
  /** The answer as a validated value of the agent's `outputSchema`; undefined when the run is paused or ended early. */
  readonly output: Output | undefined
  /** The recorded events of this run, without partial ones. */
  readonly events: readonly Event[]
  /** The pending requests of the invocation; empty when it is not paused. */
  readonly pending: readonly PendingRequest[]
  /** Why the invocation ended early; undefined if it did not. The error of one branch among several is in `events` only. */
  readonly error: { readonly code: string; readonly message: string } | undefined
  /** Tokens of all model calls of this run, including those of agent tools. */
  readonly usage: Usage
  /** The session of the run. Pass it to continue the conversation. */
  readonly sessionId: string
  /** The invocation that the run executed. */
  readonly invocationId: string
}

/** The completion of a finished run. `output` is undefined: the runner parses it. */
export function completionOf(run: StartedRun): Completion {
  const events: Event[] = []
  let last: Event | undefined
  const usage = noUsage()
  const all = run.events.takeAll()
  for (let at = 0; at < all.length; at++) {
    const event = all[at] as Event
    if (event.partial) continue
    events.push(event)
    if (event.usageMetadata) addUsage(usage, event.usageMetadata)
    if (isAnswerIn(event, undefined)) last = event
  }
  const { sessionId, invocationId } = run
  const step = run.next()
  const pending = step.type === 'wait' ? pendingOf(step.on, run) : []
  const text = textOfRun(run, last)
  return { text, output: undefined, usage, events, pending, error: run.error(), sessionId, invocationId }
}

/** The answer as a value of the agent's `outputSchema`. Undefined if the run is paused or ended early, or the agent has none. */
export async function outputOf(
  { pending, error, text }: Completion,
  agent: Agent | undefined,
  services: Pick<RunServices, 'toolTimeoutMs' | 'ports'>,
): Promise<unknown> {
  const schema = pending.length || error ? undefined : outputSchemaOf(agent)
  return schema && (await parseOutput(schema, text, services))
}

/**
 * The text of the answer. Branches may have answered before a pause: their answers are in the log, not in the events
 * of this run.
 */
function textOfRun(run: StartedRun, last: Event | undefined): string {
  if (!last?.content) return ''
  return last.branch === undefined ? answerTextOf(last.content) : run.branchedText()
}
