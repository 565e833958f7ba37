import type { JsonObject } from '../base/json.ts'

/** Tokens of several model calls, added up. The names are those of an event's `usageMetadata`. */
export interface Usage {
  readonly promptTokenCount: number
  readonly candidatesTokenCount: number
  readonly thoughtsTokenCount: number
  readonly cachedContentTokenCount: number
  readonly toolUsePromptTokenCount: number
  readonly totalTokenCount: number
}

type Sum = { -readonly [count in keyof Usage]: number }

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

/** Adds what one model call used; a provider may report anything, so only numbers count. */
export function addUsage(sum: Sum, reported: JsonObject): void {
  for (const count of Object.keys(sum) as (keyof Sum)[]) {
    const tokens = reported[count]
    if (typeof tokens === 'number' && tokens > 0) sum[count] += tokens
  }
}
