// Finds models for agents that name their model, among the installed providers.

import { fromAiSdk } from '../../adapters/ai-sdk/from-ai-sdk.ts'
import { closestNames } from '../../core/base/closest-names.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { loadPeerByName } from '../../core/error/load-peer.ts'
import type { Agent } from '../../engine/agent/agents/agent.ts'
import type { Model } from '../../engine/model/model.ts'
import { type Models, modelResolver } from '../../engine/runner/models.ts'
import { modelNamesOf } from './load/collect-agents.ts'
import { missingPeers } from './serve/required-peers.ts'

/** A provider whose models the command line finds by name. */
interface ModelProvider {
  /** The model names it serves: a prefix and `*`. */
  readonly pattern: `${string}*`
  /** The package that users install for it. */
  readonly packageName: string
  /** The environment variables that give access to it. One of them is enough. */
  readonly keyNames: readonly string[]
  /** What to do without a key. */
  readonly keyAdvice: string
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
    keyAdvice:
      'Set GEMINI_API_KEY, in the environment or in .env (create a key at https://aistudio.google.com/apikey). For Vertex AI set GOOGLE_GENAI_USE_VERTEXAI=true and GOOGLE_CLOUD_PROJECT.',
    isAlwaysLoaded: true,
    load: async () => {
      const { gemini } = (await loadPeerByName('toolwright/gemini')) as typeof import('../../adapters/gemini/index.ts')
      return (name) => gemini(name)
    },
  },
  {
    pattern: 'gpt-*',
    packageName: '@ai-sdk/openai',
    keyNames: ['OPENAI_API_KEY'],
    keyAdvice: 'Set OPENAI_API_KEY, in the environment or in .env.',
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
    keyAdvice: 'Set ANTHROPIC_API_KEY, in the environment or in .env.',
    isAlwaysLoaded: false,
    load: async () => {
      const { anthropic } = (await loadPeerByName('@ai-sdk/anthropic')) as typeof import('@ai-sdk/anthropic')
      return (name) => fromAiSdk(anthropic(name))
    },
  },
]

/** Finds the packages that are not installed. */
type FindMissing = (names: readonly string[]) => readonly string[]

/**
 * The models for the names in this tree of agents, and for `more` names. A name that no provider has, or whose package or key is missing, throws when its
 * model is needed.
 */
export async function modelsFor(
  root: Agent,
  findMissing: FindMissing = missingPeers,
  more: readonly string[] = [],
): Promise<Models> {
  const names = [...modelNamesOf(root), ...more]
  const models: { [pattern: string]: (name: string) => Model } = {}
  for (const provider of modelProviders) {
    if (!provider.isAlwaysLoaded && !names.some((name) => hasModel(provider, name))) continue
    const isInstalled = findMissing([provider.packageName]).length === 0
    const create = isInstalled ? await provider.load() : throwError
    models[provider.pattern] = (name) => {
      const problem = findModelProblem(provider, name, { env: process.env, isInstalled })
      if (problem) throw invalid(problem)
      return create(name)
    }
  }
  models['*'] = (name) => {
    throw invalid(unknownModel(name))
  }
  return models
}

/** The patterns of the providers that are installed and have a key, for agents that get another model later. */
export function usableModels(findMissing: FindMissing = missingPeers): readonly string[] {
  const isUsable = (provider: ModelProvider): boolean =>
    hasKey(provider, process.env) && findMissing([provider.packageName]).length === 0
  return modelProviders.filter(isUsable).map(({ pattern }) => pattern)
}

/** Does the provider serve models of this name? */
export function hasModel({ pattern }: ModelProvider, name: string): boolean {
  return name.startsWith(pattern.slice(0, -1))
}

type Environment = { readonly [name: string]: string | undefined }

/** Is one of the variables of the provider set? An empty one is not. */
function hasKey({ keyNames }: ModelProvider, env: Environment): boolean {
  return keyNames.some((key) => env[key])
}

/** What is wrong with a model, and what to do. */
interface ModelProblem {
  /** What is wrong, in one sentence. */
  readonly message: string
  /** What to do. */
  readonly fix: string
  /** The code of the error. */
  readonly code: 'INVALID_CONFIG' | 'MISSING_PEER'
}

/** What a model of the provider needs: its package, a key, or both at once. Undefined if it has all. */
export function findModelProblem(
  provider: ModelProvider,
  name: string,
  { env, isInstalled }: { readonly env: Environment; readonly isInstalled: boolean },
): ModelProblem | undefined {
  const { packageName, keyAdvice } = provider
  const isKeySet = hasKey(provider, env)
  if (isInstalled && isKeySet) return undefined
  const needed = [...(isInstalled ? [] : [packageName]), ...(isKeySet ? [] : ['a key'])]
  const fixes = [...(isKeySet ? [] : [keyAdvice]), ...(isInstalled ? [] : [`Run: npm i ${packageName}`])]
  const code = isInstalled ? 'INVALID_CONFIG' : 'MISSING_PEER'
  return { message: `${name} needs ${needed.join(' and ')}.`, fix: fixes.join(' '), code }
}

/** A name that no provider has, with the names that work. */
export function unknownModel(name: string): ModelProblem {
  const starts = modelProviders.map(({ pattern }) => pattern.slice(0, -2))
  const [meant] = closestNames(name.split('-')[0] ?? '', starts)
  const guess = meant === undefined ? '' : ` Did you mean ${meant}-${name.slice(name.indexOf('-') + 1)}?`
  const known = modelProviders.map(({ pattern, packageName }) => `${pattern} (npm i ${packageName})`).join(', ')
  return {
    message: `No provider has the model "${name}".${guess}`,
    fix: `These names work: ${known}. For other models pass a model object, such as fromAiSdk(provider('...')).`,
    code: 'INVALID_CONFIG',
  }
}

/**
 * Models whose problems, such as a missing key or package, are reported when an agent asks them. A tool can be called, and
 * the tools can be listed, without a model.
 */
export async function modelsForCalls(root: Agent): Promise<Models> {
  const models = await modelsFor(root).catch((error): Models => ({ '*': () => throwError(error) }))
  const create = modelResolver(models)
  return { '*': (name) => modelOrProblem(name, () => create(name, root.name)) }
}

function modelOrProblem(name: string, create: () => Model): Model {
  try {
    return create()
  } catch (error) {
    return { name, generate: () => throwError(error) }
  }
}

function throwError(error: unknown): never {
  throw error
}

function invalid({ message, fix, code }: ModelProblem): ToolwrightError {
  return new ToolwrightError(code, `${message} ${fix}`)
}
