// Models for agents that only name one: whatever is installed answers.
import type { Agent } from '../agent/agents/agent.ts'
import { agentOf } from '../agent/agents/agent-tool.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { fromAiSdk } from '../ai-sdk/from-model.ts'
import { peerByName } from '../error/peer.ts'
import type { Models } from '../runner/models.ts'

/** What the names in this tree of agents need; only that is loaded. */
export async function modelsFor(root: Agent): Promise<Models> {
  const names = [...modelNames(root, new Set())]
  // by name, like the others: nothing that follows imports from the command line finds a provider's package
  const { gemini } = (await peerByName('toolwright/gemini')) as typeof import('../gemini/index.ts')
  return {
    'gemini-*': (name) => gemini(name),
    ...(names.some((name) => name.startsWith('gpt-')) && (await openaiModels())),
    ...(names.some((name) => name.startsWith('claude-')) && (await anthropicModels())),
  }
}

async function openaiModels(): Promise<Models> {
  const { openai } = (await peerByName('@ai-sdk/openai')) as typeof import('@ai-sdk/openai')
  return { 'gpt-*': (name) => fromAiSdk(openai(name)) }
}

async function anthropicModels(): Promise<Models> {
  const { anthropic } = (await peerByName('@ai-sdk/anthropic')) as typeof import('@ai-sdk/anthropic')
  return { 'claude-*': (name) => fromAiSdk(anthropic(name)) }
}

function modelNames(agent: Agent, seen: Set<Agent>, names: Set<string> = new Set()): Set<string> {
  if (seen.has(agent)) return names
  seen.add(agent)
  const tools = agent instanceof LlmAgent ? [...agent.table.tools.values()] : []
  if (agent instanceof LlmAgent && typeof agent.model === 'string') names.add(agent.model)
  const inside = tools.flatMap((tool) => agentOf(tool)?.agent ?? [])
  for (const other of [...(agent.subAgents ?? []), ...inside]) modelNames(other, seen, names)
  return names
}
