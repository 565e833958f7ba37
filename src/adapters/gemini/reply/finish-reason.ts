// Errors for replies that Gemini did not end normally.
import type { JsonObject } from '../../../core/base/json.ts'
import { clip } from '../../../core/base/limits.ts'
import type { Part } from '../../../core/content/content.ts'
import { type FailureKind, UnusableReply } from '../failure/failure.ts'

/** The error fields of a response. */
interface FinishError {
  /** The finish reason or block reason. */
  readonly errorCode: string
  /** What happened and what to do. */
  readonly errorMessage: string
}

/** The error for a prompt that Gemini blocked. */
export function blockedPromptError({ blockReason, blockReasonMessage }: JsonObject): FinishError {
  const errorCode = String(blockReason)
  const why = typeof blockReasonMessage === 'string' ? `: ${blockReasonMessage}` : ''
  return {
    errorCode,
    errorMessage: `Gemini blocked the prompt (${errorCode})${why}. ${adviceFor(errorCode)}`.trim(),
  }
}

/** The error for a reply that ended early. Undefined when the reply can be used. */
export function finishError(
  reason: string | undefined,
  parts: readonly Part[],
  message: unknown,
): FinishError | undefined {
  if (reason === undefined || NORMAL_REASONS.has(reason)) return undefined
  if (CUT_OFF_REASONS.has(reason) && parts.some((part) => part.functionCall)) return cutOffCallError(reason)
  if (CUT_OFF_REASONS.has(reason) && parts.some((part) => !part.thought)) return undefined // a cut-off text is usable: the response has the finish reason
  const why = typeof message === 'string' && message !== '' ? `: ${message}` : ''
  return {
    errorCode: reason,
    errorMessage: `Gemini ended its reply early (${reason})${why}. ${adviceFor(reason)}`.trim(),
  }
}

/** The error for cut-off function calls. No call runs: it is unknown which arguments are complete. */
function cutOffCallError(reason: string): FinishError {
  const errorMessage = `Gemini ended its reply before its function calls were complete (${reason}). None of them was run. Raise maxOutputTokens in generateContentConfig, or ask for less at once.`
  return { errorCode: reason, errorMessage }
}

/** Throws when a finished reply is empty or invalid, or has an invalid function call. */
export function checkFinishedReply(reason: string | undefined, parts: readonly Part[], message: unknown): void {
  const kind = reason === undefined ? undefined : INVALID_REASONS.get(reason)
  if (reason !== undefined && kind) {
    const why = typeof message === 'string' && message !== '' ? `${clip(message, 1_000)} ` : ''
    throw new UnusableReply(kind, `${why}${adviceFor(reason)}`, reason)
  }
  if ((reason !== undefined && !NORMAL_REASONS.has(reason)) || parts.some(isVisible)) return
  const has = parts.some((part) => part.thought) ? 'only thoughts, no text and no call' : 'no text and no call'
  throw new UnusableReply('empty', `it has ${has} (${reason ?? 'no finish reason'})`, reason)
}

/** Whether a part is neither a thought nor an empty text with a signature. */
function isVisible(part: Part): boolean {
  return !part.thought && part.text !== ''
}

const NORMAL_REASONS = new Set(['STOP', 'FINISH_REASON_UNSPECIFIED'])
const CUT_OFF_REASONS = new Set(['MAX_TOKENS', 'CONTINUATION'])
const INVALID_REASONS: ReadonlyMap<string, FailureKind> = new Map([
  ['MALFORMED_FUNCTION_CALL', 'invalid-call'],
  ['UNEXPECTED_TOOL_CALL', 'invalid-call'],
  ['MALFORMED_RESPONSE', 'invalid-reply'],
])

function adviceFor(reason: string): string {
  if (reason.includes('SAFETY')) return ADVICE.SAFETY ?? ''
  return ADVICE[reason] ?? ''
}

const ADVICE: Readonly<Record<string, string>> = {
  SAFETY: 'A safety filter blocked it. Adjust safetySettings in generateContentConfig.',
  RECITATION: 'The reply would have quoted a source at length. Ask for a summary instead.',
  LANGUAGE: 'The model does not support the language.',
  BLOCKLIST: 'It contains a blocked term.',
  PROHIBITED_CONTENT: 'It contains prohibited content. This filter cannot be changed.',
  SPII: 'It may contain sensitive personal data.',
  MAX_TOKENS:
    'The model used all its tokens for thinking. Raise maxOutputTokens, or lower the budget in thinkingConfig.',
  MALFORMED_FUNCTION_CALL: 'The call could not be parsed. Try again, or simplify the parameters of the tool.',
  MALFORMED_RESPONSE: 'The reply could not be parsed. Try again, or ask for a simpler one.',
  UNEXPECTED_TOOL_CALL:
    'The model called a tool that the request does not declare. List the available tools in the instruction.',
  TOO_MANY_TOOL_CALLS: 'The model called its server tools too many times in a row.',
  JAILBREAK: 'The prompt was classified as a jailbreak attempt.',
  MODEL_ARMOR: 'Model Armor blocked it.',
}
