import { withTimeout } from '../../../core/base/with-timeout.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { AuthError } from '../auth-error.ts'
import { failureText, quoteKey, reportProblem } from '../auth-failure.ts'
import type { AuthServices } from '../auth-services.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { digestOf, isSameSecret } from '../digest.ts'
import { forgetRefusedClient } from '../stored/forget-client.ts'
import { LOCK_MS, REQUEST_MS, waitForLock } from '../stored/refresh-lock.ts'
import { saveTokens } from '../stored/save-tokens.ts'
import { tokenCredential } from '../stored/stored-credential.ts'
import { exchangeCode } from '../tokens/oauth-tokens.ts'
import { type ConsentOutcome, loadConsent, type OpenConsent, saveConsent, type UsedConsent } from './consent-record.ts'
import { CONSENT_MS } from './open-consent.ts'
import type { ConsentAnswer } from './read-consent-answer.ts'

/** An answer to a consent. */
interface AnsweredConsent {
  /** The id of the consent. */
  readonly id: string
  /** What the client answered. */
  readonly answer: ConsentAnswer
  /** Redirect URIs that the client may have used instead of the requested one. Compared exactly. */
  readonly allowedRedirectUris: readonly string[]
  /** Returns the configuration of the exchange, or throws to refuse the answer. Default: the stored configuration. */
  chooseConfig?(stored: CheckedAuthConfig): CheckedAuthConfig
}

/**
 * Completes a consent: compares `state`, checks the redirect URI and `iss`, exchanges the code and stores the tokens. The
 * state is used once. Throws NOT_FOUND for an unknown consent, INVALID_REQUEST for a wrong `state` or redirect URI (the
 * consent stays open), EXPIRED after 10 minutes, also if the process of an earlier answer died, ALREADY_ANSWERED until then for
 * another answer to a used consent, STORAGE if the store fails before the consent is used. The same answer again returns the same outcome.
 */
export async function completeOpenConsent(services: AuthServices, consent: AnsweredConsent): Promise<ConsentOutcome> {
  const { id, answer } = consent
  const digest = await digestOf(answer.code, answer.state, answer.error)
  for (let waited = 0; waited < LOCK_MS; waited += await waitForLock(services)) {
    const found = await loadConsent(services, id)
    if (!found) throw new ToolwrightError('NOT_FOUND', `There is no open consent ${quoteKey(id)}. Ask the user again.`)
    await checkAnswer(consent, found.consent)
    if (found.consent.type === 'open') {
      const outcome = await answerOpen(services, consent, { open: found.consent, generation: found.generation, digest })
      if (outcome) return outcome
      continue // another answer was first: its outcome follows
    }
    const { answer: first, outcome, usedAt, expiresAt = usedAt + CONSENT_MS } = found.consent
    // its process died, before the exchange or before it recorded the outcome: without this no other answer ever counts
    const isLost = first !== digest || !outcome
    if (isLost && services.ports.now() >= expiresAt) throw expiredConsent(id)
    if (first !== digest) {
      throw new ToolwrightError('ALREADY_ANSWERED', `The consent ${quoteKey(id)} already has a different answer.`)
    }
    if (outcome) return outcome
    if (services.ports.now() - usedAt >= LOCK_MS) break
  }
  return { status: 'failed', reason: 'The exchange of the authorization code was interrupted. Ask the user again.' }
}

function expiredConsent(id: string): ToolwrightError {
  return new ToolwrightError('EXPIRED', `The consent ${quoteKey(id)} has expired. Ask the user again.`)
}

async function checkAnswer(
  { id, answer, allowedRedirectUris }: AnsweredConsent,
  { state, redirectUri }: OpenConsent | UsedConsent,
): Promise<void> {
  const refuse = (why: string): never => {
    throw new ToolwrightError('INVALID_REQUEST', `The answer to the consent ${quoteKey(id)} ${why}`)
  }
  if (answer.state === undefined) refuse('has no state. Send the whole callback URL, or code and state.')
  if (!(await isSameSecret(answer.state ?? '', state))) refuse('has a wrong state. Send the answer to this request.')
  if (answer.code === undefined && answer.error === undefined) refuse('has no code. Send the whole callback URL.')
  const { redirectUri: used } = answer
  if (used === undefined || used === redirectUri || allowedRedirectUris.includes(used)) return
  refuse('has another redirect URI than the requested one. Add the redirect URI to allowedRedirectUris.')
}

interface OpenState {
  readonly open: OpenConsent
  readonly generation: number
  readonly digest: string
}

/** Uses an open consent. Undefined if another answer has used it first. */
async function answerOpen(
  services: AuthServices,
  consent: AnsweredConsent,
  { open, generation, digest }: OpenState,
): Promise<ConsentOutcome | undefined> {
  const { id } = consent
  const usedAt = services.ports.now()
  if (usedAt >= open.expiresAt) throw expiredConsent(id)
  const config = consent.chooseConfig?.(open.config) ?? open.config
  const { state, redirectUri, expiresAt } = open
  const used: UsedConsent = { type: 'used', state, redirectUri, expiresAt, usedAt, answer: digest }
  // Marked before the exchange: a code that is sent twice makes the server end its tokens.
  const usedGeneration = await saveConsent(services, { id, consent: used, expectedGeneration: generation })
  if (usedGeneration === undefined) return undefined
  const outcome = await exchangeAnswer(services, consent.answer, { ...open, config })
  if (outcome.status === 'failed') reportProblem(services, `The consent ${quoteKey(id)} failed. ${outcome.reason}`)
  try {
    await saveConsent(services, { id, consent: { ...used, outcome }, expectedGeneration: usedGeneration })
  } catch (error) {
    reportProblem(services, `The outcome of the consent ${quoteKey(id)} was not stored. ${failureText(error)}`)
  }
  return outcome
}

async function exchangeAnswer(
  services: AuthServices,
  answer: ConsentAnswer,
  open: OpenConsent,
): Promise<ConsentOutcome> {
  const { code, iss, error } = answer
  if (error !== undefined || code === undefined) {
    return { status: 'failed', reason: `The authorization server returned ${plainError(error)} instead of a code.` }
  }
  const { key, config, codeVerifier } = open
  const redirectUri = answer.redirectUri ?? open.redirectUri
  try {
    const exchange = exchangeCode(services, config, { code, iss, codeVerifier, redirectUri })
    const tokens = await withTimeout(exchange, REQUEST_MS, services.ports, () => {
      throw new AuthError(`The token request took longer than ${REQUEST_MS} ms.`)
    })
    await saveTokens(services, { key, credential: tokenCredential(config, tokens, { now: services.ports.now() }) })
    return { status: 'stored', key }
  } catch (error) {
    await forgetRefusedClient(services, config, error)
    return { status: 'failed', reason: `No token was stored for ${quoteKey(key)}. ${failureText(error)}` }
  }
}

/** The error code of a callback. It comes from the client, so it is shown only if it looks like a code. */
function plainError(error: string | undefined): string {
  return error !== undefined && /^[\w.-]{1,60}$/.test(error) ? `the error ${error}` : 'an error'
}
