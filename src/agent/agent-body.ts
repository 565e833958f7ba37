// An agent tool has no blocking body: its call is a scope of the invocation, walked like any other.
import { isRecord } from '../base/json.ts'
import { textOf } from '../content/content.ts'
import { SUSPENDED } from '../dispatch/host.ts'
import type { CallState } from '../event/fold.ts'
import { childPath } from '../event/scope.ts'
import type { CallContext } from '../tool/call-context.ts'
import type { Agent } from './agent.ts'
import type { AgentMark } from './agent-tool.ts'
import { parseAnswer } from './final-answer.ts'
import { LlmAgent } from './llm-agent.ts'
import { failureOf } from './next.ts'
import type { Place, RunHost } from './run-host.ts'
import type { Plan } from './tree.ts'

export interface AgentCall {
  readonly run: RunHost
  /** The caller's. */
  readonly plan: Plan
  readonly place: Place
  readonly mark: AgentMark
  readonly call: CallState
  readonly args: unknown
  readonly context: CallContext
  readonly walk: (run: RunHost, agent: Agent, place: Place) => Promise<'done' | 'wait'>
}

/** Opens the child's scope once, then walks it as far as it goes. */
export async function agentBody({ run, plan, place, mark, call, args, context, walk }: AgentCall): Promise<unknown> {
  const path = childPath(place.path, mark.agent.name, call.id)
  const inner: Place = { path, branch: place.branch, isolation: path, tree: place.tree.ofTool(mark, plan.model) }
  if (!mark.includePlugins) run.hideFromPlugins(path)
  if (!run.fold.begun(path)) {
    const opening = run.draft(plan.agent.name, inner, { role: 'user', parts: [{ text: requestOf(args) }] }, {})
    await run.commit([{ event: opening }])
  }
  if ((await walk(run, mark.agent, inner)) === 'wait') return SUSPENDED
  if (mark.skipSummarization) context.actions.skipSummarization = true
  return await resultOf(run, mark.agent, inner)
}

function requestOf(args: unknown): string {
  const request = isRecord(args) && Object.keys(args).length === 1 ? args.request : undefined
  return typeof request === 'string' ? request : JSON.stringify(args)
}

/** The child's last words, or the object when it has an output schema; and why it failed, if it did. */
async function resultOf(run: RunHost, agent: Agent, inner: Place): Promise<unknown> {
  const text = textOf(run.fold.answerIn(inner.path)?.content)
  const failure = failureOf(agent, { fold: run.fold, tree: inner.tree }, inner.path)
  if (failure) return { text, error: failure.message, errorCode: 'EXECUTION_FAILED' }
  if (!(agent instanceof LlmAgent) || !agent.output) return { text }
  const parsed = await parseAnswer(agent.output, text)
  return parsed.issues ? { text } : parsed.value
}
