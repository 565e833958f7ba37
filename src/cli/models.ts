// Finds models for agents that name their model, among the installed providers.

import type { Agent } from '../agent/agents/agent.ts'
import { agentToolSettings } from '../agent/agents/agent-tool.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { fromAiSdk } from '../ai-sdk/from-ai-sdk.ts'
import { loadPeerByName } from '../error/load-peer.ts'
import type { Models } from '../runner/models.ts'
import type { Model } from '../tool/model.ts'

/** A provider whose models the command line finds by name. */
interface ModelProvider {
  /** The model names it serves: a prefix and `*`. */
  readonly pattern: `${string}*`
  /** The package that users install for it. */
  readonly packageName: string
  /** Whether it is loaded even if no agent of the tree names it: for agents that a toolset adds during a run. */
  readonly isAlwaysLoaded: boolean
  /** Loads the provider and returns a function that creates a model by its name. */
  load(): Promise<(name: string) => Model>
}

/**
 * Every provider that `toolwright run` knows. A new provider gets a row here. Providers are loaded by name, so that no
 * bundler or import check finds their packages behind the command line.
 */
export const modelProviders: readonly ModelProvider[] = [
  {
    pattern: 'gemini-*',
    packageName: '@google/genai',
    isAlwaysLoaded: true,
    load: async () => {
      const { gemini } = (await loadPeerByName('toolwright/gemini')) as typeof import('../gemini/index.ts')
      return (name) => gemini(name)
    },
  },
  {
    pattern: 'gpt-*',
    packageName: '@ai-sdk/openai',
    isAlwaysLoaded: false,
    load: async () => {
      const { openai } = (await loadPeerByName('@ai-sdk/openai')) as typeof import('@ai-sdk/openai')
      return (name) => fromAiSdk(openai(name))
    },
  },
  {
    pattern: 'claude-*',
    packageName: '@ai-sdk/anthropic',
    isAlwaysLoaded: false,
    load: async () => {
      const { anthropic } = (await loadPeerByName('@ai-sdk/anthropic')) as typeof import('@ai-sdk/anthropic')
      return (name) => fromAiSdk(anthropic(name))
    },
  },
]

/** The models for the names in this tree of agents. */
export async function modelsFor(root: Agent): Promise<Models> {
  const names = [...modelNames(root, new Set())]
  const models: { [pattern: string]: (name: string) => Model } = {}
  for (const { pattern, isAlwaysLoaded, load } of modelProviders) {
    const prefix = pattern.slice(0, -1)
    if (isAlwaysLoaded || names.some((name) => name.startsWith(prefix))) models[pattern] = await load()
  }
  return models
}

function modelNames(agent: Agent, seen: Set<Agent>, names: Set<string> = new Set()): Set<string> {
  if (seen.has(agent)) return names
  seen.add(agent)
  const tools = agent instanceof LlmAgent ? [...agent.table.tools.values()] : []
  if (agent instanceof LlmAgent && typeof agent.model === 'string') names.add(agent.model)
  const inside = tools.flatMap((tool) => agentToolSettings(tool)?.agent ?? [])
  for (const other of [...(agent.subAgents ?? []), ...inside]) modelNames(other, seen, names)
  return names
}
