// Tools that run on the model's servers. If the model does not accept them together with other tools, substitutes
// replace them.

import { ToolwrightError } from '../../../core/error/error.ts'
import { makeToolTable, type SourcedTool, type ToolTable } from '../../dispatch/resolve.ts'
import type { Model } from '../../model/model.ts'
import { serverToolOf } from '../../tool/server-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import { agentTool } from '../agents/agent-tool.ts'
import { LlmAgent } from '../agents/llm-agent.ts'

/** The table with only those server tools that the model supports. Calls `refuse` for each other one. */
export function fitServerTools(
  table: ToolTable,
  model: Model,
  agentName: string,
  refuse: (problem: string) => void = refuseToBuild,
): ToolTable {
  const all = [...table.tools.values()]
  const served = all.filter((tool) => serverToolOf(tool))
  if (served.length === 0) return table
  const missing = served.filter((tool) => !supports(model, tool))
  for (const tool of missing) refuse(problemOf(tool, model, agentName))
  const wanted = served.filter((tool) => !missing.includes(tool)).map(capabilityOf)
  const needsSubstitutes = !canCombine(model, wanted, table.hasDeclarations)
  if (missing.length === 0 && !needsSubstitutes) return table
  const fit = all.flatMap((tool): SourcedTool[] => {
    if (missing.includes(tool)) return []
    return [
      { tool: needsSubstitutes && served.includes(tool) ? substituteFor(tool) : tool, source: `agent "${agentName}"` },
    ]
  })
  return makeToolTable(fit)
}

function supports(model: Model, tool: Tool): boolean {
  return model.capabilities?.serverTools?.includes(capabilityOf(tool)) ?? false
}

function capabilityOf(tool: Tool): string {
  return serverToolOf(tool)?.capability ?? ''
}

/** May one request have all these server tools, and functions if there are some? */
function canCombine({ capabilities }: Model, wanted: readonly string[], hasFunctions: boolean): boolean {
  if (capabilities?.serverToolsWithFunctions || wanted.length === 0) return true
  if (hasFunctions) return false
  const groups = capabilities?.combinableServerTools ?? []
  return wanted.length === 1 || groups.some((group) => wanted.every((name) => group.includes(name)))
}

function problemOf(tool: Tool, model: Model, agentName: string): string {
  const known = model.capabilities?.serverTools ?? []
  const advice = known.length
    ? `It supports ${known.join(', ')}.`
    : `Use a model that does, such as gemini() or, in a live session, geminiLive() from toolwright/gemini, or a tool of your own. A scripted model of a test gets { capabilities: { serverTools: ['${capabilityOf(tool)}'] } }.`
  return `Tool "${tool.name}" of agent "${agentName}" runs on the model's servers, but model "${model.name}" does not support ${capabilityOf(tool)}. ${advice}`
}

function refuseToBuild(problem: string): never {
  throw new ToolwrightError('INVALID_CONFIG', problem)
}

const substitutes: WeakMap<Tool, Tool> = new WeakMap()

/**
 * Returns the substitute of a server tool: its own function tool, or an agent tool whose agent has only this server
 * tool and uses the model of the calling agent. Created once per tool.
 */
function substituteFor(tool: Tool): Tool {
  let made = substitutes.get(tool)
  if (!made) {
    made = serverToolOf(tool)?.substitute?.() ?? toAgentTool(tool)
    substitutes.set(tool, made)
  }
  return made
}

function toAgentTool(tool: Tool): Tool {
  const { name, description } = tool
  const agent = new LlmAgent({
    name: `${name}_agent`,
    description,
    instruction: `Answer the request with this tool: ${description} Reply only with what you found and its sources.`,
    tools: [tool],
  })
  return agentTool(agent, { name, description, propagateGroundingMetadata: true })
}
