// What an approval of an agent tool is bound to: the definitions of all tools that its agent can reach. Texts such as
// instructions are not part of it.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Ports } from '../../../core/base/ports.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import { hostOf } from '../../context/host-of.ts'
import { describeEntry, describeTool, digestOf } from '../../dispatch/definition.ts'
import type { ToolEntry, ToolTable } from '../../dispatch/resolve.ts'
import { AGENT } from '../../tool/tool-marks.ts'
import { isToolset } from '../../tool/toolset.ts'
import type { KeptToolsets } from '../request/kept-toolsets.ts'
import { type DynamicTools, listTools } from '../request/list-tools.ts'
import { type Agent, subAgentsOf } from './agent.ts'
import { LlmAgent } from './llm-agent.ts'

/** The most agents that are described. */
const MAX_AGENTS = 1_000

/**
 * Describes an agent and all agents it can reach as a flat list, so that agents which refer to each other end. Every tool is
 * a digest of its definition.
 */
export async function describeAgent(root: Agent, context: ReadonlyContext): Promise<JsonObject[]> {
  const agents: Agent[] = [root]
  const described: JsonObject[] = []
  const indexOf = (agent: Agent): number => {
    const at = agents.indexOf(agent)
    return at === -1 ? agents.push(agent) - 1 : at
  }
  for (let at = 0; at < agents.length && at < MAX_AGENTS; at++) {
    const agent = agents[at] as Agent
    const subAgents = subAgentsOf(agent).map(indexOf)
    described.push({
      name: agent.name,
      subAgents,
      ...(agent instanceof LlmAgent && (await describeTools(agent, context, indexOf))),
    })
  }
  return described
}

async function describeTools(
  agent: LlmAgent,
  context: ReadonlyContext,
  indexOf: (agent: Agent) => number,
): Promise<JsonObject> {
  const { table, isComplete } = await listAll(agent, context)
  const tools: JsonObject[] = []
  for (const entry of table.entries.values()) tools.push(await describeOne(entry, context, indexOf))
  tools.sort((one, other) => (String(one.name) < String(other.name) ? -1 : 1)) // their order decides nothing
  const toolsets = await Promise.all(agent.dynamicTools.map((source) => describeSource(source, context)))
  return { tools, toolsets, isComplete, runsCode: agent.options.codeExecutor !== undefined }
}

async function describeOne(
  entry: ToolEntry,
  context: ReadonlyContext,
  indexOf: (agent: Agent) => number,
): Promise<JsonObject> {
  const { name } = entry.tool
  const inner = (entry.tool as { readonly [AGENT]?: { readonly agent: Agent } })[AGENT]?.agent
  if (!inner) return { name, digest: await digestOf(await describeEntry(entry, context)) }
  return { name, digest: await digestOf(describeTool(entry, undefined)), agent: indexOf(inner) }
}

async function describeSource(source: DynamicTools, context: ReadonlyContext): Promise<JsonObject> {
  const { name } = source
  if (!isToolset(source)) return { name }
  return { name, sendsTo: typeof source.sendsTo === 'function' ? await source.sendsTo(context) : source.sendsTo }
}

/** The run behind the context, as far as a listing needs it. */
interface ListingHost {
  readonly services: { readonly keptToolsets?: KeptToolsets; readonly ports: Pick<Ports, 'setTimer'> }
}

/** The tools of an agent. Those of a toolset that cannot be listed now, for example before a sign-in, are left out. */
async function listAll(agent: LlmAgent, context: ReadonlyContext): Promise<{ table: ToolTable; isComplete: boolean }> {
  // the cast is true: the framework calls `sendsTo` with a context of a run
  const { keptToolsets: kept, ports } = (hostOf(context) as unknown as ListingHost | undefined)?.services ?? {}
  let isComplete = kept !== undefined && ports !== undefined
  const report = (): void => {
    isComplete = false
  }
  const table =
    kept && ports ? await listTools(agent.dynamicTools, agent.table, { context, kept, ports, report }) : agent.table
  return { table, isComplete }
}
