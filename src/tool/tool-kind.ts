import type { Tool } from './tool.ts'

/** On a tool made by `agentTool()`: the agent it runs. Policies keep symbol properties. */
export const AGENT: unique symbol = Symbol.for('toolwright.agent')

/** On the tool that runs model-written code. */
export const RUNS_CODE: unique symbol = Symbol.for('toolwright.runsCode')

/** How a call runs: `body` calls `run`; an agent tool and code run as a scope of the invocation. */
export type ToolKind = 'body' | 'agent' | 'code'

/** The kind of a tool, also behind policies. */
export function kindOfTool(tool: Tool): ToolKind {
  if (AGENT in tool) return 'agent'
  return RUNS_CODE in tool ? 'code' : 'body'
}
