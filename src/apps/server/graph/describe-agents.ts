// Describes the agents of an app for clients: their kind, model and tools.
import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { agentToolSettings } from '../../../engine/agent/agents/agent-tool.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../../../engine/agent/agents/workflow.ts'
import { findAgents } from './find-agents.ts'

/** A tool in a description. */
export interface ToolInfo {
  /** The name. */
  readonly name: string
  /** The kind of tool. */
  readonly type: 'FunctionTool' | 'LongRunningFunctionTool' | 'AgentTool' | 'Toolset'
}

/** The kind of an agent, in ADK's words. */
export function agentType(agent: Agent): string {
  if (agent instanceof LlmAgent) return 'LlmAgent'
  if (agent instanceof SequentialAgent) return 'SequentialAgent'
  if (agent instanceof ParallelAgent) return 'ParallelAgent'
  return agent instanceof LoopAgent ? 'LoopAgent' : 'BaseAgent'
}

/** The name of the agent's own model. */
export function modelName(agent: Agent): string | undefined {
  if (!(agent instanceof LlmAgent)) return undefined
  return typeof agent.model === 'string' ? agent.model : agent.model?.name
}

/** The tools and toolsets of an agent. The tools of a toolset are not listed: they depend on the user. */
export function toolInfos(agent: Agent): ToolInfo[] {
  if (!(agent instanceof LlmAgent)) return []
  const tools = [...agent.table.tools.values()].map((tool): ToolInfo => {
    const { name, isLongRunning } = tool
    if (agentToolSettings(tool)) return { name, type: 'AgentTool' }
    return { name, type: isLongRunning ? 'LongRunningFunctionTool' : 'FunctionTool' }
  })
  const sources = agent.dynamicTools.map(({ name }): ToolInfo => ({ name, type: 'Toolset' }))
  return [...tools, ...sources]
}

/** What a description contains. */
interface DescribeOptions {
  /** Shows the instructions of the agents: they are for developers and operators, not for every user of the app. */
  readonly showsInstructions: boolean
}

/** The agents of an app by name, for `/app-info`. */
export function describeAgents(root: Agent, options: DescribeOptions): { readonly [name: string]: object } {
  const described = Array.from(findAgents(root).values(), ({ agent }) => [agent.name, describeAgent(agent, options)])
  return Object.fromEntries(described)
}

function describeAgent(agent: Agent, { showsInstructions }: DescribeOptions): object {
  const instruction = showsInstructions && agent instanceof LlmAgent ? agent.options.instruction : undefined
  return {
    name: agent.name,
    description: agent.description ?? '',
    type: agentType(agent),
    ...(typeof instruction === 'string' && { instruction }),
    model: modelName(agent),
    tools: toolInfos(agent),
    subAgents: (agent.subAgents ?? []).map(({ name }) => name),
  }
}
