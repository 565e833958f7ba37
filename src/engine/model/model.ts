import type { JsonObject } from '../../core/base/json.ts'
import type { Content } from '../../core/content/content.ts'
import type { ModelFallback } from '../../core/event/model-fallback.ts'
import type { LlmRequest } from './llm-request.ts'

/** One response of a model. A reply is a sequence of responses: partial ones, then one that is complete. */
export interface LlmResponse {
  /** What the model wrote: text, thoughts, function calls. */
  readonly content?: Content | undefined
  /** The content is a delta. Only the last response is not partial; it holds the whole content. Default false. */
  readonly partial?: boolean | undefined
  /** The model has ended its turn. For live models. */
  readonly turnComplete?: boolean | undefined
  /** The user interrupted the model. For live models. */
  readonly interrupted?: boolean | undefined
  /** Why the model stopped, in Gemini's terms: `STOP`, `MAX_TOKENS`, `SAFETY`, ... */
  readonly finishReason?: string | undefined
  /** The model that replied, as the provider names it. Default: the name of the model. */
  readonly modelVersion?: string | undefined
  /** Token counts, as Gemini names them: `promptTokenCount`, `candidatesTokenCount`, ... */
  readonly usageMetadata?: JsonObject | undefined
  /** Sources of a grounded reply. */
  readonly groundingMetadata?: JsonObject | undefined
  /** Citations in the reply. */
  readonly citationMetadata?: JsonObject | undefined
  /** Data that is added to the event. */
  readonly customMetadata?: JsonObject | undefined
  /** Set by `fallback()` if another model than the first replied. */
  readonly fallback?: ModelFallback | undefined
  /** Set if the model failed. */
  readonly errorCode?: string | undefined
  /** Why the model failed. */
  readonly errorMessage?: string | undefined
}

/** A model: a provider, a script for tests, or any object with these members. */
export interface Model {
  /** The name of the model, such as `gemini-2.5-flash`. */
  readonly name: string
  /** Who provides the model, by its name in OpenTelemetry: `gcp.gemini`, `openai`. Only traces and metrics have it. Default: unknown. */
  readonly provider?: string | undefined
  /** What the model supports. Default: none of these. */
  readonly capabilities?: {
    /** A request may have both tools and a response schema. Default false. */
    readonly toolsWithOutputSchema?: boolean
    /** Names of the tools that the provider runs (`googleSearch`, ...). Default: none. */
    readonly serverTools?: readonly string[]
    /** A request may have both server tools and function declarations. Default false. */
    readonly serverToolsWithFunctions?: boolean
    /** Server tools that a request may have together, without functions. `serverToolsWithFunctions` allows all. Default: none. */
    readonly combinableServerTools?: readonly (readonly string[])[]
  }
  /** Sends a request. With `stream`, yields partial responses first. The last response, and only that, is not partial. */
  generate(
    request: LlmRequest,
    options: { signal?: AbortSignal | undefined; stream?: boolean | undefined },
  ): AsyncIterable<LlmResponse>
}

/** Is the value a model? */
export function isModel(value: unknown): value is Model {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Model>).generate === 'function'
}

/** Advice for a value that is not a model: a model of the AI SDK, a live model, or a function that makes models. */
export function aiSdkHint(value: unknown): string | undefined {
  if (typeof value === 'function')
    return "If the function makes models, call it with a model name: gemini('gemini-2.5-flash'), or fromAiSdk(openai('gpt-5-mini')) for a provider of the AI SDK."
  if (typeof value !== 'object' || value === null) return undefined
  if ('doGenerate' in value)
    return 'The value is a model of the AI SDK. Wrap it with fromAiSdk() of "toolwright/ai-sdk".'
  if ('connect' in value)
    return 'The value is a live model. Pass it to connectLive({ agent, model }) of "toolwright/live".'
  return undefined
}
