// Why Gemini stopped, where that is not because it was done.
import type { JsonObject } from '../base/json.ts'
import type { Part } from '../content/content.ts'

export interface FinishError {
  readonly errorCode: string
  readonly errorMessage: string
}

/** The prompt itself was refused: there is no answer. */
export function promptError({ blockReason, blockReasonMessage }: JsonObject): FinishError {
  const errorCode = String(blockReason)
  const why = typeof blockReasonMessage === 'string' ? `: ${blockReasonMessage}` : ''
  return {
    errorCode,
    errorMessage: `Gemini refused what it was asked (${errorCode})${why}. ${cureOf(errorCode)}`.trim(),
  }
}

/** What ended the answer before it was one; undefined when it is one. */
export function finishError(
  reason: string | undefined,
  parts: readonly Part[],
  message: unknown,
): FinishError | undefined {
  if (reason === undefined || GOOD.has(reason)) return undefined
  if (CUT.has(reason) && parts.some((part) => !part.thought)) return undefined // the reason tells that it is cut
  const why = typeof message === 'string' && message !== '' ? `: ${message}` : ''
  return {
    errorCode: reason,
    errorMessage: `Gemini stopped before it was done (${reason})${why}. ${cureOf(reason)}`.trim(),
  }
}

const GOOD = new Set(['STOP', 'FINISH_REASON_UNSPECIFIED'])
const CUT = new Set(['MAX_TOKENS', 'CONTINUATION'])

function cureOf(reason: string): string {
  if (reason.includes('SAFETY')) return cures.SAFETY ?? ''
  return cures[reason] ?? ''
}

const cures: Readonly<Record<string, string>> = {
  SAFETY: 'A safety filter did not let it through; safetySettings in generateContentConfig set what they let through.',
  RECITATION: 'It would have recited a source at length; ask for something of its own.',
  LANGUAGE: 'It does not know the language.',
  BLOCKLIST: 'A word on a list is not let through.',
  PROHIBITED_CONTENT: 'Such content is never let through.',
  SPII: 'It may hold personal data that is not let through.',
  MAX_TOKENS: 'All its tokens went into thinking: raise maxOutputTokens, or lower thinkingConfig.',
  MALFORMED_FUNCTION_CALL:
    'It wrote a call that cannot be read; asking again often helps, and so do simpler parameters.',
  UNEXPECTED_TOOL_CALL: 'It called a tool that it was not given; say in the instruction which ones there are.',
  TOO_MANY_TOOL_CALLS: 'It called its own tools too many times in a row.',
  JAILBREAK: 'It was taken for an attempt to get around the rules.',
  MODEL_ARMOR: 'Model Armor did not let it through.',
}
