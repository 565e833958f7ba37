import { type JsonObject, jsonSize } from '../../core/base/json.ts'
import type { Content } from '../../core/content/content.ts'
import { callback, checkOptions, type OptionRules, text } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { LlmRequest } from '../../engine/model/llm-request.ts'
import type { Model } from '../../engine/model/model.ts'
import { planReply } from './offline/plan-reply.ts'

/** Options of `offlineModel()`. */
export interface OfflineModelOptions {
  /** Name of the model. Default: `offline`. */
  readonly name?: string | undefined
  /** The current time for "today" and "tomorrow", in UTC. Default: `Date.now`. */
  readonly now?: (() => Date | number) | undefined
}

const RULES: OptionRules<OfflineModelOptions> = { name: text, now: callback }

/**
 * A rule-based model without a key or network. The same request gets the same reply. Rules match the words of the message
 * with the declared tools, fill in recognised arguments, call the tools and describe the results. Use it for examples,
 * tests and demos; it does not understand language.
 *
 * @example
 * const agent = new LlmAgent({ name: 'weather', model: offlineModel(), tools: [getWeather] })
 */
export function offlineModel(options: OfflineModelOptions = {}): Model {
  checkOptions('offlineModel()', options, RULES)
  const now = options.now ?? Date.now
  return {
    name: options.name ?? 'offline',
    capabilities: { toolsWithOutputSchema: true },
    async *generate(request, { signal, stream }) {
      signal?.throwIfAborted()
      const parts = planReply(request, timeOf(now()))
      if (stream) {
        for (const text of parts[0]?.text?.match(/\S+\s*/g) ?? []) {
          yield { content: { role: 'model', parts: [{ text }] }, partial: true }
          signal?.throwIfAborted()
        }
      }
      const content: Content = { role: 'model', parts }
      yield { content, finishReason: 'STOP', usageMetadata: usageOf(request, content) }
    },
  }
}

const MAX_COUNTED = 10_000_000

/** Estimates tokens as four characters each, as in English text. */
function usageOf({ contents, config }: LlmRequest, content: Content): JsonObject {
  const tokens = (value: unknown): number => Math.ceil(Math.min(jsonSize(value, MAX_COUNTED), MAX_COUNTED) / 4)
  const [promptTokenCount, candidatesTokenCount] = [tokens([contents, config]), tokens(content.parts)]
  return { promptTokenCount, candidatesTokenCount, totalTokenCount: promptTokenCount + candidatesTokenCount }
}

function timeOf(now: Date | number): number {
  const ms = Number(now)
  if (Number.isFinite(ms) && Math.abs(ms) < 8e15) return ms
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'offlineModel() got an invalid time: `now` must return a Date or milliseconds since 1970.',
  )
}
