// Server-side tools where the model has them, and stand-ins where it cannot have them beside others.
import { makeToolTable, type SourcedTool, type ToolTable } from '../../dispatch/resolve.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Model } from '../../tool/model.ts'
import { serverToolOf } from '../../tool/server-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import { agentTool } from '../agents/agent-tool.ts'
import { LlmAgent } from '../agents/llm-agent.ts'

/** The table as this model can work with it; a tool the model does not have is for the caller to report. */
export function fitServerTools(
  table: ToolTable,
  model: Model,
  agentName: string,
  refuse: (problem: string) => void = refuseToBuild,
): ToolTable {
  const all = [...table.tools.values()]
  const served = all.filter((tool) => serverToolOf(tool))
  if (served.length === 0) return table
  const missing = served.filter((tool) => !has(model, tool))
  for (const tool of missing) refuse(problemOf(tool, model, agentName))
  const others = table.hasDeclarations || served.length - missing.length > 1
  const alone = others && !model.capabilities?.serverToolsWithFunctions
  if (missing.length === 0 && !alone) return table
  const fit = all.flatMap((tool): SourcedTool[] => {
    if (missing.includes(tool)) return []
    return [{ tool: alone && served.includes(tool) ? standIn(tool) : tool, source: `agent "${agentName}"` }]
  })
  return makeToolTable(fit)
}

function has(model: Model, tool: Tool): boolean {
  return model.capabilities?.serverTools?.includes(serverToolOf(tool)?.capability ?? '') ?? false
}

function problemOf(tool: Tool, model: Model, agentName: string): string {
  const known = model.capabilities?.serverTools ?? []
  const cure = known.length
    ? `It has ${known.join(', ')}.`
    : 'It has none: use a model that does, such as gemini() from toolwright/gemini, or a tool of your own.'
  return `Tool "${tool.name}" of agent "${agentName}" runs on the model's servers, and model "${model.name}" has no ${serverToolOf(tool)?.capability}. ${cure}`
}

function refuseToBuild(problem: string): never {
  throw new ToolwrightError('INVALID_CONFIG', problem)
}

const standIns: WeakMap<Tool, Tool> = new WeakMap()

/** A tool of ours that does the same, or an agent with only this tool and the caller's model; the same one every time. */
function standIn(tool: Tool): Tool {
  let made = standIns.get(tool)
  if (!made) {
    made = serverToolOf(tool)?.substitute?.() ?? asAgent(tool)
    standIns.set(tool, made)
  }
  return made
}

function asAgent(tool: Tool): Tool {
  const { name, description } = tool
  const agent = new LlmAgent({
    name: `${name}_agent`,
    description,
    instruction: `You answer one request with what you have been given for it: ${description} Say what you found and where, and nothing else.`,
    tools: [tool],
  })
  return agentTool(agent, { name, description, propagateGroundingMetadata: true })
}
