// Callbacks around a model call. `beforeModel` and `onModelError` callbacks stop at the first response. `afterModel`
// callbacks are chained.

import type { LlmRequest } from '../../model/llm-request.ts'
import type { LlmResponse } from '../../model/model.ts'
import { responseFrom } from './callback-result.ts'
import type { ModelTurn } from './run-host.ts'

/** The response that replaces the model call. Undefined if no callback returns one. */
export async function beforeModel({ plan, context }: ModelTurn, request: LlmRequest): Promise<LlmResponse | undefined> {
  for (const hook of plan.hooks.beforeModel) {
    const response = responseFrom('beforeModel', plan.agent.name, await hook({ request, context }))
    if (response) return response
  }
  return undefined
}

/** The response after all callbacks. */
export async function afterModel({ plan, context }: ModelTurn, response: LlmResponse): Promise<LlmResponse> {
  let last = response
  for (const hook of plan.hooks.afterModel) {
    last = responseFrom('afterModel', plan.agent.name, await hook({ response: last, context })) ?? last
  }
  return last
}

/** The response that replaces the error. Undefined if no callback returns one. */
export async function onModelError(
  { plan, context }: ModelTurn,
  request: LlmRequest,
  error: unknown,
): Promise<LlmResponse | undefined> {
  for (const hook of plan.hooks.onModelError) {
    const response = responseFrom('onModelError', plan.agent.name, await hook({ request, error, context }))
    if (response) return response
  }
  return undefined
}
