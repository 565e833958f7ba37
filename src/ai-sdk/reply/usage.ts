// Token counts and the reason a reply ended, in Gemini's words.
import { isRecord, type JsonObject } from '../../base/json.ts'

/** Both shapes: flat (v2) and nested (v3, v4). Undefined when nothing was counted. */
export function toUsage(usage: unknown): JsonObject | undefined {
  if (!isRecord(usage)) return undefined
  const { inputTokens, outputTokens } = usage
  const counts =
    isRecord(inputTokens) || isRecord(outputTokens)
      ? nested(isRecord(inputTokens) ? inputTokens : {}, isRecord(outputTokens) ? outputTokens : {})
      : flat(usage)
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
  /** Thoughts included. */
  readonly output: number | undefined
  readonly thoughts: number | undefined
  readonly cached: number | undefined
  readonly total: number | undefined
}

function nested(input: JsonObject, output: JsonObject): Counts {
  return {
    prompt: count(input.total),
    output: count(output.total),
    thoughts: count(output.reasoning),
    cached: count(input.cacheRead),
    total: undefined,
  }
}

function flat(usage: JsonObject): Counts {
  const prompt = count(usage.inputTokens)
  const said = count(usage.outputTokens)
  const thoughts = count(usage.reasoningTokens)
  const total = count(usage.totalTokens)
  // some providers count thoughts as output, some beside it: the total tells
  const isBeside = thoughts !== undefined && total === (prompt ?? 0) + (said ?? 0) + thoughts
  const output = isBeside ? (said ?? 0) + thoughts : said
  return { prompt, output, thoughts, cached: count(usage.cachedInputTokens), total }
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

export interface Finish {
  /** `STOP`, `MAX_TOKENS`, `SAFETY`, `OTHER`, or what a Gemini model itself said. */
  readonly reason: string
  /** The AI SDK's word: `stop`, `tool-calls`, ... */
  readonly unified: unknown
  /** The provider's own word. */
  readonly raw: string | undefined
}

/** Both shapes: a word (v2), or `{ unified, raw }` (v3, v4). */
export function toFinish(finishReason: unknown): Finish {
  const given: JsonObject = isRecord(finishReason) ? finishReason : { unified: finishReason }
  const { unified } = given
  const raw = typeof given.raw === 'string' ? given.raw : undefined
  const known = REASONS.get(unified)
  // Cohere too has words in capitals: "COMPLETE" is a STOP
  const isOwn = raw !== undefined && /^[A-Z][A-Z_]+$/.test(raw) && known !== 'STOP' && known !== 'MAX_TOKENS'
  return { reason: isOwn ? raw : (known ?? 'OTHER'), unified, raw }
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['stop', 'STOP'],
  ['tool-calls', 'STOP'],
  ['length', 'MAX_TOKENS'],
  ['content-filter', 'SAFETY'],
])
