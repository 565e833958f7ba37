// The next step of a scope: a pure function of the agent tree and the log.

import { unreachable } from '../../../core/base/unreachable.ts'
import type { Fold } from '../../../core/event/fold.ts'
import { type CallState, openRequests, type ScopeState } from '../../../core/event/invocation-state.ts'
import { childPath } from '../../../core/event/scope.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import type { Agent } from '../agents/agent.ts'
import { agentToolSettings } from '../agents/agent-tool.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../agents/workflow.ts'

/** An agent and the scope it runs in. */
export interface ScopedAgent {
  /** The agent. */
  readonly agent: Agent
  /** The path of the scope. */
  readonly path: string
}

/** The log of an invocation and the agents it is about. */
export interface FoldedLog {
  /** The state of the invocation, computed from the log. */
  readonly fold: Fold
  /** The tree that the agents belong to. */
  readonly tree: AgentTree
  /** The tools listed in this run for agents with dynamic tools. Agent tools may be among them. */
  readonly progress?: { readonly tables: ReadonlyMap<LlmAgent, ToolTable> | undefined } | undefined
}

/** The next step of a scope. */
export type Next =
  | { readonly type: 'ask-model'; readonly agent: LlmAgent }
  | { readonly type: 'dispatch'; readonly agent: LlmAgent; readonly calls: readonly CallState[] }
  | { readonly type: 'run'; readonly children: readonly ScopedAgent[] }
  | { readonly type: 'wait'; readonly on: readonly CallState[] }
  | { readonly type: 'done' }

const DONE: Next = { type: 'done' }

/** The next step of the scope `path`, which started with `agent`. */
export function next(agent: Agent, log: FoldedLog, path: string): Next {
  const scope = log.fold.scopes.get(path)
  if (scope?.ended || log.fold.isForeign) return DONE
  if (!scope && hasOtherRoot(log.fold, path)) return DONE
  const active = activeAgent(agent, log, path)
  if (active.path !== path) return next(active.agent, log, active.path)
  return nextOf(active.agent, log, path)
}

/** Did a root agent with another name run the invocation, before it was renamed? Without an open call it is finished. */
function hasOtherRoot(fold: Fold, path: string): boolean {
  return fold.scopes.size > 0 && !path.includes('/') && !fold.hasStarted(path) && fold.openCalls().length === 0
}

function nextOf(agent: Agent, log: FoldedLog, path: string): Next {
  if (agent instanceof LlmAgent) return nextLlm(agent, log, path)
  if (agent instanceof SequentialAgent) return nextInTurn(agent, log, path, 1)
  if (agent instanceof LoopAgent) return nextInTurn(agent, log, path, agent.maxIterations)
  if (agent instanceof ParallelAgent) return nextParallel(agent, log, path)
  return nextCustom(agent, log, path)
}

function nextLlm(agent: LlmAgent, log: FoldedLog, path: string): Next {
  const toolsets = log.fold.toolsetCalls?.get(path)?.filter((call) => openRequests(call).length > 0)
  if (toolsets?.length) return { type: 'wait', on: toolsets }
  const scope = log.fold.scopes.get(path)
  if (!scope) return { type: 'ask-model', agent }
  if (scope.answered) return DONE
  let ready: CallState[] | undefined
  let waiting: CallState[] | undefined
  for (let at = 0; at < scope.calls.length; at++) {
    const call = scope.calls[at] as CallState
    if (call.response && !call.pending) continue
    const on = waitsOn(agent, log, call)
    if (on) {
      waiting ??= []
      for (let each = 0; each < on.length; each++) waiting.push(on[each] as CallState)
    } else if (ready) ready.push(call)
    else ready = [call]
  }
  if (ready) return { type: 'dispatch', agent, calls: ready }
  if (waiting) return { type: 'wait', on: waiting }
  if (scope.escalated || scope.skipped) return DONE
  return { type: 'ask-model', agent }
}

