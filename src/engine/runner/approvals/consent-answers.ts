// Answers to credential requests. The code is exchanged before the answer is recorded or posted: neither the log nor the
// inbox ever holds a code.

import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Content, FunctionResponse, Part } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { declinedIn, REPEATED } from '../../../core/event/decision.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { CREDENTIAL_ID_PREFIX, REQUEST_NAMES } from '../../../core/event/request-names.ts'
import type { AuthServices } from '../../../services/auth/auth-services.ts'
import { completeOpenConsent } from '../../../services/auth/consent/complete-open-consent.ts'
import { readConsentAnswer } from '../../../services/auth/consent/read-consent-answer.ts'
import { findDeleted } from '../../../services/session/find-deleted.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import type { RunServices } from '../run-services.ts'

/** Answers without codes, and the error of a consent that came too late. */
interface ConsentAnswers {
  /** The message with the outcome of each consent instead of its code. */
  readonly message: Content
  /** A consent has expired: the call makes a new request, then the caller gets this error. */
  readonly expired: ToolwrightError | undefined
}

/**
 * Completes the consents that a message answers. One consent answers all requests of its invocation for the same credential.
 * Throws if an answer is unusable or its `state` is wrong: then nothing is stored and the request stays open.
 */
export async function completeConsents(
  key: SessionKey,
  message: Content,
  services: RunServices,
): Promise<ConsentAnswers> {
  const now = services.ports.now() / 1000
  const pending = await services.sessionService.pending(key)
  const isOpen = ({ expiresAt = Infinity }: PendingRequest): boolean => now < expiresAt
  const parts: Part[] = []
  let expired: ToolwrightError | undefined
  for (const part of message.parts) {
    const answer = part.functionResponse
    const request = answer && findRequest(pending, answer)
    if (!answer || !isForCredential(answer, request)) {
      parts.push(part)
      continue
    }
    const isPending = request?.kind === 'credential'
    const outcome = isPending ? await completeOne(key, request, answer.response, services) : undefined
    if (!isPending || !outcome) {
      parts.push(lateAnswer(answer))
      continue
    }
    if (outcome.status === 'expired') expired = expiredError(request)
    const others = outcome.status === 'authorized' ? pending.filter((one) => isSame(one, request) && isOpen(one)) : []
    for (const { id } of new Set([request, ...others])) parts.push(outcomePart(id, outcome))
  }
  return { message: { ...message, parts: uniqueParts(parts) }, expired }
}

function findRequest(pending: readonly PendingRequest[], { id }: FunctionResponse): PendingRequest | undefined {
  const byId = pending.find((request) => request.id === id)
  const ofCall = byId ? [byId] : pending.filter(({ functionCallId }) => functionCallId === id)
  return ofCall.length === 1 ? ofCall[0] : undefined
}

/** Does the answer belong to a credential request, pending or not? */
function isForCredential(answer: FunctionResponse, request: PendingRequest | undefined): boolean {
  if (!request) return isCredentialAnswer(answer)
  if (request.kind === 'credential') return true
  // by the id of the call, a late answer would answer the next request, or be the result of the call
  return answer.name === REQUEST_NAMES.credential && answer.id === request.functionCallId
}

/** Is it an answer to a credential request? The result of a long-running call may have a `code` too, but no `state`. */
function isCredentialAnswer({ id, name, response }: FunctionResponse): boolean {
  if (name === REQUEST_NAMES.credential || id?.startsWith(CREDENTIAL_ID_PREFIX)) return true
  return readConsentAnswer(toObject(response))?.state !== undefined
}

/** An answer to a credential request that is not pending, without its code. It repeats the recorded answer, or is refused. */
function lateAnswer({ id = '', response }: FunctionResponse): Part {
  return outcomePart(id, declineOf(toObject(response)) ?? { status: REPEATED })
}

function declineOf(sent: JsonObject): JsonObject | undefined {
  const declined = declinedIn(sent)
  return declined && { declined: true, ...(declined.reason !== undefined && { reason: declined.reason }) }
}

function toObject(response: unknown): JsonObject {
  return isRecord(response) ? response : { result: response }
}

/** The outcome to record. Undefined if the request was answered meanwhile. */
async function completeOne(
  key: SessionKey,
  request: PendingRequest,
  response: unknown,
  services: RunServices,
): Promise<JsonObject | undefined> {
  const sent = toObject(response)
  const declined = declineOf(sent)
  if (declined) return declined
  const answer = readConsentAnswer(sent)
  if (!answer) {
    const expected = '{ authResponseUri } with the URL that the provider redirected to, or { code, state }'
    throw new ToolwrightError(
      'INVALID_REQUEST',
      `The answer to credential request "${request.id}" is unusable. Send ${expected}.`,
    )
  }
  const { credentialService, sessionService, auth, allowedRedirectUris } = services
  const { appName, userId } = key
  const isUserDeleted = async (): Promise<boolean> => (await findDeleted(sessionService, key)) === 'user'
  const authServices: AuthServices = { appName, userId, credentialService, isUserDeleted, ...auth }
  try {
    const outcome = await completeOpenConsent(authServices, { id: request.id, answer, allowedRedirectUris })
    return outcome.status === 'stored' ? { status: 'authorized' } : { status: 'failed', error: outcome.reason }
  } catch (error) {
    const isLost = error instanceof ToolwrightError && (error.code === 'EXPIRED' || error.code === 'NOT_FOUND')
    if (!isLost) throw error
    // The consent is gone: it was used, so that the request has its answer, or it was lost, and the request can have no answer.
    const isPending = (await sessionService.pending(key)).some(({ id }) => id === request.id)
    return isPending ? { status: 'expired' } : undefined
  }
}

function isSame(one: PendingRequest, { kind, key, invocationId }: PendingRequest): boolean {
  return one.kind === kind && one.key === key && one.invocationId === invocationId
}

function outcomePart(id: string, response: JsonObject): Part {
  return { functionResponse: { id, name: REQUEST_NAMES.credential, response } }
}

/**
 * Removes repeated answers. A client may answer each of several requests for one credential: the first answer counts
 * for all.
 */
function uniqueParts(parts: readonly Part[]): Part[] {
  const seen = new Set<string>()
  return parts.filter(({ functionResponse: answer }) => {
    if (answer?.name !== REQUEST_NAMES.credential) return true
    if (seen.has(answer.id ?? '')) return false
    seen.add(answer.id ?? '')
    return true
  })
}

function expiredError({ id }: PendingRequest): ToolwrightError {
  return new ToolwrightError(
    'EXPIRED',
    `The consent of credential request "${id}" has expired. A new request takes its place: see runner.pending().`,
  )
}
