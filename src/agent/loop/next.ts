// What happens next in a scope: a pure function of the agent tree and the log.
import { unreachable } from '../../base/unreachable.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import type { CallState } from '../../event/call-state.ts'
import { type Fold, openRequests } from '../../event/fold.ts'
import { childPath } from '../../event/scope.ts'
import type { ScopeState } from '../../event/scope-state.ts'
import type { Agent } from '../agents/agent.ts'
import { agentOf } from '../agents/agent-tool.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../agents/workflow.ts'

export type Next =
  | { readonly type: 'ask-model'; readonly agent: LlmAgent }
  | { readonly type: 'dispatch'; readonly agent: LlmAgent; readonly calls: readonly CallState[] }
  | { readonly type: 'run'; readonly children: readonly ScopedAgent[] }
  | { readonly type: 'wait'; readonly on: readonly CallState[] }
  | { readonly type: 'done' }

/** An agent and the scope it runs in. */
export interface ScopedAgent {
  readonly agent: Agent
  readonly path: string
}

/** What `next` asks. */
export interface FoldedLog {
  readonly fold: Fold
  readonly tree: AgentTree
  /** The tools listed in this run for agents with dynamic tools; agent tools may be among them. */
  readonly progress?: { readonly tables: ReadonlyMap<LlmAgent, ToolTable> | undefined } | undefined
}

const DONE: Next = { type: 'done' }

export function next(agent: Agent, log: FoldedLog, path: string): Next {
  const scope = log.fold.scopes.get(path)
  if (scope?.ended || log.fold.isForeign) return DONE
  const inCharge = activeAgent(agent, log, path)
  if (inCharge.path !== path) return next(inCharge.agent, log, inCharge.path)
  return nextOf(inCharge.agent, log, path)
}

/** Who has control in a scope: the one it started with, or whoever it was handed to since. */
export function activeAgent(agent: Agent, log: FoldedLog, path: string): ScopedAgent {
  const { fold, tree } = log
  const scope = fold.scopes.get(path)
  const sticky = agent === tree.root && path === tree.root.name ? fold.start : undefined
  const name = scope?.active ?? sticky
  if (name === undefined || name === agent.name) return { agent, path }
  const target = tree.find(name, agent)
  if (!target) return { agent, path }
  if (target instanceof LlmAgent) return { agent: target, path }
  // a workflow agent reached by transfer has a scope of its own
  return { agent: target, path: childPath(path, target.name, `t${scope?.transfers ?? 0}`) }
}

function nextOf(agent: Agent, log: FoldedLog, path: string): Next {
  if (agent instanceof LlmAgent) return nextLlm(agent, log, path)
  if (agent instanceof SequentialAgent) return nextInTurn(agent, log, path, 1)
  if (agent instanceof LoopAgent) return nextInTurn(agent, log, path, agent.maxIterations)
  if (agent instanceof ParallelAgent) return nextParallel(agent, log, path)
  return nextCustom(agent, log, path)
}

