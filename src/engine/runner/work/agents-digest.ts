// A short text that differs between agent trees, so that two versions of an app side by side are seen.
import { canonicalJson, type JsonObject } from '../../../core/base/json.ts'
import { type Agent, subAgentsOf } from '../../agent/agents/agent.ts'
import { agentToolSettings } from '../../agent/agents/agent-tool.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { describeTool, digestOf } from '../../dispatch/definition.ts'

/** How many characters of the digest are enough to tell versions apart. */
const LENGTH = 12

/**
 * The digest of names, descriptions, models, instructions that are texts, and definitions of tools. The code of functions, and what toolsets
 * list, is not in it.
 */
export async function agentsDigest(tree: AgentTree): Promise<string> {
  return (await digestOf(canonicalJson(describeTree(tree, [])))).slice(0, LENGTH)
}

function describeTree(tree: AgentTree, above: readonly Agent[]): JsonObject[] {
  return tree.agents().map((agent) => describe(agent, tree, [...above, tree.root]))
}

function describe(agent: Agent, tree: AgentTree, above: readonly Agent[]): JsonObject {
  const { name, description } = agent
  const type = agent.constructor.name
  const subAgents = subAgentsOf(agent).map((child) => child.name)
  const described = { name, type, description, subAgents }
  if (!(agent instanceof LlmAgent)) return described as JsonObject
  const { table, model } = tree.plan(agent)
  const tools = [...table.entries.values()].map((entry) => {
    const settings = agentToolSettings(entry.tool)
    const inner = settings && !above.includes(settings.agent) ? tree.treeForTool(settings, model) : undefined
    return [describeTool(entry, undefined), entry.tool.description, inner ? describeTree(inner, above) : null]
  })
  const { instruction, globalInstruction } = agent.options
  const toolsets = agent.dynamicTools.map((source) => source.name)
  const texts = [instruction, globalInstruction].map((text) => (typeof text === 'string' ? text : typeof text))
  return { ...described, model: model.name, tools, toolsets, texts } as JsonObject // `undefined` is left out
}
