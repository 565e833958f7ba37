import { type Agent, subAgentsOf } from '../../../engine/agent/agents/agent.ts'
import { agentToolSettings } from '../../../engine/agent/agents/agent-tool.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import type { Tool } from '../../../engine/tool/tool.ts'

/** An agent, its sub-agents and the agents that it calls as tools, each once. */
export function collectAgents(root: Agent, seen: Set<Agent> = new Set()): Agent[] {
  if (seen.has(root)) return []
  seen.add(root)
  const used = fixedToolsOf(root).flatMap((tool) => agentToolSettings(tool)?.agent ?? [])
  return [root, ...[...subAgentsOf(root), ...used].flatMap((agent) => collectAgents(agent, seen))]
}

/** The tools of an agent that no toolset lists. */
export function fixedToolsOf(agent: Agent): Tool[] {
  return agent instanceof LlmAgent ? [...agent.table.tools.values()] : []
}

/** The names of the models that an agent and the agents below it ask the runner for. */
export function modelNamesOf(root: Agent): string[] {
  const names = collectAgents(root).flatMap((agent) =>
    agent instanceof LlmAgent && typeof agent.model === 'string' ? agent.model : [],
  )
  return [...new Set(names)]
}
