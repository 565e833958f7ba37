import { encodeBase64 } from '../../../core/base/base64.ts'
import { isRecord } from '../../../core/base/json.ts'
import { messageOf } from '../../../core/error/error.ts'
import { AuthError } from '../auth-error.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { originOf } from '../config/endpoint.ts'
import { requestedScopes } from '../config/requested-scopes.ts'
import { importPrivateKey, signText } from './private-key.ts'
import { readTokens, type Tokens } from './read-tokens.ts'
import { fetchJson, type TokenHttp } from './token-fetch.ts'

const GOOGLE_TOKEN_URI = 'https://oauth2.googleapis.com/token'

/** How long the signed JWT is valid, and the token if the server does not say. */
const LIFE_SECONDS = 3600

/** Exchanges a signed JWT for an access token, or for an id token if the account has a `targetAudience`. Throws AuthError. */
export async function requestServiceAccountToken(http: TokenHttp, config: CheckedAuthConfig): Promise<Tokens> {
  const account = config.rawAuthCredential?.serviceAccount
  if (!account) throw new AuthError('There is no service account. Set rawAuthCredential.serviceAccount.')
  const { tokenUri = GOOGLE_TOKEN_URI, targetAudience, clientEmail, privateKeyId } = account
  const now = http.ports.now()
  const issuedAt = Math.floor(now / 1000)
  const purpose =
    targetAudience === undefined ? { scope: requestedScopes(config).join(' ') } : { target_audience: targetAudience }
  const header = { alg: 'RS256', typ: 'JWT', ...(privateKeyId !== undefined && { kid: privateKeyId }) }
  const claims = { iss: clientEmail, aud: tokenUri, iat: issuedAt, exp: issuedAt + LIFE_SECONDS, ...purpose }
  const assertion = await signJwt(header, claims, account.privateKey)
  const response = await fetchJson(http, tokenUri, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' },
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString(),
  })
  const server = originOf(tokenUri)
  const tokens = readTokens({ expires_in: LIFE_SECONDS, ...response }, { now, server })
  if (targetAudience === undefined) return withToken(tokens, 'accessToken', server)
  const expiresAt = expiryOfJwt(tokens.idToken) ?? tokens.expiresAt
  return withToken({ ...tokens, ...(expiresAt !== undefined && { expiresAt }) }, 'idToken', server)
}

function withToken(tokens: Tokens, name: 'accessToken' | 'idToken', server: string): Tokens {
  if (tokens[name] !== undefined) return tokens
  const kind = name === 'accessToken' ? 'access token' : 'id token'
  throw new AuthError(`The token response of ${server} has no ${kind}. Check tokenUri, scopes and targetAudience.`)
}

async function signJwt(header: object, claims: object, privateKey: string): Promise<string> {
  const text = `${encodeJson(header)}.${encodeJson(claims)}`
  try {
    return `${text}.${encodeBase64Url(new Uint8Array(await signText(await importPrivateKey(privateKey), text)))}`
  } catch (error) {
    throw new AuthError(`The request of the service account could not be signed: ${messageOf(error)}`)
  }
}

function encodeJson(value: object): string {
  return encodeBase64Url(new TextEncoder().encode(JSON.stringify(value)))
}

function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** `exp` of a JWT, which says when to request a new one. The API that gets the JWT checks its signature. */
function expiryOfJwt(jwt: string | undefined): number | undefined {
  try {
    const payload = jwt?.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? ''
    const claims: unknown = JSON.parse(atob(payload))
    return isRecord(claims) && Number.isFinite(claims.exp) ? Number(claims.exp) : undefined
  } catch {
    return undefined
  }
}
