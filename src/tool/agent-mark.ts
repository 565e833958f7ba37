import type { Tool } from './tool.ts'

/** On a tool made by `agentTool()`: the agent behind it. Policies carry symbol properties along. */
export const AGENT: unique symbol = Symbol.for('toolwright.agent')

/** Was it made by `agentTool()`, perhaps with policies around it? */
export function isAgentTool(tool: Tool): boolean {
  return AGENT in tool
}