function nextLlm(agent: LlmAgent, log: FoldedLog, path: string): Next {
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

/** What an open call waits for: its own result, or whatever the agent behind it waits for. Undefined = it can go on. */
function waitsOn(agent: LlmAgent, log: FoldedLog, call: CallState): readonly CallState[] | undefined {
  if (call.pending || (call.requests.length > 0 && openRequests(call).length > 0)) return [call]
  if (!log.fold.scopedCalls?.has(call.id)) return undefined
  const table = log.progress?.tables?.get(agent) ?? log.tree.plan(agent).table
  const mark = call.isCode ? undefined : agentOf(table.tools.get(call.name))
  if (!mark) return waitsBelow(log.fold, call)
  const path = childPath(call.path, mark.agent.name, call.id)
  if (!log.fold.hasStarted(path)) return undefined
  const tree = log.tree.ofTool(mark, log.tree.plan(agent).model)
  const inside = next(mark.agent, { ...log, tree }, path)
  return inside.type === 'wait' ? inside.on : undefined
}

/** For code, and for an agent tool nobody has listed yet: it waits while something inside it does. */
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

/** One child after another, for as many rounds; one that escalates or fails ends it. */
function nextInTurn(agent: SequentialAgent | LoopAgent, log: FoldedLog, path: string, rounds: number): Next {
  for (let round = latestRound(agent, log.fold, path, rounds); round <= rounds; round++) {
    for (const child of agent.subAgents) {
      const below = { agent: child, path: childPath(path, child.name, round) }
      if (!log.fold.hasStarted(below.path)) return { type: 'run', children: [below] }
      const inside = next(child, log, below.path)
      if (inside.type === 'wait') return inside
      if (inside.type !== 'done') return { type: 'run', children: [below] }
      if (hasEscalated(child, log, below.path) || scopeError(child, log, below.path)) return DONE
    }
  }
  return DONE
}

/** Rounds begin one after another, each when all before it are done: only the latest that has begun is looked at. */
function latestRound(agent: SequentialAgent | LoopAgent, fold: Fold, path: string, rounds: number): number {
  const first = agent.subAgents[0]
  if (!first) return 1
  let begun = 1
  let not = rounds + 1
  for (let step = 1; begun + step < not; step *= 2) {
    if (fold.hasStarted(childPath(path, first.name, begun + step))) begun += step
    else not = begun + step
  }
  while (begun + 1 < not) {
    const middle = (begun + not) >> 1
    if (fold.hasStarted(childPath(path, first.name, middle))) begun = middle
    else not = middle
  }
  return begun
}

function nextParallel(agent: ParallelAgent, log: FoldedLog, path: string): Next {
  const children: ScopedAgent[] = []
  const on: CallState[] = []
  for (const child of agent.subAgents) {
    const below = { agent: child, path: childPath(path, child.name, 1) }
    const inside = log.fold.hasStarted(below.path) ? next(child, log, below.path) : undefined
    if (inside?.type === 'wait') on.push(...inside.on)
    else if (inside?.type !== 'done') children.push(below)
  }
  if (children.length) return { type: 'run', children }
  return on.length ? { type: 'wait', on } : DONE
}

/** A custom agent is run again until it says it is at its end; it waits while one it runs waits. */
function nextCustom(agent: Agent, log: FoldedLog, path: string): Next {
  const waiting: CallState[] = []
  for (const below of scopesBelow(agent, log, path)) {
    const inside = next(below.agent, log, below.path)
    if (inside.type === 'wait') waiting.push(...inside.on)
    else if (inside.type !== 'done') return { type: 'run', children: [{ agent, path }] }
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

/** Has a finished scope asked the nearest loop to end? A loop hears it and says nothing further up. */
export function hasEscalated(agent: Agent, log: FoldedLog, path: string): boolean {
  return lastWord(agent, log, path, (scope) => scope.escalated, 'any') ?? false
}

/** Why a finished scope ended before its end. One failing branch of several is reported, not passed on. */
export function scopeError(agent: Agent, log: FoldedLog, path: string): ScopeState['error'] {
  return lastWord(agent, log, path, (scope) => scope.error, 'all')
}

function lastWord<T>(
  agent: Agent,
  log: FoldedLog,
  path: string,
  ask: (scope: ScopeState) => T | undefined,
  branches: 'any' | 'all',
): T | undefined {
  const scope = log.fold.scopes.get(path)
  const own = scope && ask(scope)
  if (own) return own
  const inCharge = activeAgent(agent, log, path)
  if (inCharge.path !== path) return lastWord(inCharge.agent, log, inCharge.path, ask, branches)
  const below = (child: Agent, at: number): T | undefined =>
    lastWord(child, log, childPath(path, child.name, at), ask, branches)
  if (agent instanceof SequentialAgent) return first(agent.subAgents.map((child) => below(child, 1)))
  if (agent instanceof ParallelAgent) {
    const said = agent.subAgents.map((child) => below(child, 1))
    return branches === 'any' || said.every(Boolean) ? first(said) : undefined
  }
  if (agent instanceof LoopAgent && branches === 'all') return loopFailure(agent, log, path, below)
  return undefined
}

function loopFailure<T>(
  agent: LoopAgent,
  { fold }: FoldedLog,
  path: string,
  below: (child: Agent, round: number) => T | undefined,
): T | undefined {
  for (let round = 1; round <= agent.maxIterations; round++) {
    const begun = agent.subAgents.filter((child) => fold.hasStarted(childPath(path, child.name, round)))
    if (begun.length === 0) return undefined
    const said = first(begun.map((child) => below(child, round)))
    if (said) return said
  }
  return undefined
}

function first<T>(said: readonly (T | undefined)[]): T | undefined {
  return said.find((one) => one)
}

/** In words, for error messages. */
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
