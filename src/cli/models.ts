// Finds models for agents that name their model, among the installed providers.

import type { Agent } from '../agent/agents/agent.ts'
import { fromAiSdk } from '../ai-sdk/from-ai-sdk.ts'
import { loadPeerByName } from '../error/load-peer.ts'
import type { Models } from '../runner/models.ts'
import type { Model } from '../tool/model.ts'
import { modelNamesOf } from './load/collect-agents.ts'

/** A provider whose models the command line finds by name. */
export interface ModelProvider {
  /** The model names it serves: a prefix and `*`. */
  readonly pattern: `${string}*`
  /** The package that users install for it. */
  readonly packageName: string
  /** The environment variables that give access to it. One of them is enough. */
  readonly keyNames: readonly string[]
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
    keyNames: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI'],
    isAlwaysLoaded: true,
    load: async () => {
      const { gemini } = (await loadPeerByName('toolwright/gemini')) as typeof import('../gemini/index.ts')
      return (name) => gemini(name)
    },
  },
  {
    pattern: 'gpt-*',
    packageName: '@ai-sdk/openai',
    keyNames: ['OPENAI_API_KEY'],
    isAlwaysLoaded: false,
    load: async () => {
      const { openai } = (await loadPeerByName('@ai-sdk/openai')) as typeof import('@ai-sdk/openai')
      return (name) => fromAiSdk(openai(name))
    },
  },
  {
    pattern: 'claude-*',
    packageName: '@ai-sdk/anthropic',
    keyNames: ['ANTHROPIC_API_KEY'],
    isAlwaysLoaded: false,
    load: async () => {
      const { anthropic } = (await loadPeerByName('@ai-sdk/anthropic')) as typeof import('@ai-sdk/anthropic')
      return (name) => fromAiSdk(anthropic(name))
    },
  },
]

/** The models for the names in this tree of agents. */
export async function modelsFor(root: Agent): Promise<Models> {
  const names = modelNamesOf(root)
  const models: { [pattern: string]: (name: string) => Model } = {}
  for (const { pattern, isAlwaysLoaded, load } of modelProviders) {
    const prefix = pattern.slice(0, -1)
    if (isAlwaysLoaded || names.some((name) => name.startsWith(prefix))) models[pattern] = await load()
  }
  return models
}
