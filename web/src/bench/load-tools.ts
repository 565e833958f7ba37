import type { JsonObject } from '../../../src/core/base/json.ts'
import { getGraph, listTools } from '../api/dev.ts'
import type { GraphAgent, ToolInfo } from '../api/types.ts'

/** An agent and its tools. */
export interface AgentTools {
  /** The name of the agent. */
  readonly agent: string
  /** Its tools; an error if they cannot be listed, for example because a toolset does not answer. */
  readonly tools: readonly ToolInfo[] | Error
}

/** A tool of an agent. */
export interface AgentTool {
  /** The agent. */
  readonly agent: string
  /** The tool. */
  readonly tool: ToolInfo
  /** The arguments that its form starts with. Default: those of its schema. */
  readonly args?: JsonObject
}

/** Reads the tools of all agents of an app, as the user gets them. Agents without tools are left out. */
export async function loadTools(app: string, userId: string): Promise<readonly AgentTools[]> {
  const { root_agent } = await getGraph(app)
  const lists = await Promise.all(
    agentNames(root_agent).map(async ({ agent, isGuessed }): Promise<AgentTools | undefined> => {
      try {
        return { agent, tools: await listTools({ app, agent, userId }) }
      } catch (error) {
        return isGuessed ? undefined : { agent, tools: error instanceof Error ? error : new Error(String(error)) }
      }
    }),
  )
  return lists.filter(
    (list) => list !== undefined && (list.tools instanceof Error || list.tools.length > 0),
  ) as AgentTools[]
}

/** The agents with tools. An agent behind a tool has the name of the tool, unless its author gave it another one. */
function agentNames(root: GraphAgent): readonly { readonly agent: string; readonly isGuessed: boolean }[] {
  const names = new Map<string, boolean>()
  const visit = ({ name, tools = [], sub_agents: children = [] }: GraphAgent): void => {
    names.set(name, false)
    for (const tool of tools) if (tool.type === 'AgentTool' && !names.has(tool.name)) names.set(tool.name, true)
    for (const child of children) visit(child)
  }
  visit(root)
  return [...names].map(([agent, isGuessed]) => ({ agent, isGuessed }))
}
