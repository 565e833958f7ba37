// Runs the agent of an agent tool. The call is a scope of the invocation, and runs like any other scope.
import { isRecord } from '../../../core/base/json.ts'
import type { Content } from '../../../core/content/content.ts'
import type { CallState } from '../../../core/event/invocation-state.ts'
import { childPath, isWithin } from '../../../core/event/scope.ts'
import type { CallContext } from '../../context/call-context.ts'
import { SUSPENDED } from '../../dispatch/host.ts'
import { AgentFailed } from '../../dispatch/outcome.ts'
import type { ToolEntry } from '../../dispatch/resolve.ts'
import { Timeout } from '../../dispatch/wait-with-deadline.ts'
import { scopeError } from '../loop/next.ts'
import type { RunHost, ScopeFrame } from '../loop/run-host.ts'
import { runScopeWithDeadline } from '../loop/scope-deadline.ts'
import type { Agent } from './agent.ts'
import type { AgentPlan } from './agent-plan.ts'
import type { AgentToolSettings } from './agent-tool.ts'
import { answerTextOf, branchedText } from './answer-text.ts'
import { parseAnswer } from './final-answer.ts'
import { LlmAgent } from './llm-agent.ts'

/** A call of an agent tool. */
interface AgentToolCall {
  /** The run the call belongs to. */
  readonly run: RunHost
  /** The plan of the agent that made the call. */
  readonly plan: AgentPlan
  /** The scope the call was made in. */
  readonly frame: ScopeFrame
  /** The tool, with its policies. */
  readonly entry: ToolEntry
  /** The agent to run, and how. */
  readonly settings: AgentToolSettings
  /** The recorded call. */
  readonly call: CallState
  /** The checked arguments. */
  readonly args: unknown
  /** The context of the call. Its actions are recorded with the response. */
  readonly context: CallContext
  /** Is it another attempt, which a policy makes because the agent failed? */
  readonly isRetry: boolean
  /** Runs the scope of the agent. Passed in to avoid an import cycle. */
  readonly runScope: (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<'done' | 'wait'>
}

/** Records the request to the agent, once per attempt, then runs the agent until it is done or waits. */
export async function runAgentTool(agentCall: AgentToolCall): Promise<unknown> {
  const { run, plan, frame, entry, settings, call, args, context, isRetry, runScope } = agentCall
  const { agent } = settings
  const path = childPath(frame.path, agent.name, call.id)
  const inner: ScopeFrame = {
    path,
    branch: frame.branch,
    isolation: path,
    tree: frame.tree.treeForTool(settings, plan.model),
    operation: context.observed?.operation,
  }
  if (!settings.includePlugins) run.recorder.hideFromPlugins(path)
  const { fold, maxLlmCalls } = run
  const hasStarted = fold.hasStarted(path)
  // without model calls left, another attempt would fail the same way
  if (!hasStarted || (isRetry && fold.replies < maxLlmCalls)) {
    const content = (hasStarted && recordedRequest(run, path)) || { role: 'user', parts: [{ text: requestOf(args) }] }
    await run.recorder.commit([{ event: run.recorder.draft(plan.agent.name, inner, content, {}) }])
  }
  const { timeoutMs = run.services.agentToolTimeoutMs, name } = entry.tool
  const outcome =
    timeoutMs === Number.POSITIVE_INFINITY
      ? await runScope(run, agent, inner)
      : await runScopeWithDeadline(run, agent, inner, { name, timeoutMs, runScope })
  if (outcome === 'wait') return SUSPENDED
  if (settings.skipSummarization) context.actions.skipSummarization = true
  return await resultOf(run, agent, inner)
}

/** The text sent to the agent: the `request` argument, or all arguments as JSON. */
function requestOf(args: unknown): string {
  const request = isRecord(args) && Object.keys(args).length === 1 ? args.request : undefined
  return typeof request === 'string' ? request : JSON.stringify(args)
}

/** The recorded request to the agent. The arguments of a resumed call may differ from it. */
function recordedRequest({ view }: RunHost, path: string): Content | undefined {
  return view.events.find(({ isolationScope, content }) => isolationScope === path && content?.role === 'user')?.content
}

/**
 * The answer of the agent: the text of its last reply or of all its branches, or an object if it has an `outputSchema`.
 * Throws if the agent failed.
 */
async function resultOf(run: RunHost, agent: Agent, inner: ScopeFrame): Promise<unknown> {
  const last = run.fold.lastReplyIn(inner.path)
  const isBranched = last !== undefined && last.branch !== inner.branch
  const text = isBranched
    ? branchedText({ agent, tree: inner.tree, reader: 'model' }, inner, run.view.events)
    : answerTextOf(last?.content, 'model')
  const failure = scopeError(agent, { fold: run.fold, tree: inner.tree }, inner.path)
  if (failure?.code === 'TIMEOUT') throw new Timeout(failure.message, mayHaveActed(run, inner.path))
  if (failure) throw new AgentFailed(failure.message, text)
  if (!(agent instanceof LlmAgent) || !agent.output) return { text }
  const parsed = await parseAnswer(agent.output, text)
  return parsed.issues ? { text } : parsed.value
}

/** Does this scope hold a call with an unknown outcome? */
function mayHaveActed({ fold }: RunHost, path: string): boolean {
  for (const call of fold.calls.values()) {
    if (isWithin(call.path, path) && call.response?.response.status === 'unknown_outcome') return true
  }
  return false
}
