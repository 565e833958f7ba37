import { closestNames } from '../../../core/base/closest-names.ts'
import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { agentToolSettings } from '../../../engine/agent/agents/agent-tool.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../../../engine/agent/agents/workflow.ts'
import type { Model } from '../../../engine/model/model.ts'
import { mapTools } from '../../../engine/tool/map-tools.ts'
import { overrideTool } from '../../../engine/tool/override-tool.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { AGENT } from '../../../engine/tool/tool-marks.ts'
import { findAgents } from '../graph/find-agents.ts'
import { invalid } from '../wire/fields.ts'
import type { AgentVariant } from './agent-variant.ts'

/**
 * The agents of an app with variants of some of them; agents that nothing changes are the same objects. Throws INVALID_REQUEST for an agent
 * that is not there or cannot be varied, and for a tool that an agent does not have. `inherited`: the model of the runner.
 */
export function varyAgents(root: Agent, variants: readonly AgentVariant[], inherited?: Model): Agent {
  const agents = findAgents(root)
  const models = modelsByName(
    [...agents.values()].map(({ agent }) => agent),
    inherited,
  )
  const wanted = new Map(variants.map((variant) => [variant.agent, variant]))
  for (const { agent: name } of variants) {
    const agent = agents.get(name)?.agent
    if (!agent) throw invalid(`The app has no agent "${name}".${suggest(name, agents.keys())}`)
    if (!(agent instanceof LlmAgent) || agent.constructor !== LlmAgent)
      throw invalid(`Agent "${name}" is not an LlmAgent, so that it has no model, instruction and tools to change.`)
  }
  const made = new Map<Agent, Agent>()
  const vary = (agent: Agent): Agent => {
    const varied = made.get(agent) ?? rebuild(agent)
    made.set(agent, varied)
    return varied
  }
  const rebuild = (agent: Agent): Agent => {
    const subAgents = (agent.subAgents ?? []).map(vary)
    const isSame = subAgents.every((child, at) => child === agent.subAgents?.[at])
    if (agent instanceof LlmAgent) {
      const variant = wanted.get(agent.name)
      if (isSame && !variant && ![...agent.table.tools.values()].some(isVaried)) return agent
      return varyLlmAgent(agent, variant, { subAgents, withAgent, models })
    }
    return isSame ? agent : withSubAgents(agent, subAgents)
  }
  const isVaried = (tool: Tool): boolean => withAgent(tool) !== tool
  const withAgent = (tool: Tool): Tool => {
    const settings = agentToolSettings(tool)
    if (!settings) return tool
    const agent = vary(settings.agent)
    return agent === settings.agent ? tool : overrideTool(tool, { [AGENT]: { ...settings, agent } })
  }
  return vary(root)
}

interface Surroundings {
  readonly subAgents: readonly Agent[]
  readonly models: ReadonlyMap<string, Model>
  /** The tool with the variant of its agent, if it is an agent tool. */
  withAgent(tool: Tool): Tool
}

function varyLlmAgent(
  agent: LlmAgent,
  variant: AgentVariant | undefined,
  { subAgents, withAgent, models }: Surroundings,
): LlmAgent {
  const { options } = agent
  const { model, instruction, config, tools } = variant ?? {}
  if (tools && agent.dynamicTools.length === 0) checkTools(agent.name, tools, agent.table.tools.keys())
  const offered = tools && new Set(tools)
  const change = (tool: Tool): Tool | undefined => {
    const isOffered = !offered || offered.has(tool.name) || tool.declaration() === undefined // the model does not call it
    return isOffered ? withAgent(tool) : undefined
  }
  return new LlmAgent({
    ...options,
    subAgents,
    tools: [mapTools(options.tools ?? [], change)],
    ...(model !== undefined && { model: models.get(model) ?? model }),
    ...(instruction !== undefined && { instruction }),
    ...(config && { generateContentConfig: { ...options.generateContentConfig, ...config } }),
  })
}

/** Throws INVALID_REQUEST for a tool that the agent does not have. */
export function checkTools(agent: string, wanted: readonly string[], known: Iterable<string>): void {
  const names = new Set(known)
  const unknown = wanted.find((name) => !names.has(name))
  if (unknown !== undefined) throw invalid(`Agent "${agent}" has no tool "${unknown}".${suggest(unknown, names)}`)
}

/** The models that agents have as objects. Other names are those of the option `models` of the runner. */
function modelsByName(agents: readonly Agent[], inherited: Model | undefined): ReadonlyMap<string, Model> {
  const models = [inherited, ...agents.map((agent) => (agent instanceof LlmAgent ? agent.model : undefined))]
  return new Map(models.flatMap((model) => (typeof model === 'object' ? [[model.name, model] as const] : [])))
}

function withSubAgents(agent: Agent, subAgents: readonly Agent[]): Agent {
  const { name, description } = agent
  if (agent.constructor === SequentialAgent) return new SequentialAgent({ name, description, subAgents })
  if (agent.constructor === ParallelAgent) return new ParallelAgent({ name, description, subAgents })
  if (agent instanceof LoopAgent && agent.constructor === LoopAgent)
    return new LoopAgent({ name, description, subAgents, maxIterations: agent.maxIterations })
  throw invalid(`Agent "${name}" is custom and runs its own sub-agents, so that they cannot be changed.`)
}

function suggest(name: string, known: Iterable<string>): string {
  const [close] = closestNames(name, [...known])
  return close === undefined ? '' : ` Did you mean "${close}"?`
}
