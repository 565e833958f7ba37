// Does the raw credential of a configuration fit its scheme? A tool whose credential can never work fails when it is built.
import type { AuthConfig, AuthCredential, AuthScheme } from '../../../core/content/auth.ts'
import { checkOptions, oneOf } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { checkRequired } from './check-auth-scheme.ts'

/** Throws INVALID_CONFIG if the raw credential is missing, is of another type than the scheme, or is incomplete. */
export function checkCredentialFits(what: string, scheme: AuthScheme, config: AuthConfig): void {
  if (scheme.type === 'custom') return
  const raw = config.rawAuthCredential
  if (raw) checkRaw(`${what}.rawAuthCredential`, scheme, { ...config, rawAuthCredential: raw })
  else checkMayBeMissing(what, scheme, config)
}

function checkRaw(at: string, scheme: AuthScheme, config: AuthConfig & { rawAuthCredential: AuthCredential }): void {
  const raw = config.rawAuthCredential
  checkOptions(at, { authType: raw.authType }, { authType: oneOf(scheme.type) })
  if (scheme.type === 'http') checkHttp(at, scheme.scheme, raw)
  else if (scheme.type === 'serviceAccount') checkServiceAccount(at, raw, config)
  else if (scheme.type !== 'apiKey') checkClient(at, scheme, raw)
  else if (config.credentialKey === undefined) checkRequired(at, raw, ['apiKey'])
}

/** An app may store API keys and passwords itself, under `credentialKey`. */
function checkMayBeMissing(what: string, scheme: AuthScheme, { credentialKey }: AuthConfig): void {
  const isSimple = scheme.type === 'apiKey' || scheme.type === 'http'
  if (isSimple && credentialKey !== undefined) return
  const cure = isSimple ? 'Set it, or set credentialKey to the key under which the app stores it.' : CURES[scheme.type]
  throw new ToolwrightError('INVALID_CONFIG', `${what}: rawAuthCredential is missing. ${cure}`)
}

const CURES: { readonly [type: string]: string } = {
  oauth2: `Set it to { authType: 'oauth2', oauth2: { clientId, clientSecret } }.`,
  openIdConnect: `Set it to { authType: 'openIdConnect', oauth2: { clientId, clientSecret } }.`,
  serviceAccount: `Set it to { authType: 'serviceAccount', serviceAccount: { clientEmail, privateKey, scopes } }.`,
}

function checkHttp(at: string, scheme: 'basic' | 'bearer', raw: AuthCredential): void {
  checkRequired(at, raw, ['http'])
  const http = raw.http as NonNullable<AuthCredential['http']>
  checkOptions(`${at}.http`, { scheme: http.scheme }, { scheme: oneOf(scheme) })
  checkRequired(`${at}.http.credentials`, http.credentials, scheme === 'basic' ? ['username', 'password'] : ['token'])
}

function checkServiceAccount(at: string, raw: AuthCredential, config: AuthConfig): void {
  checkRequired(at, raw, ['serviceAccount'])
  const account = raw.serviceAccount as NonNullable<AuthCredential['serviceAccount']>
  checkRequired(`${at}.serviceAccount`, account, ['clientEmail', 'privateKey'])
  if (account.targetAudience !== undefined || account.scopes?.length || config.scopes?.length) return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `${at}.serviceAccount: scopes and targetAudience are missing. Set scopes for an access token, or targetAudience for an id token.`,
  )
}

function checkClient(at: string, scheme: AuthScheme, raw: AuthCredential): void {
  checkRequired(at, raw, ['oauth2'])
  const isOwnClient = scheme.type === 'oauth2' && !scheme.flows.authorizationCode
  const secret = raw.oauth2?.privateKey === undefined ? 'clientSecret' : 'privateKey'
  checkRequired(`${at}.oauth2`, raw.oauth2 ?? {}, isOwnClient ? ['clientId', secret] : ['clientId'])
}
