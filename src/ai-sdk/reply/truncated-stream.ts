// Tells a reply that the provider ended from one whose stream broke off.
import { isRecord } from '../../base/json.ts'
import type { Finish } from './usage.ts'

/** Raw chunks that are kept: the reason a reply ended is in one of the last. */
export const KEPT_CHUNKS = 16

/**
 * Finish reasons that providers also report when none arrived. Most report `other` (`unknown` in version 2), some
 * `tool-calls` as soon as the reply holds a call.
 */
const UNCLEAR: ReadonlySet<unknown> = new Set([undefined, null, 'other', 'unknown', 'tool-calls'])

/** `chunks`: the last raw chunks of the stream. Not every provider passes them on. */
export function isCut({ unified, raw }: Finish, chunks: readonly unknown[]): boolean {
  if (unified === 'interrupted') return true
  if (!UNCLEAR.has(unified)) return false
  if (chunks.length) return !chunks.some((chunk) => hasEnd(chunk))
  return unified !== 'tool-calls' && (raw === undefined || raw === unified)
}

const REASON = /^(finish|stop|done)_?reason$/i
const LAST_EVENT = /^(response\.(completed|incomplete|done|failed)|message_stop|message-end)$/
/** Written by the model, not by the provider. */
const BY_MODEL = new Set(['arguments', 'args', 'input', 'parameters', 'content', 'text'])
const MAX_DEPTH = 4

/** Does a chunk say that the reply is over? */
function hasEnd(chunk: unknown, depth = 0): boolean {
  if (Array.isArray(chunk)) return depth < MAX_DEPTH && chunk.some((one) => hasEnd(one, depth + 1))
  if (!isRecord(chunk)) return false
  return Object.entries(chunk).some(([key, value]) => {
    if (BY_MODEL.has(key)) return false
    if (typeof value === 'string')
      return (REASON.test(key) && value !== '') || (key === 'type' && LAST_EVENT.test(value))
    if (typeof value === 'boolean') return key === 'done' && value
    return depth < MAX_DEPTH && hasEnd(value, depth + 1)
  })
}
