import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { isMissingModel, noModel } from '../../agent/agents/missing-model.ts'
import { activeAgent } from '../../agent/loop/next.ts'
import type { SessionView } from '../../agent/loop/session-view.ts'

/**
 * Throws if the agent that answers a new message has no model, before anything is recorded. A callback may answer instead of the
 * model.
 */
export function requireModel(tree: AgentTree, view: SessionView, invocationId: string): void {
  if (!tree.hasMissingModel) return
  const { agent } = activeAgent(tree.root, { fold: view.foldOf(invocationId), tree }, tree.root.name)
  if (!(agent instanceof LlmAgent)) return
  const { model, hooks } = tree.plan(agent)
  if (isMissingModel(model) && hooks.beforeModel.length + hooks.beforeAgent.length === 0) throw noModel(agent.name)
}
