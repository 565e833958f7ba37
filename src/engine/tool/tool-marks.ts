// Symbol properties that mark tools. Policies keep symbol properties, so a mark is visible through policies.
import type { Tool } from './tool.ts'

/** On a tool made by `agentTool()`: the agent it runs. */
export const AGENT: unique symbol = Symbol.for('toolwright.agent')

/** On the tool that runs model-written code. */
export const RUNS_CODE: unique symbol = Symbol.for('toolwright.runsCode')

/** On a tool whose escalation ends a loop. Outside a loop it has nothing to end. */
export const EXITS_LOOP: unique symbol = Symbol.for('toolwright.exitsLoop')

/** On a tool that shows the files in its argument `artifact_names` to the model. Descriptions of files name this tool. */
export const SHOWS_ARTIFACTS: unique symbol = Symbol.for('toolwright.showsArtifacts')

/** On a tool that a server defines: the digest of the definition. An approval is valid for one definition only. */
export const DEFINITION: unique symbol = Symbol.for('toolwright.definition')

/** How a call runs. `body` calls `run`; `agent` and `code` run as a scope of the invocation. */
export type ToolKind = 'body' | 'agent' | 'code'

/** The kind of a tool, also through policies. */
export function kindOfTool(tool: Tool): ToolKind {
  if (AGENT in tool) return 'agent'
  return RUNS_CODE in tool ? 'code' : 'body'
}
