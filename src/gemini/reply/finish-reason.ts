// Why Gemini stopped, where that is not because it was done.
import type { JsonObject } from '../../base/json.ts'
import { clip } from '../../base/limits.ts'
import type { Part } from '../../content/content.ts'
import { UnusableReply } from '../failure/failure.ts'

export interface FinishError {
  readonly errorCode: string
  readonly errorMessage: string
}

/** The prompt itself was refused: there is no answer. */
export function blockedPromptError({ blockReason, blockReasonMessage }: JsonObject): FinishError {
  const errorCode = String(blockReason)
  const why = typeof blockReasonMessage === 'string' ? `: ${blockReasonMessage}` : ''
  return {
    errorCode,
    errorMessage: `Gemini refused what it was asked (${errorCode})${why}. ${adviceFor(errorCode)}`.trim(),
  }
}

/** What ended the answer before it was one; undefined when it is one. */
export function finishError(
  reason: string | undefined,
  parts: readonly Part[],
  message: unknown,
): FinishError | undefined {
  if (reason === undefined || NORMAL_REASONS.has(reason)) return undefined
  if (CUT_OFF_REASONS.has(reason) && parts.some((part) => part.functionCall)) return cutOffCallError(reason)
  if (CUT_OFF_REASONS.has(reason) && parts.some((part) => !part.thought)) return undefined // the reason tells that it is cut
  const why = typeof message === 'string' && message !== '' ? `: ${message}` : ''
  return {
    errorCode: reason,
    errorMessage: `Gemini stopped before it was done (${reason})${why}. ${adviceFor(reason)}`.trim(),
  }
}

/** Nothing tells which arguments are whole: a response with an error code has no call that runs. */
function cutOffCallError(reason: string): FinishError {
  const errorMessage = `Gemini stopped before its function calls were complete (${reason}), so none of them was run. Raise maxOutputTokens in generateContentConfig, or ask for less at once.`
  return { errorCode: reason, errorMessage }
}

/** Throws when a finished reply is a fault of the model: nothing in it, or a call that cannot be run. */
export function checkFinishedReply(reason: string | undefined, parts: readonly Part[], message: unknown): void {
  if (reason !== undefined && INVALID_CALL_REASONS.has(reason)) {
    const why = typeof message === 'string' && message !== '' ? `${clip(message, 1_000)} ` : ''
    throw new UnusableReply('bad-call', `${why}${adviceFor(reason)}`, reason)
  }
  if ((reason !== undefined && !NORMAL_REASONS.has(reason)) || parts.some(isVisible)) return
  const has = parts.some((part) => part.thought) ? 'only thoughts, no text and no call' : 'no text and no call'
  throw new UnusableReply('empty', `it has ${has} (${reason ?? 'no finish reason'})`, reason)
}

/** Neither a thought nor an empty text that only carries a signature. */
function isVisible(part: Part): boolean {
  return !part.thought && part.text !== ''
}

const NORMAL_REASONS = new Set(['STOP', 'FINISH_REASON_UNSPECIFIED'])
const CUT_OFF_REASONS = new Set(['MAX_TOKENS', 'CONTINUATION'])
const INVALID_CALL_REASONS = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])

function adviceFor(reason: string): string {
  if (reason.includes('SAFETY')) return ADVICE.SAFETY ?? ''
  return ADVICE[reason] ?? ''
}

const ADVICE: Readonly<Record<string, string>> = {
  SAFETY: 'A safety filter did not let it through; safetySettings in generateContentConfig set what they let through.',
  RECITATION: 'It would have recited a source at length; ask for something of its own.',
  LANGUAGE: 'It does not know the language.',
  BLOCKLIST: 'A word on a list is not let through.',
  PROHIBITED_CONTENT: 'Such content is never let through.',
  SPII: 'It may hold personal data that is not let through.',
  MAX_TOKENS: 'All its tokens went into thinking: raise maxOutputTokens, or lower thinkingConfig.',
  MALFORMED_FUNCTION_CALL:
    'It wrote a call that cannot be read. Asking again often helps, and so do simpler parameters.',
  UNEXPECTED_TOOL_CALL: 'It called a tool that it was not given. Say in the instruction which ones there are.',
  TOO_MANY_TOOL_CALLS: 'It called its own tools too many times in a row.',
  JAILBREAK: 'It was taken for an attempt to get around the rules.',
  MODEL_ARMOR: 'Model Armor did not let it through.',
}
