import { kindOf } from '../../core/base/kind-of.ts'
import type { AuthCredential } from '../../core/content/auth.ts'
import { AuthError } from './auth-error.ts'
import { failureText, quoteKey, reportFailure, reportProblem } from './auth-failure.ts'
import { type AuthRecord, isReservedKey, loadRecord } from './auth-records.ts'
import type { AuthServices } from './auth-services.ts'
import type { CheckedAuthConfig } from './config/check-auth-config.ts'
import { requestOnce } from './stored/refresh-token.ts'
import { isTokenFor, readStoredCredential } from './stored/stored-credential.ts'
import { type CredentialNeed, canAskUser, codeSource, ownSource } from './stored/token-sources.ts'
import { useStoredToken } from './stored/use-stored-token.ts'

/** The outcome of resolving a credential. */
export type CredentialOutcome =
  | { readonly status: 'ready'; readonly credential: AuthCredential }
  | { readonly status: 'needs-auth' }
  | { readonly status: 'failed'; readonly reason: string }

/** Options of `getCredential`. */
export interface CredentialOptions {
  /** The redirect URI of the authorization code in the raw credential. */
  readonly redirectUri?: string | undefined
  /** Seconds before expiry at which a token is refreshed. Default 300. */
  readonly refreshBuffer?: number | undefined
  /** Sends token requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
}

const REFRESH_BUFFER = 300
/** How often a credential is loaded again after another writer has changed it. */
const MAX_ROUNDS = 5

/**
 * Resolves a credential: a simple raw credential, else the stored token (refreshed when needed), else a code exchange, else
 * client credentials or a service account, else `needs-auth`. Never throws for a failed request: the outcome is `failed`.
 */
export async function resolveCredential(
  services: AuthServices,
  key: string,
  config: CheckedAuthConfig,
  options: CredentialOptions = {},
): Promise<CredentialOutcome> {
  const raw = simpleCredential(config)
  if (raw) return { status: 'ready', credential: raw }
  const { refreshBuffer = REFRESH_BUFFER, redirectUri } = options
  const need = { services: withFetch(services, options.fetch), key, config, redirectUri }
  try {
    if (isReservedKey(key)) throw new AuthError('The key has a reserved prefix. Use another key.')
    if (!(refreshBuffer >= 0 && refreshBuffer < Infinity)) {
      throw new AuthError(`refreshBuffer must be a number of seconds >= 0, got ${kindOf(refreshBuffer)}.`)
    }
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const outcome = await resolveOnce(need, refreshBuffer)
      if (outcome !== 'changed') return outcome
    }
    throw new AuthError('Other writers kept changing the stored credential. Try again.')
  } catch (error) {
    const reason = `The credential ${quoteKey(key)} could not be resolved. ${failureText(error)}`
    reportFailure(services, reason, error)
    return { status: 'failed', reason }
  }
}

function simpleCredential({ authScheme, rawAuthCredential: raw }: CheckedAuthConfig): AuthCredential | undefined {
  // The raw credential of a custom scheme is the input of its exchanger.
  if (!raw || authScheme.type === 'custom') return undefined
  const isSimple = (raw.authType === 'apiKey' && raw.apiKey) || (raw.authType === 'http' && raw.http)
  return isSimple ? raw : undefined
}

async function resolveOnce(need: CredentialNeed, refreshBuffer: number): Promise<Resolved> {
  const { services, key, config } = need
  const row = await loadRecord(services, key)
  const stored = row && readStoredCredential(row.credential, config.authScheme)
  if (row && !stored) {
    const { type } = config.authScheme
    reportProblem(services, `The stored credential ${quoteKey(key)} is ignored: it is no valid ${type} credential.`)
  }
  // A token of another authorization server, or without a required scope, is neither used nor refreshed.
  if (row && stored && isTokenFor(config, stored)) {
    const credential = await useStoredToken(need, { row, stored, refreshBuffer })
    if (credential === 'changed') return credential
    return credential ? { status: 'ready', credential } : await resolveNew(need, undefined)
  }
  return await resolveNew(need, row)
}

/** An outcome, or `changed` if another writer has changed the stored credential: it is loaded again. */
type Resolved = CredentialOutcome | 'changed'

/** Requests a credential when none is stored. */
async function resolveNew(need: CredentialNeed, row: AuthRecord | undefined): Promise<Resolved> {
  const { services, key, config } = need
  const code = codeSource(need)
  for (const request of [code, ownSource(need, undefined)]) {
    if (!request) continue
    const result = await requestOnce(services, { key, seen: row, waits: true, request })
    if (result.type === 'failed') throw result.error
    if (result.type === 'stored') return { status: 'ready', credential: result.credential }
    if (result.type !== 'none' || request !== code) return 'changed'
  }
  if (canAskUser(config)) return { status: 'needs-auth' }
  throw new AuthError(
    `No credential is stored for its ${config.authScheme.type} scheme. Set rawAuthCredential, or save a credential with credentialService.save() under the key ${quoteKey(key)}.`,
  )
}

function withFetch(services: AuthServices, fetch: CredentialOptions['fetch']): AuthServices {
  if (!fetch) return services
  const report = (problem: string): void => services.report?.(problem)
  const isUserDeleted = async (): Promise<boolean> => (await services.isUserDeleted?.()) ?? false
  return { ...services, fetch, report, isUserDeleted }
}
