import type { Content } from '../../core/content/content.ts'
import type { Model } from '../../engine/model/model.ts'
import { anthropicHistoryProblems } from './history-rules/anthropic.ts'
import { geminiHistoryProblems } from './history-rules/gemini.ts'
import { openAiHistoryProblems } from './history-rules/openai.ts'

/**
 * Wraps a model and checks each request. Throws with all broken rules when a provider would reject the history.
 *
 * @example
 * const agent = new LlmAgent({ name: 'shop', model: strictModel(scriptedModel(['Hello.'])) })
 */
export function strictModel(model: Model): Model {
  const { name, capabilities } = model
  return {
    name,
    ...(capabilities && { capabilities }),
    generate(request, options) {
      const problems = historyProblems(request.contents)
      if (problems.length) throw new Error(`A provider would reject this history:\n${problems.join('\n')}`)
      return model.generate(request, options)
    },
  }
}

function historyProblems(contents: readonly Content[]): string[] {
  const rules = { Gemini: geminiHistoryProblems, OpenAI: openAiHistoryProblems, Anthropic: anthropicHistoryProblems }
  return Object.entries(rules).flatMap(([provider, check]) =>
    check(contents).map((problem) => `${provider}: ${problem}`),
  )
}
