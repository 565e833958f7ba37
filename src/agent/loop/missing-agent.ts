// An invocation may be older than the agents it is to go on with.
import type { CallState } from '../../event/call-state.ts'
import type { Fold } from '../../event/fold.ts'
import type { ScopeState } from '../../event/scope-state.ts'
import { agentOf } from '../agents/agent-tool.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'

/** The name of an agent that has something left to do here and no longer exists; undefined when all are there. */
export function findMissingAgent(tree: AgentTree, fold: Fold): string | undefined {
  for (const scope of fold.scopes.values()) {
    if (!isUnfinished(fold, scope)) continue
    const lost = missingInPath(tree, fold, scope)
    if (lost !== undefined) return lost
  }
  return undefined
}

function isUnfinished(fold: Fold, scope: ScopeState): boolean {
  if (scope.ended || fold.isForeign) return false
  return scope.calls.some((call) => fold.isOpen(call)) || (scope.active !== undefined && !scope.answered)
}

/** Follows a scope's path down: each step is an agent of the tree, the child of an agent tool, or code. */
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

/** The tree of an agent tool's child, or the name of an agent it had; undefined when nobody can tell from here. */
export function treeInside(tree: AgentTree, call: CallState, name: string): AgentTree | string | undefined {
  const caller = tree.find(call.agent)
  if (!(caller instanceof LlmAgent)) return call.agent
  if (call.isCode) return undefined // what code calls is answered in the code's own turn
  const { table, model } = tree.plan(caller)
  const mark = agentOf(table.tools.get(call.name))
  if (!mark) return undefined // listed later, or gone: then the call itself is answered so
  return mark.agent.name === name ? tree.ofTool(mark, model) : name
}
