// Stored credentials are untrusted: another version, another program or a damaged file may have written them.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { AuthCredential, AuthScheme } from '../../../core/content/auth.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { type OAuthFlowName, requestedScopes } from '../config/requested-scopes.ts'
import type { Tokens } from '../tokens/oauth-tokens.ts'

/** Reads a stored credential of a scheme. Undefined if it has another type or a wrong shape. Unknown members are dropped. */
export function readStoredCredential(value: unknown, scheme: AuthScheme): AuthCredential | undefined {
  if (!isRecord(value) || typeof value.authType !== 'string') return undefined
  switch (scheme.type) {
    case 'apiKey':
      return value.authType === 'apiKey' && isText(value.apiKey)
        ? { authType: 'apiKey', apiKey: value.apiKey }
        : undefined
    case 'http':
      return value.authType === 'http' ? readHttp(value.http, scheme.scheme) : undefined
    case 'custom':
      return readCustom(value)
    default:
      return value.authType === 'oauth2' || value.authType === 'openIdConnect' ? readTokens(value) : undefined
  }
}

/** Reads the credential of an exchanger. Its times are checked, because they decide when the exchanger is called again. */
export function readCustom(value: unknown): AuthCredential | undefined {
  if (!isRecord(value) || !isText(value.authType) || RECORD_TYPES.has(value.authType)) return undefined
  if (value.oauth2 !== undefined && !(isRecord(value.oauth2) && isTime(value.oauth2.expiresAt))) return undefined
  if (value.custom !== undefined && !(isRecord(value.custom) && isTime(value.custom.expiresAt))) return undefined
  // The members of a custom credential belong to its exchanger.
  return value as unknown as AuthCredential
}

/**
 * The credential of new tokens. `custom` remembers when they were issued, to know half their life, and what they were
 * issued for. A refresh keeps the requested scopes of `previous`: it cannot add one.
 */
export function tokenCredential(
  config: CheckedAuthConfig,
  tokens: Tokens,
  { now, previous, flow }: { now: number; previous?: AuthCredential | undefined; flow?: OAuthFlowName },
): AuthCredential {
  const { authScheme } = config
  const issuer = authScheme.type === 'oauth2' ? authScheme.issuer : undefined
  const requested = previous ? previous.custom?.requestedScopes : requestedScopes(config, flow)
  const { accessToken, refreshToken, idToken, expiresAt, scopes } = tokens
  return {
    authType: authScheme.type === 'openIdConnect' ? 'openIdConnect' : 'oauth2',
    oauth2: {
      ...(accessToken !== undefined && { accessToken }),
      ...(refreshToken !== undefined && { refreshToken }),
      ...(idToken !== undefined && { idToken }),
      ...(expiresAt !== undefined && { expiresAt }),
      ...(scopes !== undefined && { scopes }),
    },
    custom: {
      issuedAt: now / 1000,
      ...(issuer !== undefined && { issuer }),
      ...(config.resource !== undefined && { resource: config.resource }),
      ...(isTexts(requested) && requested.length > 0 && { requestedScopes: requested }),
    },
  }
}

/** Was a stored token issued by the known issuer of the configuration, for its resource and for all required scopes? */
export function isTokenFor(config: CheckedAuthConfig, credential: AuthCredential): boolean {
  const { oauth2, custom } = credential
  const { authScheme, resource, requiredScopes = [] } = config
  const issuer = authScheme.type === 'oauth2' ? authScheme.issuer : undefined
  if (issuer !== undefined && custom?.issuer !== issuer) return false
  if (resource !== undefined && custom?.resource !== resource) return false
  const scopes = new Set([...requestedScopesOf(credential), ...(oauth2?.scopes ?? [])])
  return requiredScopes.every((scope) => scopes.has(scope))
}

/** The scopes with which a stored token was requested. */
export function requestedScopesOf({ custom }: AuthCredential): readonly string[] {
  return isTexts(custom?.requestedScopes) ? custom.requestedScopes : []
}

/** When a credential must be refreshed and when it expires, in seconds. Infinity if it never expires. */
export function timesOf(
  credential: AuthCredential,
  refreshBuffer: number,
): { readonly refreshAt: number; readonly expiresAt: number } {
  const expiresAt = timeOf(credential.oauth2?.expiresAt) ?? timeOf(credential.custom?.expiresAt)
  if (expiresAt === undefined) return { refreshAt: Infinity, expiresAt: Infinity }
  const life = Math.max(0, expiresAt - (timeOf(credential.custom?.issuedAt) ?? -Infinity))
  return { refreshAt: life > refreshBuffer ? expiresAt - refreshBuffer : expiresAt - life / 2, expiresAt }
}

/** The types of records that are not credentials. */
const RECORD_TYPES: ReadonlySet<string> = new Set(['consent', 'refreshLock', 'oauthClient'])

function readHttp(http: unknown, scheme: 'basic' | 'bearer'): AuthCredential | undefined {
  if (!isRecord(http) || http.scheme !== scheme || !isRecord(http.credentials)) return undefined
  const { username, password, token } = http.credentials
  if (!isText(scheme === 'basic' ? username : token)) return undefined
  const credentials = {
    ...(isText(username) && { username }),
    ...(typeof password === 'string' && { password }),
    ...(isText(token) && { token }),
  }
  return { authType: 'http', http: { scheme, credentials } }
}

function readTokens({ authType, oauth2, custom }: JsonObject): AuthCredential | undefined {
  if (!isRecord(oauth2)) return undefined
  const { accessToken, refreshToken, idToken, expiresAt, scopes } = oauth2
  if (!isText(accessToken) && !isText(idToken)) return undefined
  if (![accessToken, refreshToken, idToken].every((token) => token === undefined || isText(token))) return undefined
  if (!isTime(expiresAt)) return undefined
  const known = isRecord(custom) ? custom : {}
  const { issuer, resource, requestedScopes } = known
  const issuedAt = timeOf(known.issuedAt)
  const issued = {
    ...(issuedAt !== undefined && { issuedAt }),
    ...(isText(issuer) && { issuer }),
    ...(isText(resource) && { resource }),
    ...(isTexts(requestedScopes) && { requestedScopes }),
  }
  return {
    authType: String(authType),
    oauth2: {
      ...(isText(accessToken) && { accessToken }),
      ...(isText(refreshToken) && { refreshToken }),
      ...(isText(idToken) && { idToken }),
      ...(typeof expiresAt === 'number' && { expiresAt }),
      ...(Array.isArray(scopes) && { scopes: scopes.filter(isText) }),
    },
    ...(Object.keys(issued).length > 0 && { custom: issued }),
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

/** Is it a time, or missing? */
function isTime(value: unknown): boolean {
  return value === undefined || timeOf(value) !== undefined
}

function timeOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
