import { isRecord, type JsonObject } from '../../../core/base/json.ts'

/** Converts token counts, flat (v2) or nested (v3, v4), to Gemini's `usageMetadata`. Undefined when there are none. */
export function toUsage(usage: unknown): JsonObject | undefined {
  if (!isRecord(usage)) return undefined
  const { inputTokens, outputTokens } = usage
  const counts =
    isRecord(inputTokens) || isRecord(outputTokens)
      ? readNestedUsage(isRecord(inputTokens) ? inputTokens : {}, isRecord(outputTokens) ? outputTokens : {})
      : readFlatUsage(usage)
  const { prompt, output, thoughts, cached } = counts
  if (prompt === undefined && output === undefined) return undefined
  const candidates = output === undefined ? undefined : Math.max(0, output - (thoughts ?? 0))
  return {
    ...(prompt !== undefined && { promptTokenCount: prompt }),
    ...(candidates !== undefined && { candidatesTokenCount: candidates }),
    ...(thoughts && { thoughtsTokenCount: thoughts }),
    ...(cached && { cachedContentTokenCount: cached }),
    totalTokenCount: counts.total ?? (prompt ?? 0) + (output ?? 0),
  }
}

interface Counts {
  readonly prompt: number | undefined
  /** Output tokens, thought tokens included. */
  readonly output: number | undefined
  readonly thoughts: number | undefined
  readonly cached: number | undefined
  readonly total: number | undefined
}

function readNestedUsage(input: JsonObject, output: JsonObject): Counts {
  return {
    prompt: readCount(input.total),
    output: readCount(output.total),
    thoughts: readCount(output.reasoning),
    cached: readCount(input.cacheRead),
    total: undefined,
  }
}

function readFlatUsage(usage: JsonObject): Counts {
  const prompt = readCount(usage.inputTokens)
  const reported = readCount(usage.outputTokens)
  const thoughts = readCount(usage.reasoningTokens)
  const total = readCount(usage.totalTokens)
  // some providers include thoughts in the output count, others do not: the total shows which
  const areThoughtsExtra = thoughts !== undefined && total === (prompt ?? 0) + (reported ?? 0) + thoughts
  const output = areThoughtsExtra ? (reported ?? 0) + thoughts : reported
  return { prompt, output, thoughts, cached: readCount(usage.cachedInputTokens), total }
}

function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
