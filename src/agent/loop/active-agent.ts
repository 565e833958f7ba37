import type { ToolTable } from '../../dispatch/resolve.ts'
import type { Fold } from '../../event/fold.ts'
import { childPath } from '../../event/scope.ts'
import type { Agent } from '../agents/agent.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'

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

/** The active agent of a scope: the agent it started with, or the target of the latest transfer. */
export function activeAgent(agent: Agent, log: FoldedLog, path: string): ScopedAgent {
  const { fold, tree } = log
  const scope = fold.scopes.get(path)
  const sticky = agent === tree.root && path === tree.root.name ? fold.start : undefined
  const name = scope?.active ?? sticky
  if (name === undefined || name === agent.name) return { agent, path }
  const target = tree.find(name, agent)
  if (!target) return { agent, path }
  if (target instanceof LlmAgent) return { agent: target, path }
  // a workflow agent reached by transfer has its own scope
  return { agent: target, path: childPath(path, target.name, `t${scope?.transfers ?? 0}`) }
}
