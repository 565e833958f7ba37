// How often a run, and an agent in a scope, may ask its model.
import { repliesOf } from '../../../core/event/invocation-state.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import { endingEvent } from './end-scope.ts'
import type { AgentTurn } from './run-host.ts'

/** The event that is recorded instead of a model call when a limit is reached. */
export function limitEvent(turn: AgentTurn): EventDraft | undefined {
  const { run, plan, frame } = turn
  const { agent } = plan
  // agents that run at the same time share the budget: model calls under way count like those in the log
  if (run.fold.replies + run.progress.replies.length >= run.maxLlmCalls) {
    const limit = `The run has used its ${run.maxLlmCalls} model calls. Raise runConfig.maxLlmCalls to allow more.`
    return endingEvent(run, agent.name, frame, { errorCode: 'MAX_LLM_CALLS', errorMessage: limit })
  }
  if (repliesOf(run.fold.scopes.get(frame.path), agent.name) < agent.maxIterations) return undefined
  const limit = `Agent "${agent.name}" has used its ${agent.maxIterations} model calls without an answer. Raise maxIterations to allow more.`
  return endingEvent(run, agent.name, frame, { errorCode: 'MAX_ITERATIONS', errorMessage: limit })
}
