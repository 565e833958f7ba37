// Known OAuth providers, as data. An explicit `authScheme` replaces the endpoints of a provider.
import type { AuthScheme } from '../../../core/content/auth.ts'

/** What is special about a provider. */
interface Provider {
  /** Where the user consents. */
  readonly authorizationUrl: string
  /** Where codes are exchanged and tokens are refreshed. */
  readonly tokenUrl: string
  /** Parameters that the authorization URL gets, for example to receive a refresh token. */
  readonly authorizationParameters?: Readonly<Record<string, string>>
  /** What separates the scopes of the authorization URL. Default: a space. */
  readonly scopeSeparator?: string
  /** What separates the scopes of a token response. Default: a space. */
  readonly grantedScopeSeparator?: string
  /** How the client authenticates. Default: `client_secret_basic`. */
  readonly clientAuthentication?: 'client_secret_post'
}

const PROVIDERS: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  [
    'google',
    {
      authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
      tokenUrl: 'https://oauth2.googleapis.com/token',
      authorizationParameters: { access_type: 'offline', prompt: 'consent' }, // else there is no refresh token
    },
  ],
  [
    'github',
    {
      authorizationUrl: 'https://github.com/login/oauth/authorize',
      tokenUrl: 'https://github.com/login/oauth/access_token',
      grantedScopeSeparator: ',',
      clientAuthentication: 'client_secret_post',
    },
  ],
  [
    'microsoft',
    {
      authorizationUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
      tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
      clientAuthentication: 'client_secret_post',
    },
  ],
  [
    'slack',
    {
      authorizationUrl: 'https://slack.com/oauth/v2/authorize',
      tokenUrl: 'https://slack.com/api/oauth.v2.access',
      scopeSeparator: ',',
      grantedScopeSeparator: ',',
    },
  ],
  [
    'atlassian',
    {
      authorizationUrl: 'https://auth.atlassian.com/authorize',
      tokenUrl: 'https://auth.atlassian.com/oauth/token',
      authorizationParameters: { audience: 'api.atlassian.com', prompt: 'consent' },
      clientAuthentication: 'client_secret_post',
    },
  ],
  [
    'salesforce',
    {
      authorizationUrl: 'https://login.salesforce.com/services/oauth2/authorize',
      tokenUrl: 'https://login.salesforce.com/services/oauth2/token',
      clientAuthentication: 'client_secret_post',
    },
  ],
])

/** The names of the known providers. */
export const PROVIDER_NAMES: readonly string[] = [...PROVIDERS.keys()]

/** A known provider. Undefined for another name. */
export function findProvider(name: string | undefined): Provider | undefined {
  return name === undefined ? undefined : PROVIDERS.get(name)
}

/** The scheme of a provider: the authorization code flow with its endpoints. */
export function schemeOfProvider({ authorizationUrl, tokenUrl }: Provider): AuthScheme {
  return { type: 'oauth2', flows: { authorizationCode: { authorizationUrl, tokenUrl } } }
}
