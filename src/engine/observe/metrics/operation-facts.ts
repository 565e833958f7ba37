// What operations say of their models, tools and tokens.

import type { JsonObject } from '../../../core/base/json.ts'
import type { CallOperation, ModelOperation, ToolOperation } from '../operation.ts'
import { OTHER } from './metric-table.ts'

/** The name of a tool. One that no tool has is text of a model. */
export function toolNameOf({ tool, description }: ToolOperation | CallOperation): string {
  return description === undefined ? OTHER : tool
}

/** `chat`, or as Google's models call it. */
export function modelOperationOf({ provider }: ModelOperation): string {
  return provider?.startsWith('gcp.') ? 'generate_content' : 'chat'
}

/** The tokens of a model call. Undefined: the provider does not say. */
export interface Tokens {
  /** Tokens that the model read, cached ones included. */
  readonly input: number | undefined
  /** Tokens that the model wrote, with those of its thoughts. */
  readonly output: number | undefined
  /** Cached tokens. */
  readonly cached?: number | undefined
  /** Tokens of thoughts. */
  readonly reasoning?: number | undefined
}

const NO_TOKENS: Tokens = { input: undefined, output: undefined }

/** The tokens that a reply names. */
export function tokensOf(usage: JsonObject | undefined): Tokens {
  if (!usage) return NO_TOKENS
  const read = countIn(usage.promptTokenCount)
  const ofTools = countIn(usage.toolUsePromptTokenCount)
  const written = countIn(usage.candidatesTokenCount)
  const reasoning = countIn(usage.thoughtsTokenCount)
  return {
    input: read === undefined && ofTools === undefined ? undefined : (read ?? 0) + (ofTools ?? 0),
    output: written === undefined && reasoning === undefined ? undefined : (written ?? 0) + (reasoning ?? 0),
    cached: countIn(usage.cachedContentTokenCount),
    reasoning,
  }
}

function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined
}
