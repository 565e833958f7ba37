// Distinguishes a reply that the provider completed from one whose stream broke off.
import { isRecord } from '../../../core/base/json.ts'
import type { FinishReason } from './finish-reason.ts'

/** Number of raw chunks to keep. One of the last chunks contains the finish reason. */
export const MAX_RAW_CHUNKS = 16

/**
 * Finish reasons that provider packages also report when they received none. Most report `other` (`unknown` in version
 * 2), some `tool-calls` as soon as the reply contains a call.
 */
const AMBIGUOUS_REASONS: ReadonlySet<unknown> = new Set([undefined, null, 'other', 'unknown', 'tool-calls'])

/** Whether a stream broke off. `chunks` are its last raw chunks, which not every provider package passes on. */
export function isStreamTruncated({ unified, raw }: FinishReason, chunks: readonly unknown[]): boolean {
  if (unified === 'interrupted') return true
  if (!AMBIGUOUS_REASONS.has(unified)) return false
  if (chunks.length) return !chunks.some((chunk) => hasEndMarker(chunk))
  return unified !== 'tool-calls' && (raw === undefined || raw === unified)
}

const REASON_KEY = /^(finish|stop|done)_?reason$/i
const FINAL_EVENT_TYPE = /^(response\.(completed|incomplete|done|failed)|message_stop|message-end)$/
/** Fields whose content the model writes, not the provider. */
const MODEL_WRITTEN_KEYS = new Set(['arguments', 'args', 'input', 'parameters', 'content', 'text'])
const MAX_DEPTH = 4

/** Whether a chunk marks the end of the reply. */
function hasEndMarker(chunk: unknown, depth = 0): boolean {
  if (Array.isArray(chunk)) return depth < MAX_DEPTH && chunk.some((one) => hasEndMarker(one, depth + 1))
  if (!isRecord(chunk)) return false
  return Object.entries(chunk).some(([key, value]) => {
    if (MODEL_WRITTEN_KEYS.has(key)) return false
    if (typeof value === 'string')
      return (REASON_KEY.test(key) && value !== '') || (key === 'type' && FINAL_EVENT_TYPE.test(value))
    if (typeof value === 'boolean') return key === 'done' && value
    return depth < MAX_DEPTH && hasEndMarker(value, depth + 1)
  })
}
