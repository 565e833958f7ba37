import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { agentType, modelName, type ToolInfo, toolInfos } from './describe-agents.ts'

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
  readonly tools: readonly ToolInfo[]
  /** Its sub-agents. In snake case, as ADK clients read it. */
  readonly sub_agents: readonly AgentNode[]
}

/** The agents of an app as a tree. */
export function agentTree(agent: Agent): AgentNode {
  const { name, description } = agent
  const model = modelName(agent)
  return {
    name,
    type: agentType(agent),
    ...(description !== undefined && { description }),
    ...(model !== undefined && { model }),
    tools: toolInfos(agent),
    sub_agents: (agent.subAgents ?? []).map(agentTree),
  }
}

/** The node at a path such as `root/child`. An empty path names the root. */
export function findNode(root: AgentNode, path: string): AgentNode | undefined {
  const [first, ...rest] = path.split('/').filter((step) => step !== '')
  if (first === undefined) return root
  const steps = first === root.name ? rest : [first, ...rest]
  return steps.reduce<AgentNode | undefined>((node, step) => node?.sub_agents.find(({ name }) => name === step), root)
}
