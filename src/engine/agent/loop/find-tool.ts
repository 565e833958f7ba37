import type { Fold } from '../../../core/event/fold.ts'
import type { CallState } from '../../../core/event/invocation-state.ts'
import type { Tool } from '../../tool/tool.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { treeInside } from './missing-agent.ts'
import type { RunHost } from './run-host.ts'

/** The tool of a recorded call. Undefined if it no longer exists, or its toolset is not listed in this run. */
export function findTool(run: Pick<RunHost, 'fold' | 'tree' | 'progress'>, call: CallState): Tool | undefined {
  const tree = treeAt(run.tree, run.fold, call.path)
  const agent = tree?.find(call.agent)
  if (!tree || !(agent instanceof LlmAgent) || call.isCode) return undefined
  const table = run.progress.tables?.get(agent) ?? tree.plan(agent).table
  return table.tools.get(call.name)
}

/** The tree whose agents run in this scope: that of the runner, or that of the innermost agent tool in the path. */
export function treeAt(root: AgentTree, fold: Fold, path: string): AgentTree | undefined {
  let tree = root
  let above = ''
  for (const step of path.split('/')) {
    const at = step.lastIndexOf('@')
    const call = fold.calls.get(step.slice(at + 1))
    if (call && call.path === above && !call.isCode) {
      const inside = treeInside(tree, call, step.slice(0, at))
      if (typeof inside !== 'object') return undefined
      tree = inside
    }
    above = above === '' ? step : `${above}/${step}`
  }
  return tree
}
