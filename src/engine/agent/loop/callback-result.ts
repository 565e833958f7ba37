// Checks what agent and model callbacks return: undefined, or a value of the right shape. Any other value throws, also
// null: a guard that denies with an invalid value must not let the run continue.
import { isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { type Content, hasParts } from '../../../core/content/content.ts'
import type { LlmResponse } from '../../model/model.ts'
import type { Hooks } from '../agents/callbacks.ts'
import { isResponse } from './reply-event.ts'

/** Checks what `beforeAgent` or `afterAgent` returned. */
export function contentFrom(hook: keyof Hooks, agentName: string, value: unknown): Content | undefined {
  if (value === undefined || hasParts(value)) return value
  throw invalid(hook, agentName, value, 'a content { role, parts }')
}

/** Checks what `beforeModel`, `afterModel` or `onModelError` returned. */
export function responseFrom(hook: keyof Hooks, agentName: string, value: unknown): LlmResponse | undefined {
  if (value === undefined) return undefined
  if (isResponse(value) && Object.keys(value).some((key) => Object.hasOwn(MEMBERS, key))) return value
  throw invalid(
    hook,
    agentName,
    value,
    'a response such as { content: { role, parts } } or { errorCode, errorMessage }',
  )
}

const MEMBERS: { readonly [K in keyof LlmResponse]-?: true } = {
  content: true,
  partial: true,
  turnComplete: true,
  interrupted: true,
  finishReason: true,
  modelVersion: true,
  usageMetadata: true,
  groundingMetadata: true,
  citationMetadata: true,
  customMetadata: true,
  fallback: true,
  errorCode: true,
  errorMessage: true,
}

function invalid(hook: string, agentName: string, value: unknown, expected: string): TypeError {
  const given = isRecord(value) && isRecord(value.content) ? `content that is ${kindOf(value.content)}` : kindOf(value)
  return new TypeError(
    `A ${hook} callback of agent "${agentName}" returned ${given}. Return nothing (undefined) or ${expected}.`,
  )
}