/** The calls that an open call waits for: itself, or calls inside its agent tool. Undefined if it can be dispatched. */
function waitsOn(agent: LlmAgent, log: FoldedLog, call: CallState): readonly CallState[] | undefined {
  if (call.pending || (call.requests.length > 0 && openRequests(call).length > 0)) return [call]
  if (!log.fold.scopedCalls?.has(call.id)) return undefined
  const table = log.progress?.tables?.get(agent) ?? log.tree.plan(agent).table
  const settings = call.isCode ? undefined : agentToolSettings(table.tools.get(call.name))
  if (!settings) return waitsBelow(log.fold, call)
  const path = childPath(call.path, settings.agent.name, call.id)
  if (!log.fold.hasStarted(path)) return undefined
  const tree = log.tree.treeForTool(settings, log.tree.plan(agent).model)
  const step = next(settings.agent, { ...log, tree }, path)
  return step.type === 'wait' ? step.on : undefined
}

/** The waiting calls inside code, or inside an agent tool that is not listed yet in this run. */
function waitsBelow(fold: Fold, call: CallState): readonly CallState[] | undefined {
  const on: CallState[] = []
  for (const scope of fold.scopes.values()) {
    if (
      !scope.path.startsWith(`${call.path}/`) ||
      !scope.path.split('/').some((step) => step.endsWith(`@${call.id}`))
    ) {
      continue
    }
    for (const inner of scope.calls) {
      if ((inner.pending || openRequests(inner).length > 0) && fold.isOpen(inner)) on.push(inner)
    }
  }
  return on.length ? on : undefined
}

/** Runs one child after another, for `rounds` rounds. Ends when a child escalates or fails. */
function nextInTurn(agent: SequentialAgent | LoopAgent, log: FoldedLog, path: string, rounds: number): Next {
  for (let round = latestRound(agent, log.fold, path, rounds); round <= rounds; round++) {
    for (const child of agent.subAgents) {
      const below = { agent: child, path: childPath(path, child.name, round) }
      if (!log.fold.hasStarted(below.path)) return { type: 'run', children: [below] }
      const step = next(child, log, below.path)
      if (step.type === 'wait') return step
      if (step.type !== 'done') return { type: 'run', children: [below] }
      if (hasEscalated(child, log, below.path) || scopeError(child, log, below.path)) return DONE
    }
  }
  return DONE
}

/** The latest round that has started, found by binary search. A round starts when the one before it is done. */
function latestRound(agent: SequentialAgent | LoopAgent, fold: Fold, path: string, rounds: number): number {
  const first = agent.subAgents[0]
  if (!first) return 1
  let started = 1
  let notStarted = rounds + 1
  for (let step = 1; started + step < notStarted; step *= 2) {
    if (fold.hasStarted(childPath(path, first.name, started + step))) started += step
    else notStarted = started + step
  }
  while (started + 1 < notStarted) {
    const middle = (started + notStarted) >> 1
    if (fold.hasStarted(childPath(path, first.name, middle))) started = middle
    else notStarted = middle
  }
  return started
}

function nextParallel(agent: ParallelAgent, log: FoldedLog, path: string): Next {
  const children: ScopedAgent[] = []
  const on: CallState[] = []
  for (const child of agent.subAgents) {
    const below = { agent: child, path: childPath(path, child.name, 1) }
    const step = log.fold.hasStarted(below.path) ? next(child, log, below.path) : undefined
    if (step?.type === 'wait') on.push(...step.on)
    else if (step?.type !== 'done') children.push(below)
  }
  if (children.length) return { type: 'run', children }
  return on.length ? { type: 'wait', on } : DONE
}

/** Runs a custom agent until it records its end. Waits while an agent it runs waits. */
function nextCustom(agent: Agent, log: FoldedLog, path: string): Next {
  const waiting: CallState[] = []
  for (const below of scopesBelow(agent, log, path)) {
    const step = next(below.agent, log, below.path)
    if (step.type === 'wait') waiting.push(...step.on)
    else if (step.type !== 'done') return { type: 'run', children: [{ agent, path }] }
  }
  return waiting.length ? { type: 'wait', on: waiting } : { type: 'run', children: [{ agent, path }] }
}

function scopesBelow(agent: Agent, { fold }: FoldedLog, path: string): ScopedAgent[] {
  const found: ScopedAgent[] = []
  for (const child of agent.subAgents ?? []) {
    for (let n = 1; fold.hasStarted(childPath(path, child.name, n)); n++) {
      found.push({ agent: child, path: childPath(path, child.name, n) })
    }
  }
  return found
}

