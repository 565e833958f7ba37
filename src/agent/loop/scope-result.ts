// How a finished scope ended: with an error, with an escalation, or normally.

import { childPath } from '../../event/scope.ts'
import type { ScopeState } from '../../event/scope-state.ts'
import type { Agent } from '../agents/agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../agents/workflow.ts'
import { activeAgent, type FoldedLog } from './active-agent.ts'

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
