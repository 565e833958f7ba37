import type { JsonObject } from '../base/json.ts'
import type { Content } from '../content/content.ts'
import type { ModelFallback } from '../event/event.ts'
import type { LlmRequest } from './tool.ts'

export interface LlmResponse {
  readonly content?: Content | undefined
  /** A delta; the last response, the only one without, holds the whole. */
  readonly partial?: boolean | undefined
  readonly turnComplete?: boolean | undefined
  readonly interrupted?: boolean | undefined
  readonly finishReason?: string | undefined
  readonly usageMetadata?: JsonObject | undefined
  readonly groundingMetadata?: JsonObject | undefined
  readonly citationMetadata?: JsonObject | undefined
  readonly customMetadata?: JsonObject | undefined
  /** Of `fallback()`, when another model than the first replied. */
  readonly fallback?: ModelFallback | undefined
  readonly errorCode?: string | undefined
  readonly errorMessage?: string | undefined
}

/** Can it answer a request? */
export function isModel(value: unknown): value is Model {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Model>).generate === 'function'
}

/** What to do about a value that is no model, when it is one of the AI SDK's or makes one. */
export function aiSdkHint(value: unknown): string | undefined {
  if (typeof value === 'function')
    return "If it makes models, call it with the name of one: gemini('gemini-2.5-flash'), or fromAiSdk(openai('gpt-5-mini')) for a provider of the AI SDK."
  const isAiSdk = typeof value === 'object' && value !== null && 'doGenerate' in value
  return isAiSdk ? 'It is a model of the AI SDK: wrap it in fromAiSdk() of "toolwright/ai-sdk".' : undefined
}

/** Anything that answers a request: a provider, a script, a rule. */
export interface Model {
  readonly name: string
  readonly capabilities?: {
    /** Tools and a response schema may stand in one request. */
    readonly toolsWithOutputSchema?: boolean
    /** Names of the server-side tools it has (`googleSearch`, ...). */
    readonly serverTools?: readonly string[]
    readonly serverToolsWithFunctions?: boolean
  }
  /** Partial responses are deltas; exactly one response is not partial, the last, and holds the whole content. */
  generate(
    request: LlmRequest,
    options: { signal?: AbortSignal | undefined; stream?: boolean | undefined },
  ): AsyncIterable<LlmResponse>
}