/** Describes a step for error messages: "waits for refund (c1)". */
export function describeNext(step: Next): string {
  switch (step.type) {
    case 'wait':
      return `waits for ${step.on.map(({ name, id }) => `${name} (${id})`).join(', ')}`
    case 'done':
      return 'is done'
    case 'ask-model':
    case 'dispatch':
    case 'run':
      return 'was interrupted'
    default:
      return unreachable(step)
  }
}

/** The active agent of a scope: the agent it started with, or the target of the latest transfer. */
export function activeAgent(agent: Agent, log: FoldedLog, path: string): ScopedAgent {
  const { fold, tree } = log
  const scope = fold.scopes.get(path)
  const isRoot = agent === tree.root && path === tree.root.name
  const name = scope?.active ?? (isRoot ? startOf(agent, fold, scope) : undefined)
  if (name === undefined || name === agent.name) return { agent, path }
  const target = tree.find(name, agent)
  if (!target) return { agent, path }
  if (target instanceof LlmAgent) return { agent: target, path }
  // a workflow agent reached by transfer has its own scope
  return { agent: target, path: childPath(path, target.name, `t${scope?.transfers ?? 0}`) }
}

/** The agent that the root scope started with: the first speaker in the log. The options of agents may have changed since then. */
function startOf(root: Agent, { start }: Fold, scope: ScopeState | undefined): string | undefined {
  return root instanceof LlmAgent ? (scope?.speakers[0]?.name ?? start) : start
}

/** Has a finished scope escalated, to end the nearest loop? An escalation does not leave the loop that it ends. */
export function hasEscalated(agent: Agent, log: FoldedLog, path: string): boolean {
  return findInScopes(ESCALATION, agent, log, path) ?? false
}

/** The error that a finished scope ended with. A parallel agent has an error only if all its branches have one. */
export function scopeError(agent: Agent, log: FoldedLog, path: string): ScopeState['error'] {
  return findInScopes(ERROR, agent, log, path)
}

/** What to find in a finished scope and the scopes below it. */
interface ScopeQuery<T> {
  readonly read: (scope: ScopeState) => T | undefined
  /** Does a parallel agent need a value in one branch, or in every branch? */
  readonly branches: 'any' | 'all'
  /** Does a value leave the loop it was found in? */
  readonly leavesLoop: boolean
}

const ESCALATION: ScopeQuery<boolean> = { read: (scope) => scope.escalated, branches: 'any', leavesLoop: false }
const ERROR: ScopeQuery<NonNullable<ScopeState['error']>> = {
  read: (scope) => scope.error,
  branches: 'all',
  leavesLoop: true,
}

function findInScopes<T>(query: ScopeQuery<T>, agent: Agent, log: FoldedLog, path: string): T | undefined {
  const scope = log.fold.scopes.get(path)
  const own = scope && query.read(scope)
  if (own) return own
  const active = activeAgent(agent, log, path)
  if (active.path !== path) return findInScopes(query, active.agent, log, active.path)
  const findInChild = (child: Agent, round: number): T | undefined =>
    findInScopes(query, child, log, childPath(path, child.name, round))
  if (agent instanceof SequentialAgent) return firstFound(agent.subAgents.map((child) => findInChild(child, 1)))
  if (agent instanceof ParallelAgent) {
    const found = agent.subAgents.map((child) => findInChild(child, 1))
    return query.branches === 'any' || found.every(Boolean) ? firstFound(found) : undefined
  }
  if (agent instanceof LoopAgent && query.leavesLoop) return findInLoop(agent, log, path, findInChild)
  return undefined
}

function findInLoop<T>(
  agent: LoopAgent,
  { fold }: FoldedLog,
  path: string,
  findInChild: (child: Agent, round: number) => T | undefined,
): T | undefined {
  for (let round = 1; round <= agent.maxIterations; round++) {
    const started = agent.subAgents.filter((child) => fold.hasStarted(childPath(path, child.name, round)))
    if (started.length === 0) return undefined
    const found = firstFound(started.map((child) => findInChild(child, round)))
    if (found) return found
  }
  return undefined
}

function firstFound<T>(values: readonly (T | undefined)[]): T | undefined {
  return values.find(Boolean)
}
