import { kindOf } from '../base/kind-of.ts'
import { ToolwrightError } from '../error/error.ts'
import { aiSdkHint, isModel, type Model } from '../tool/model.ts'

/** From a pattern such as `gemini-*` to whatever makes models of that name. */
export type Models = { readonly [pattern: string]: (name: string) => Model }

/** Doors that answer to well-known names. */
const MODEL_HINTS: readonly (readonly [pattern: string, cure: string])[] = [
  ['gemini-*', "models: { 'gemini-*': gemini } with gemini from 'toolwright/gemini' (npm i @google/genai)"],
  ['gpt-*', "model: fromAiSdk(openai('gpt-...')) with fromAiSdk from 'toolwright/ai-sdk' (npm i @ai-sdk/openai)"],
  [
    'claude-*',
    "model: fromAiSdk(anthropic('claude-...')) with fromAiSdk from 'toolwright/ai-sdk' (npm i @ai-sdk/anthropic)",
  ],
  // as the AI SDK and its gateway name models: openai/gpt-5
  ['*/*', "model: fromAiSdk(provider('...')) with fromAiSdk from 'toolwright/ai-sdk'"],
]

/** Finds the model for a name, once; a name nobody answers to is an error that says what to pass. */
export function modelResolver(models: Models): (name: string, agentName: string) => Model {
  const made = new Map<string, Model>()
  return (name, agentName) => {
    const known = made.get(name)
    if (known) return known
    const make = Object.entries(models).find(([pattern]) => matches(pattern, name))?.[1]
    if (!make) {
      const cure =
        MODEL_HINTS.find(([pattern]) => matches(pattern, name))?.[1] ?? "models: { 'pattern-*': (name) => model }"
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `Agent "${agentName}" wants the model "${name}", and the runner knows none of that name. Pass ${cure}, or a model object.`,
      )
    }
    const model = make(name)
    if (!isModel(model)) {
      const message = `models["${name}"] returned ${kindOf(model)} for agent "${agentName}". ${aiSdkHint(model) ?? 'Return a model, such as gemini(name).'}`
      throw new ToolwrightError('INVALID_CONFIG', message)
    }
    made.set(name, model)
    return model
  }
}

function matches(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(name)
}
