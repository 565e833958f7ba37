import { AuthError } from '../auth-error.ts'

/**
 * Error codes that may appear in messages: those of RFC 6749, RFC 8628 and OpenID Connect, and those of known providers.
 * Another code is not shown, because a server could put anything into it. `true`: the code or the refresh token is no
 * longer valid.
 */
const CODES: ReadonlyMap<string, boolean> = new Map([
  ['invalid_grant', true],
  ['interaction_required', true],
  ['login_required', true],
  ['consent_required', true],
  ['bad_verification_code', true], // GitHub
  ['bad_refresh_token', true],
  ['invalid_code', true], // Slack
  ['code_already_used', true],
  ['code_expired', true],
  ['invalid_refresh_token', true],
  ['token_revoked', true],
  ['invalid_request', false],
  ['invalid_client', false],
  ['invalid_scope', false],
  ['invalid_target', false],
  ['unauthorized_client', false],
  ['unsupported_grant_type', false],
  ['access_denied', false],
  ['server_error', false],
  ['temporarily_unavailable', false],
  ['slow_down', false],
  ['incorrect_client_credentials', false], // GitHub
  ['redirect_uri_mismatch', false],
  ['unverified_user_email', false],
  ['bad_client_secret', false], // Slack
  ['invalid_client_id', false],
  ['bad_redirect_uri', false],
  ['ratelimited', false],
])

/** The error for a response that refuses a request. `code` is the `error` of the response. */
export function serverError(server: string, status: number, code: string | undefined): AuthError {
  const isFinal = code !== undefined && CODES.get(code) === true
  const shown = code !== undefined && CODES.has(code) ? ` "${code}"` : ''
  return new AuthError(
    `The authorization server ${server} refused the request${shown} (status ${status}). ${cureOf(status, code)}`,
    { isFinal, isClientRefused: code === 'invalid_client' || code === 'unauthorized_client' },
  )
}

function cureOf(status: number, code: string | undefined): string {
  if (code !== undefined && CODES.get(code) === true) return 'A new consent is needed.'
  if (code === 'invalid_scope') return 'Check the scopes.'
  if (
    code === 'invalid_client' ||
    code === 'incorrect_client_credentials' ||
    code === 'bad_client_secret' ||
    status === 401
  )
    return 'Check clientId and clientSecret.'
  if (status === 429 || status >= 500 || code === 'slow_down' || code === 'ratelimited') return 'Try again later.'
  return 'Check the configuration of the client at the authorization server.'
}
