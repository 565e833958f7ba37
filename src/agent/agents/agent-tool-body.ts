// An agent tool has no blocking body: its call is a scope of the invocation, walked like any other.
import { isRecord } from '../../base/json.ts'
import type { Content } from '../../content/content.ts'
import { SUSPENDED } from '../../dispatch/host.ts'
import { AgentFailed } from '../../dispatch/outcome.ts'
import type { ToolEntry } from '../../dispatch/resolve.ts'
import { Timeout } from '../../dispatch/wait.ts'
import type { CallState } from '../../event/call-state.ts'
import { childPath, isWithin } from '../../event/scope.ts'
import type { CallContext } from '../../tool/call-context.ts'
import { scopeError } from '../loop/next.ts'
import type { RunHost, ScopeFrame } from '../loop/run-host.ts'
import { runScopeWithDeadline } from '../loop/scope-deadline.ts'
import type { Agent } from './agent.ts'
import type { AgentMark } from './agent-tool.ts'
import type { Plan } from './agent-tree.ts'
import { answerTextOf, branchedText } from './answer-text.ts'
import { parseAnswer } from './final-answer.ts'
import { LlmAgent } from './llm-agent.ts'

export interface AgentCall {
  readonly run: RunHost
  /** The caller's. */
  readonly plan: Plan
  readonly frame: ScopeFrame
  readonly entry: ToolEntry
  readonly mark: AgentMark
  readonly call: CallState
  readonly args: unknown
  readonly context: CallContext
  /** The agent failed, and a policy has asked for another attempt. */
  readonly isRetry: boolean
  readonly runScope: (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<'done' | 'wait'>
}

/** Opens the child's scope once, and again for each retry, then walks it as far as it goes. */
export async function runAgentTool(agentCall: AgentCall): Promise<unknown> {
  const { run, plan, frame, entry, mark, call, args, context, isRetry, runScope } = agentCall
  const { agent } = mark
  const path = childPath(frame.path, agent.name, call.id)
  const inner: ScopeFrame = { path, branch: frame.branch, isolation: path, tree: frame.tree.ofTool(mark, plan.model) }
  if (!mark.includePlugins) run.recorder.hideFromPlugins(path)
  const { fold, maxLlmCalls } = run
  const isBegun = fold.hasStarted(path)
  // without budget another attempt would fail the same way
  if (!isBegun || (isRetry && fold.replies < maxLlmCalls)) {
    const content = (isBegun && openingOf(run, path)) || { role: 'user', parts: [{ text: requestOf(args) }] }
    await run.recorder.commit([{ event: run.recorder.draft(plan.agent.name, inner, content, {}) }])
  }
  const { timeoutMs = Number.POSITIVE_INFINITY, name } = entry.tool
  const outcome =
    timeoutMs === Number.POSITIVE_INFINITY
      ? await runScope(run, agent, inner)
      : await runScopeWithDeadline(run, agent, inner, { name, timeoutMs, runScope })
  if (outcome === 'wait') return SUSPENDED
  if (mark.skipSummarization) context.actions.skipSummarization = true
  return await resultOf(run, agent, inner)
}

function requestOf(args: unknown): string {
  const request = isRecord(args) && Object.keys(args).length === 1 ? args.request : undefined
  return typeof request === 'string' ? request : JSON.stringify(args)
}

/** What the agent was asked: the arguments of a resumed call may be others. */
function openingOf({ view }: RunHost, path: string): Content | undefined {
  return view.events.find(({ isolationScope, content }) => isolationScope === path && content?.role === 'user')?.content
}

/** The child's last words, those of all its branches, or the object when it has an output schema. Throws why it failed, if it did. */
async function resultOf(run: RunHost, agent: Agent, inner: ScopeFrame): Promise<unknown> {
  const last = run.fold.lastReplyIn(inner.path)
  const isBranched = last !== undefined && last.branch !== inner.branch
  const said = last?.content ? answerTextOf(last.content, 'model') : ''
  const text = isBranched ? branchedText(agent, inner.tree, inner, run.view.events, 'model') : said
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
