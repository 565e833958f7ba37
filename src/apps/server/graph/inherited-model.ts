import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import type { Model } from '../../../engine/model/model.ts'
import { modelResolver } from '../../../engine/runner/models.ts'
import type { RunnerOptions } from '../../../engine/runner/runner-options.ts'
import type { PlacedAgent } from './find-agents.ts'

/** The model that agents inside the tools of an agent inherit: its own, that of an agent above it, or that of the runner. */
export function inheritedModel(
  { agent, above }: PlacedAgent,
  { models = {}, model }: Pick<RunnerOptions, 'models' | 'model'>,
): Model | undefined {
  for (const owner of [agent, ...above]) {
    const own = owner instanceof LlmAgent ? owner.model : undefined
    if (typeof own === 'string') return modelResolver(models)(own, owner.name)
    if (own) return own
  }
  return model
}
