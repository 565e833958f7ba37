import { MAX_REPLY_BYTES } from '../../../core/base/limits.ts'
import { unreachable } from '../../../core/base/unreachable.ts'
import type { Failure } from './failure.ts'

/** What a request contained, as far as it explains a failure. */
export interface RequestSummary {
  /** Name of the model. */
  readonly model: string
  /** Whether the request went to Vertex AI. */
  readonly isVertex: boolean
  /** Names of the server tools in the request. */
  readonly serverTools: readonly string[]
  /** Whether the request declared functions. */
  readonly hasFunctions: boolean
}

/** The error message for a failure: what failed, why, and what to do. */
export function failureMessage(
  failure: Failure,
  request: RequestSummary,
  end: { attempts: number; hasOutput: boolean; waitMs?: number | undefined },
): string {
  const { attempts, hasOutput, waitMs } = end
  const tries = attempts > 1 ? ` after ${attempts} attempts` : ''
  const wait = waitMs === undefined ? '' : ` Retry after ${Math.ceil(waitMs / 1000)} s.`
  const service = request.isVertex ? 'Vertex AI' : 'Gemini'
  const model = `"${request.model}"`
  switch (failure.kind) {
    case 'rejected':
      return `${rejectionMessage(failure, request, service, tries)}${wait}`
    case 'unreachable':
      return hasOutput
        ? `The reply of ${model} was cut off: the connection was lost (${failure.detail}).`
        : `${service} cannot be reached${tries}: ${failure.detail}`
    case 'cut-off':
      return `The reply of ${model} was cut off${tries}: the stream ended without a finish reason.`
    case 'malformed':
      return `${model} sent a reply that could not be parsed: ${failure.detail}`
    case 'empty':
      return `${model} sent an empty reply${tries}: ${failure.detail}. Send the message again, add another model with fallback(), or handle the error in onModelError.`
    case 'invalid-call':
      return `${model} wrote an invalid function call${tries} (${failure.reason}): ${failure.detail}`
    case 'invalid-reply':
      return `${model} wrote an invalid reply${tries} (${failure.reason}): ${failure.detail}`
    case 'too-large':
      return `The reply of ${model} has more than ${MAX_REPLY_BYTES} bytes and was not used. Limit its output, for example with maxOutputTokens.`
    case 'timed-out':
      return `${model} did not reply in time${tries}. Raise timeoutMs of gemini().`
    case 'not-sent':
      return `The request to ${model} could not be sent: ${failure.detail}`
    default:
      return unreachable(failure.kind)
  }
}

function rejectionMessage(failure: Failure, request: RequestSummary, service: string, tries: string): string {
  const { status = 0, reason, detail } = failure
  const code = reason === undefined || reason === String(status) ? `${status}` : `${status} ${reason}`
  const why = `(${code}: ${detail})`
  if (isKeyRejected(failure)) return rejectedKeyMessage(service, why, request)
  if (status === 404) return unknownModelMessage(service, why, request)
  if (status === 429) return `${service} received too many requests${tries} ${why}`
  if (status >= 500 || status === 408) return `${service} failed${tries} ${why}`
  return `${service} rejected the request ${why}${mixedToolsAdvice(failure, request)}${signatureAdvice(detail)}`
}

function isKeyRejected({ status, details, detail }: Failure): boolean {
  if (status === 401 || status === 403) return true
  return (
    status === 400 && (details.some(({ reason }) => reason === 'API_KEY_INVALID') || /API key not valid/i.test(detail))
  )
}

function rejectedKeyMessage(service: string, why: string, { isVertex }: RequestSummary): string {
  return isVertex
    ? `${service} rejected the credentials ${why}. Sign in with "gcloud auth application-default login", and check GOOGLE_CLOUD_PROJECT and its permissions.`
    : `${service} rejected the API key ${why}. Check GEMINI_API_KEY, GOOGLE_API_KEY or the apiKey option.`
}

function unknownModelMessage(service: string, why: string, { model, isVertex }: RequestSummary): string {
  return isVertex
    ? `${service} has no model "${model}" in this project and location ${why}. Check the model name, the project and the location.`
    : `${service} has no model "${model}" for this API key ${why}. Check the model name.${aliasAdvice(model)}`
}

/** Version 3 of `@google/genai` uses the API version v1, which has no names such as `gemini-flash-latest`. */
function aliasAdvice(model: string): string {
  return model.endsWith('-latest') ? " Names that end in -latest need gemini(name, { apiVersion: 'v1beta' })." : ''
}

function mixedToolsAdvice({ status, detail }: Failure, { model, serverTools, hasFunctions }: RequestSummary): string {
  const isMixed = serverTools.length > 1 || (serverTools.length > 0 && hasFunctions)
  if (status !== 400 || !isMixed || !/tool|function/i.test(detail)) return ''
  const others = hasFunctions ? 'function tools' : 'each other'
  return ` ${serverTools.join(', ')} cannot be combined with ${others} on "${model}". Use Gemini 3 or newer, move each of them to an agent of its own with agentTool(), or pass { capabilities: { serverToolsWithFunctions: false } } to gemini() to move them automatically.`
}

function signatureAdvice(detail: string): string {
  if (!/thought.?signature/i.test(detail)) return ''
  return ' Thought signatures are only valid for the model, key and location that created them. Start a new session after you change one of these.'
}
