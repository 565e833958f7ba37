import { isRecord, type JsonObject } from '../../../core/base/json.ts'

/** Why a reply ended. */
export interface FinishReason {
  /** Gemini's term: `STOP`, `MAX_TOKENS`, `SAFETY`, `OTHER`, or the reason a Gemini model gave. */
  readonly reason: string
  /** The AI SDK's term: `stop`, `tool-calls`, ... */
  readonly unified: unknown
  /** The provider's term. */
  readonly raw: string | undefined
}

/** Reads a finish reason: a string (v2) or `{ unified, raw }` (v3, v4). */
export function toFinishReason(finishReason: unknown): FinishReason {
  const given: JsonObject = isRecord(finishReason) ? finishReason : { unified: finishReason }
  const { unified } = given
  const raw = typeof given.raw === 'string' ? given.raw : undefined
  const known = REASONS.get(unified)
  // Gemini's reasons are upper case. So are Cohere's, but its "COMPLETE" is a STOP.
  const isGeminiReason = raw !== undefined && /^[A-Z][A-Z_]+$/.test(raw) && known !== 'STOP' && known !== 'MAX_TOKENS'
  return { reason: isGeminiReason ? raw : (known ?? 'OTHER'), unified, raw }
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['stop', 'STOP'],
  ['tool-calls', 'STOP'],
  ['length', 'MAX_TOKENS'],
  ['content-filter', 'SAFETY'],
])
