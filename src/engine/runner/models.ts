import { kindOf } from '../../core/base/kind-of.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { aiSdkHint, isModel, type Model } from '../model/model.ts'

/** Functions that create a model for a model name, by pattern: `{ 'gemini-*': gemini }`. `*` matches any characters. */
export type Models = { readonly [pattern: string]: (name: string) => Model }

/** What to pass for well-known model names, by pattern. */
const MODEL_HINTS: readonly (readonly [pattern: string, hint: string])[] = [
  ['gemini-*', "models: { 'gemini-*': gemini } with gemini from 'toolwright/gemini' (npm i @google/genai)"],
  ['gpt-*', "model: fromAiSdk(openai('gpt-...')) with fromAiSdk from 'toolwright/ai-sdk' (npm i @ai-sdk/openai)"],
  [
    'claude-*',
    "model: fromAiSdk(anthropic('claude-...')) with fromAiSdk from 'toolwright/ai-sdk' (npm i @ai-sdk/anthropic)",
  ],
  // names of the AI SDK gateway, such as openai/gpt-5
  ['*/*', "model: fromAiSdk(provider('...')) with fromAiSdk from 'toolwright/ai-sdk'"],
]

/** Returns a function that finds the model for a name. Each model is created once. Throws if no pattern matches. */
export function modelResolver(models: Models): (name: string, agentName: string) => Model {
  const created = new Map<string, Model>()
  return (name, agentName) => {
    const known = created.get(name)
    if (known) return known
    const make = Object.entries(models).find(([pattern]) => matches(pattern, name))?.[1]
    if (!make) {
      const hint =
        MODEL_HINTS.find(([pattern]) => matches(pattern, name))?.[1] ?? "models: { 'pattern-*': (name) => model }"
      const known = Object.keys(models)
      const patterns = known.length ? ` Names that work: ${known.join(', ')}.` : ''
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `Agent "${agentName}" uses the model name "${name}", which no pattern in the models option of the runner matches.${patterns} Pass ${hint}, or a model object.`,
      )
    }
    const model = make(name)
    if (!isModel(model)) {
      const message = `models["${name}"] returned ${kindOf(model)} for agent "${agentName}". ${aiSdkHint(model) ?? 'Return a model, such as gemini(name).'}`
      throw new ToolwrightError('INVALID_CONFIG', message)
    }
    created.set(name, model)
    return model
  }
}

function matches(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(name)
}
