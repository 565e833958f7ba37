// What is stored about a consent. A row is untrusted: a row with a wrong shape counts as absent.
import { isRecord } from '../../../core/base/json.ts'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { failureText, quoteKey, reportProblem } from '../auth-failure.ts'
import { consentKeyOf, deleteRecord, loadRecord, saveRecord } from '../auth-records.ts'
import type { AuthServices } from '../auth-services.ts'
import { type CheckedAuthConfig, checkAuthConfig } from '../config/check-auth-config.ts'

/** The outcome of an answer whose `state` matches. */
export type ConsentOutcome =
  | { readonly status: 'stored'; readonly key: string }
  | { readonly status: 'failed'; readonly reason: string }

/** A consent that waits for its answer. */
export interface OpenConsent {
  /** Tells it from a used consent. */
  readonly type: 'open'
  /** Compared with the `state` of the answer. */
  readonly state: string
  /** The PKCE verifier, sent with the code. */
  readonly codeVerifier: string
  /** The redirect URI in the authorization URL. */
  readonly redirectUri: string | undefined
  /** The key under which the tokens are stored. */
  readonly key: string
  /** The server's own configuration, with the client secret. */
  readonly config: CheckedAuthConfig
  /** When the consent was opened, in milliseconds since the epoch. */
  readonly createdAt: number
  /** When the consent can no longer be answered, in milliseconds since the epoch. */
  readonly expiresAt: number
}

/** A consent that was answered. It has no outcome until its code is exchanged. The verifier and the configuration are gone. */
export interface UsedConsent extends Pick<OpenConsent, 'state' | 'redirectUri'> {
  /** Tells it from an open consent. */
  readonly type: 'used'
  /** When the consent can no longer be answered. Missing in rows of earlier versions. */
  readonly expiresAt?: number
  /** When the answer came, in milliseconds since the epoch. */
  readonly usedAt: number
  /** The digest of the answer. */
  readonly answer: string
  /** The outcome of the exchange. Missing while the exchange runs, or if its process died. */
  readonly outcome?: ConsentOutcome
}

/** A consent and the generation of its row. */
interface StoredConsent {
  /** The consent. */
  readonly consent: OpenConsent | UsedConsent
  /** The generation of its row. */
  readonly generation: number
}

/** Loads a consent. Undefined if there is none, or its row has a wrong shape. Throws STORAGE. */
export async function loadConsent(services: AuthServices, id: string): Promise<StoredConsent | undefined> {
  const row = await loadRecord(services, consentKeyOf(id))
  if (!row) return undefined
  const consent = readConsent(row.credential)
  if (consent) return { consent, generation: row.generation }
  reportProblem(services, `The stored consent ${quoteKey(id)} is ignored: its row has a wrong shape.`)
  return undefined
}

/** Saves a consent. Returns its generation, or undefined if the stored generation is another one. Throws STORAGE. */
export function saveConsent(
  services: AuthServices,
  stored: { id: string; consent: OpenConsent | UsedConsent; expectedGeneration?: number | undefined },
): Promise<number | undefined> {
  return saveRecord(services, {
    key: consentKeyOf(stored.id),
    credential: { authType: 'consent', custom: { ...stored.consent } },
    expectedGeneration: stored.expectedGeneration,
  })
}

/** Deletes what is stored about a consent, after its answer is recorded. A failure is reported. */
export async function forgetConsent(services: AuthServices, id: string): Promise<void> {
  try {
    await deleteRecord(services, { key: consentKeyOf(id) })
  } catch (error) {
    reportProblem(services, `The consent ${quoteKey(id)} was not deleted. ${failureText(error)}`)
  }
}

function readConsent(credential: unknown): OpenConsent | UsedConsent | undefined {
  if (!isRecord(credential) || credential.authType !== 'consent' || !isRecord(credential.custom)) return undefined
  const { type, state, redirectUri } = credential.custom
  if (!isText(state) || !(redirectUri === undefined || isText(redirectUri))) return undefined
  if (type === 'open') {
    const { codeVerifier, key, config, createdAt, expiresAt } = credential.custom
    if (!isText(codeVerifier) || !isText(key) || !isNumber(createdAt) || !isNumber(expiresAt)) return undefined
    const checked = readConfig(config)
    return checked && { type, state, codeVerifier, redirectUri, key, config: checked, createdAt, expiresAt }
  }
  const { usedAt, answer, outcome, expiresAt } = credential.custom
  if (type !== 'used' || !isText(answer) || !isNumber(usedAt)) return undefined
  const known = readOutcome(outcome)
  return {
    type,
    state,
    redirectUri,
    usedAt,
    answer,
    ...(isNumber(expiresAt) && { expiresAt }),
    ...(known && { outcome: known }),
  }
}

/** The client secret is sent to these endpoints, so they are checked again. */
function readConfig(config: unknown): CheckedAuthConfig | undefined {
  try {
    return checkAuthConfig(config as AuthConfig, 'a stored consent')
  } catch {
    return undefined
  }
}

function readOutcome(outcome: unknown): ConsentOutcome | undefined {
  if (!isRecord(outcome)) return undefined
  const { status, key, reason } = outcome
  if (status === 'stored' && isText(key)) return { status, key }
  return status === 'failed' && isText(reason) ? { status, reason } : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
