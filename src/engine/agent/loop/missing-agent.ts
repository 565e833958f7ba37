// Finds agents that an interrupted invocation needs and that no longer exist, because the program changed since.

import type { Fold } from '../../../core/event/fold.ts'
import type { CallState, ScopeState } from '../../../core/event/invocation-state.ts'
import { agentToolSettings } from '../agents/agent-tool.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'

/** The name of an agent that has pending work and no longer exists. Undefined if all agents exist. */
export function findMissingAgent(tree: AgentTree, fold: Fold): string | undefined {
  for (const scope of fold.scopes.values()) {
    if (!isUnfinished(fold, scope)) continue
    const missing = missingInPath(tree, fold, scope)
    if (missing !== undefined) return missing
  }
  return undefined
}

function isUnfinished(fold: Fold, scope: ScopeState): boolean {
  if (scope.ended || fold.isForeign) return false
  return scope.calls.some((call) => fold.isOpen(call)) || (scope.active !== undefined && !scope.answered)
}

/** Checks each step of a scope path: it is an agent of the tree, the agent of an agent tool, or code. */
function missingInPath(root: AgentTree, fold: Fold, { path, active, calls }: ScopeState): string | undefined {
  const [first = '', ...steps] = path.split('/')
  if (first !== root.root.name) return first
  let tree = root
  let above = first
  for (const step of steps) {
    const at = step.lastIndexOf('@')
    const name = step.slice(0, at)
    const call = fold.calls.get(step.slice(at + 1))
    if (call?.path === above) {
      const inside = treeInside(tree, call, name)
      if (typeof inside !== 'object') return inside
      tree = inside
    } else if (!tree.find(name)) return name
    above = `${above}/${step}`
  }
  return [active, ...calls.map(({ agent }) => agent)].find((name) => name !== undefined && !tree.find(name))
}

/**
 * The tree inside the call of an agent tool, or the name of the agent that is missing. Undefined if the call does not
 * show it.
 */
export function treeInside(tree: AgentTree, call: CallState, name: string): AgentTree | string | undefined {
  const caller = tree.find(call.agent)
  if (!(caller instanceof LlmAgent)) return call.agent
  if (call.isCode) return undefined // calls of code are answered when the code runs again
  const { table, model } = tree.plan(caller)
  const settings = agentToolSettings(table.tools.get(call.name))
  if (!settings) return undefined // the tool is not listed yet or was removed: dispatch answers the call
  return settings.agent.name === name ? tree.treeForTool(settings, model) : name
}
