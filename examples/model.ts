// The model of the examples: the provider whose key is in the environment, or rules that need no key.
import type { Model } from 'toolwright'

const keys = 'set GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY'

export const model: Model = await choose(process.env)
console.error(model.name === 'offline' ? `Model: rules, no language model.\nFor one ${keys}.` : `Model: ${model.name}`)

async function choose(env: NodeJS.ProcessEnv): Promise<Model> {
  if (env.GEMINI_API_KEY || env.GOOGLE_API_KEY) {
    const { gemini } = await import('toolwright/gemini')
    return gemini('gemini-2.5-flash')
  }
  if (env.OPENAI_API_KEY) {
    const { fromAiSdk } = await import('toolwright/ai-sdk')
    const { openai } = await import('@ai-sdk/openai')
    return fromAiSdk(openai('gpt-5-mini'))
  }
  if (env.ANTHROPIC_API_KEY) {
    const { fromAiSdk } = await import('toolwright/ai-sdk')
    const { anthropic } = await import('@ai-sdk/anthropic')
    return fromAiSdk(anthropic('claude-sonnet-4-5'))
  }
  const { offlineModel } = await import('toolwright/testing')
  return offlineModel()
}
