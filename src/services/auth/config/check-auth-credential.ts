import { isRecord } from '../../../core/base/json.ts'
import type { AuthCredential } from '../../../core/content/auth.ts'
import {
  checkOptions,
  name,
  type OptionRules,
  oneOf,
  type Rule,
  record,
  text,
} from '../../../core/error/check-options.ts'
import { PEM_FORMAT, pemProblem } from '../tokens/private-key.ts'
import { checkRequired, scopeList } from './check-auth-scheme.ts'
import { endpoint } from './endpoint.ts'

const secret: Rule = {
  expects: 'a string without line breaks that is not empty',
  accepts: (value) => typeof value === 'string' && value !== '' && !/[\r\n\0]/.test(value),
  hint: (value) =>
    value === '' ? 'It is empty. If it comes from an environment variable, set the variable.' : undefined,
}

const redirectUri: Rule = {
  expects: 'an absolute URL without a fragment',
  accepts: (value) => typeof value === 'string' && URL.canParse(value) && isRedirectTarget(new URL(value)),
  hint: () => 'Set it to the redirect URI that is registered at the provider.',
}

const privateKey: Rule = {
  expects: PEM_FORMAT,
  accepts: (value) => typeof value === 'string' && pemProblem(value) === undefined,
  hint: (value) => (typeof value === 'string' ? pemProblem(value) : undefined),
}

const codeVerifier: Rule = {
  expects: '43 to 128 letters, digits, "-", ".", "_" or "~" (RFC 7636)',
  accepts: (value) => typeof value === 'string' && /^[\w.~-]{43,128}$/.test(value),
  hint: () => 'It is the code_verifier of the authorization request, not its code_challenge.',
}

const seconds: Rule = {
  expects: 'a number of seconds since 1970',
  accepts: (value) => typeof value === 'number' && Number.isFinite(value),
}

const CREDENTIAL_RULES: OptionRules<AuthCredential> = {
  authType: name,
  apiKey: secret,
  http: record,
  oauth2: record,
  serviceAccount: record,
  custom: record,
}

type HttpCredential = NonNullable<AuthCredential['http']>

const HTTP_RULES: OptionRules<HttpCredential> = { scheme: name, credentials: record }

const USER_RULES: OptionRules<HttpCredential['credentials']> = {
  username: {
    expects: 'a user name without a colon',
    accepts: (value) => secret.accepts(value) && !String(value).includes(':'),
    hint: () => 'Basic authentication separates the user name from the password by a colon.',
  },
  password: text,
  token: secret,
}

const OAUTH2_RULES: OptionRules<NonNullable<AuthCredential['oauth2']>> = {
  clientId: secret,
  clientSecret: secret,
  privateKey,
  tokenEndpointAuthMethod: oneOf('client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'),
  issuer: endpoint,
  authUri: text,
  state: text,
  redirectUri,
  authResponseUri: text,
  authCode: secret,
  codeVerifier,
  accessToken: secret,
  refreshToken: secret,
  idToken: secret,
  expiresAt: seconds,
  scopes: scopeList,
}

const SERVICE_ACCOUNT_RULES: OptionRules<NonNullable<AuthCredential['serviceAccount']>> = {
  clientEmail: secret,
  privateKey,
  privateKeyId: secret,
  tokenUri: endpoint,
  scopes: scopeList,
  targetAudience: secret,
}

/** Throws INVALID_CONFIG if a credential has an unknown member or a member of the wrong kind. */
export function checkAuthCredential(what: string, credential: AuthCredential): void {
  checkOptions(what, credential, CREDENTIAL_RULES)
  checkRequired(what, credential, ['authType'])
  const { http, oauth2, serviceAccount } = credential
  if (http) {
    checkOptions(`${what}.http`, http, HTTP_RULES)
    checkRequired(`${what}.http`, http, ['scheme', 'credentials'])
    if (isRecord(http.credentials)) checkOptions(`${what}.http.credentials`, http.credentials, USER_RULES)
  }
  if (oauth2) checkOptions(`${what}.oauth2`, oauth2, OAUTH2_RULES)
  if (serviceAccount) checkOptions(`${what}.serviceAccount`, serviceAccount, SERVICE_ACCOUNT_RULES)
}

/** Can a browser be sent back there? */
function isRedirectTarget(url: URL): boolean {
  return url.hash === '' && url.username === '' && !['javascript:', 'data:', 'blob:', 'file:'].includes(url.protocol)
}
