import type { McpToolset } from '../../../adapters/mcp/mcp-toolset.ts'
import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { isToolset } from '../../../engine/tool/toolset.ts'
import { innermostToolset } from '../../../engine/tool/wrap-toolset.ts'
import { collectAgents } from '../load/collect-agents.ts'

/** The MCP toolsets of an agent and the agents below it, each once. */
export function mcpToolsetsOf(root: Agent): McpToolset[] {
  const toolsets = collectAgents(root).flatMap((agent) => {
    const sources = agent instanceof LlmAgent ? agent.dynamicTools : []
    return sources.map((source) => (isToolset(source) ? innermostToolset(source) : undefined)).filter(isMcpToolset)
  })
  return [...new Set(toolsets)]
}

/** Is it an `McpToolset`? The agent file may have loaded another copy of the class. */
export function isMcpToolset(value: unknown): value is McpToolset {
  const { definitions, trust } = (value ?? {}) as Partial<McpToolset>
  return typeof definitions === 'function' && typeof trust === 'function'
}
