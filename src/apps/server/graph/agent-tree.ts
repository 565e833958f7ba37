import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { agentToolSettings } from '../../../engine/agent/agents/agent-tool.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { agentType, modelName, type ToolInfo, toolInfos } from './describe-agents.ts'

/** A tool of an agent. */
export interface ToolNode extends ToolInfo {
  /** The agent that an agent tool calls. */
  readonly agent?: AgentNode
}

/** An agent and what is below it, as ADK clients read it. */
export interface AgentNode {
  /** The name. */
  readonly name: string
  /** The kind of agent. */
  readonly type: string
  /** What the agent does. */
  readonly description?: string
  /** The name of its own model. */
  readonly model?: string
  /** Its tools and toolsets. */
  readonly tools: readonly ToolNode[]
  /** Its sub-agents. In snake case, as ADK clients read it. */
  readonly sub_agents: readonly AgentNode[]
}

/** The agents of an app as a tree. `above`: the agents on the way to this one; an agent that calls one of them ends there. */
export function agentTree(agent: Agent, above: readonly Agent[] = []): AgentNode {
  const { name, description } = agent
  const model = modelName(agent)
  const path = [...above, agent]
  return {
    name,
    type: agentType(agent),
    ...(description !== undefined && { description }),
    ...(model !== undefined && { model }),
    tools: toolInfos(agent).map((tool) => {
      const inner = tool.type === 'AgentTool' ? innerAgent(agent, tool.name) : undefined
      return inner && !path.includes(inner) ? { ...tool, agent: agentTree(inner, path) } : tool
    }),
    sub_agents: (agent.subAgents ?? []).map((child) => agentTree(child, path)),
  }
}

function innerAgent(agent: Agent, tool: string): Agent | undefined {
  return agent instanceof LlmAgent ? agentToolSettings(agent.table.tools.get(tool))?.agent : undefined
}

/** The node at a path such as `root/child`. An empty path names the root. */
export function findNode(root: AgentNode, path: string): AgentNode | undefined {
  const [first, ...rest] = path.split('/').filter((step) => step !== '')
  if (first === undefined) return root
  const steps = first === root.name ? rest : [first, ...rest]
  return steps.reduce<AgentNode | undefined>((node, step) => node?.sub_agents.find(({ name }) => name === step), root)
}
