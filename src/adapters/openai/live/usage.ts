import { isRecord, type JsonObject } from '../../../core/base/json.ts'

/** Token counts of a response, as Gemini names them. Undefined when there are none. */
export function toUsage(usage: unknown): JsonObject | undefined {
  if (!isRecord(usage)) return undefined
  const prompt = count(usage.input_tokens)
  const output = count(usage.output_tokens)
  if (prompt === undefined && output === undefined) return undefined
  const input = isRecord(usage.input_token_details) ? usage.input_token_details : {}
  const cached = count(input.cached_tokens)
  return {
    ...(prompt !== undefined && { promptTokenCount: prompt }),
    ...(output !== undefined && { candidatesTokenCount: output }),
    ...(cached && { cachedContentTokenCount: cached }),
    totalTokenCount: count(usage.total_tokens) ?? (prompt ?? 0) + (output ?? 0),
    ...details('promptTokensDetails', input),
    ...details('candidatesTokensDetails', usage.output_token_details),
  }
}

/** Counts by modality, such as `{ modality: 'AUDIO', tokenCount: 12 }`. */
function details(name: string, counts: unknown): JsonObject {
  const all = ['text', 'audio', 'image'].flatMap((modality) => {
    const tokenCount = isRecord(counts) ? count(counts[`${modality}_tokens`]) : undefined
    return tokenCount ? [{ modality: modality.toUpperCase(), tokenCount }] : []
  })
  return all.length > 0 ? { [name]: all } : {}
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined
