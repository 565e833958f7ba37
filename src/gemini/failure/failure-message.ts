// A failure in plain words, with what to do about it.
import { MAX_REPLY_BYTES } from '../../base/limits.ts'
import { unreachable } from '../../base/unreachable.ts'
import type { Failure } from './failure.ts'

/** What was asked, as far as it explains a refusal. */
export interface RequestSummary {
  readonly model: string
  readonly isVertex: boolean
  /** Names of the server-side tools in the request. */
  readonly serverTools: readonly string[]
  readonly hasFunctions: boolean
}

export function failureMessage(
  failure: Failure,
  asked: RequestSummary,
  end: { attempts: number; hasBegun: boolean; waitMs?: number | undefined },
): string {
  const { attempts, hasBegun, waitMs } = end
  const tries = attempts > 1 ? ` after ${attempts} attempts` : ''
  const wait = waitMs === undefined ? '' : ` It asks to wait ${Math.ceil(waitMs / 1000)} s.`
  const who = asked.isVertex ? 'Vertex AI' : 'Gemini'
  const what = `"${asked.model}"`
  switch (failure.kind) {
    case 'refused':
      return `${rejectionMessage(failure, asked, who, tries)}${wait}`
    case 'unreachable':
      return hasBegun
        ? `The answer of ${what} was cut off: the connection was lost (${failure.detail}).`
        : `${who} cannot be reached${tries}: ${failure.detail}`
    case 'broken':
      return `The answer of ${what} was cut off${tries}: the stream ended before it was finished.`
    case 'malformed':
      return `${what} sent an answer that makes no sense: ${failure.detail}`
    case 'empty':
      return `${what} finished its reply${tries} without saying anything: ${failure.detail}. Send the message again, put another model behind it with fallback(), or answer in onModelError.`
    case 'bad-call':
      return `${what} wrote a function call that cannot be run${tries} (${failure.reason}): ${failure.detail}`
    case 'too-large':
      return `The reply of ${what} has more than ${MAX_REPLY_BYTES} bytes and was not read to its end. Limit its output, for example with maxOutputTokens.`
    case 'late':
      return `${what} did not answer in time${tries}. A longer time is set with timeoutMs.`
    case 'unsent':
      return `${what} could not be asked: ${failure.detail}`
    default:
      return unreachable(failure.kind)
  }
}

function rejectionMessage(failure: Failure, asked: RequestSummary, who: string, tries: string): string {
  const { status = 0, reason, detail } = failure
  const code = reason === undefined || reason === String(status) ? `${status}` : `${status} ${reason}`
  if (isKeyRejected(failure)) return `${who} refused the ${keyAdvice(asked.isVertex)} (${code}: ${detail})`
  if (status === 404) return `${who} has no model "${asked.model}" ${notFoundAdvice(asked)} (${code}: ${detail})`
  if (status === 429) return `${who} has had too many requests${tries} (${code}: ${detail})`
  if (status >= 500 || status === 408) return `${who} failed${tries} (${code}: ${detail})`
  return `${who} refused the request (${code}: ${detail})${mixedToolsAdvice(failure, asked)}${signatureAdvice(detail)}`
}

function isKeyRejected({ status, details, detail }: Failure): boolean {
  if (status === 401 || status === 403) return true
  return (
    status === 400 && (details.some(({ reason }) => reason === 'API_KEY_INVALID') || /API key not valid/i.test(detail))
  )
}

function keyAdvice(isVertex: boolean): string {
  return isVertex
    ? 'credentials: sign in (gcloud auth application-default login), and check GOOGLE_CLOUD_PROJECT and its permissions'
    : 'key: check GEMINI_API_KEY, GOOGLE_API_KEY or the apiKey option, whichever is set'
}

function notFoundAdvice({ isVertex }: RequestSummary): string {
  return isVertex ? 'in this project and location: check all three' : 'for this key: check its name'
}

function mixedToolsAdvice({ status, detail }: Failure, { model, serverTools, hasFunctions }: RequestSummary): string {
  const isMixed = serverTools.length > 1 || (serverTools.length > 0 && hasFunctions)
  if (status !== 400 || !isMixed || !/tool|function/i.test(detail)) return ''
  const beside = hasFunctions ? 'beside function tools' : 'beside each other'
  return ` ${serverTools.join(', ')} cannot stand ${beside} on "${model}": take a model that can (Gemini 3 or newer), give each an agent of its own with agentTool(), or say capabilities: { serverToolsWithFunctions: false } in the options of gemini() and the framework does that.`
}

function signatureAdvice(detail: string): string {
  if (!/thought.?signature/i.test(detail)) return ''
  return ' Thought signatures are good for the model, the key and the place they came from: start a new session after changing one of them.'
}
