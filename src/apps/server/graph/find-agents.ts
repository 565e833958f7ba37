import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { agentToolSettings } from '../../../engine/agent/agents/agent-tool.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'

/** An agent and its place in the app. */
export interface PlacedAgent {
  /** The agent. */
  readonly agent: Agent
  /** The agents above it, the nearest first. The agent of an agent tool is below the agent that has the tool. */
  readonly above: readonly Agent[]
}

/** All agents below a root, the root first, also those of agent tools. Of two agents with one name, the first is found. */
export function findAgents(root: Agent): ReadonlyMap<string, PlacedAgent> {
  const found = new Map<string, PlacedAgent>()
  const visit = (agent: Agent, above: readonly Agent[]): void => {
    if (above.includes(agent)) return
    if (!found.has(agent.name)) found.set(agent.name, { agent, above })
    for (const child of childrenOf(agent)) visit(child, [agent, ...above])
  }
  visit(root, [])
  return found
}

function childrenOf(agent: Agent): Agent[] {
  return [...(agent.subAgents ?? []), ...toolAgentsOf(agent)]
}

/** The agents of the agent tools of an agent. */
function toolAgentsOf(agent: Agent): Agent[] {
  if (!(agent instanceof LlmAgent)) return []
  return [...agent.table.tools.values()].flatMap((tool) => agentToolSettings(tool)?.agent ?? [])
}
