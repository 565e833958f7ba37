import { ToolwrightError } from '../../../core/error/error.ts'
import type { Model } from '../../model/model.ts'

const missing: WeakSet<Model> = new WeakSet()

/** Stands for the model of an agent that has none: in a live session the live model speaks for it. A text request fails. */
export function missingModel(agentName: string): Model {
  const model: Model = {
    name: 'none',
    // biome-ignore lint/correctness/useYield: it always throws
    async *generate() {
      throw noModel(agentName)
    },
  }
  missing.add(model)
  return model
}

/** Stands the model for one that an agent does not have? */
export function isMissingModel(model: Model): boolean {
  return missing.has(model)
}

/** The error of a text request to an agent without a model. */
export function noModel(agentName: string): ToolwrightError {
  const advice = 'Set its model: new LlmAgent({ model, ... }), or one for all agents: new Runner({ model, ... })'
  return new ToolwrightError(
    'INVALID_CONFIG',
    `Agent "${agentName}" has no model, and no agent above it has one. ${advice}.`,
  )
}
