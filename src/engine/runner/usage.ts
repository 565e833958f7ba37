import type { JsonObject } from '../../core/base/json.ts'

/** Token counts, summed over model calls. The names are those of `usageMetadata` in events. */
export interface Usage {
  /** Input tokens, cached ones included. */
  readonly promptTokenCount: number
  /** Output tokens of the replies. */
  readonly candidatesTokenCount: number
  /** Output tokens of the model's reasoning. */
  readonly thoughtsTokenCount: number
  /** Input tokens read from a cache. */
  readonly cachedContentTokenCount: number
  /** Input tokens of tools that the provider ran. */
  readonly toolUsePromptTokenCount: number
  /** All tokens, as the providers report them. */
  readonly totalTokenCount: number
}

type Sum = { -readonly [count in keyof Usage]: number }

/** A sum of zero tokens. */
export function noUsage(): Sum {
  return {
    promptTokenCount: 0,
    candidatesTokenCount: 0,
    thoughtsTokenCount: 0,
    cachedContentTokenCount: 0,
    toolUsePromptTokenCount: 0,
    totalTokenCount: 0,
  }
}

/** Adds the tokens of one model call. Ignores counts that are not positive numbers: providers may report anything. */
export function addUsage(sum: Sum, reported: JsonObject): void {
  for (const count of Object.keys(sum) as (keyof Sum)[]) {
    const tokens = reported[count]
    if (typeof tokens === 'number' && tokens > 0) sum[count] += tokens
  }
}
