import type { AuthConfig, AuthScheme, OAuthFlow } from '../../../core/content/auth.ts'
import type { AuthorizationRequest } from '../tokens/oauth-tokens.ts'
import type { CheckedAuthConfig } from './check-auth-config.ts'

/** The configuration of a consent as the client sees it: with the authorization URL and `state`, without secrets. */
export function clientAuthConfig(
  config: CheckedAuthConfig,
  consent: { readonly key: string; readonly request: AuthorizationRequest },
): AuthConfig {
  const { authUri, state, redirectUri } = consent.request
  const optional = { ...(redirectUri !== undefined && { redirectUri }) }
  const { rawAuthCredential: raw, ...shown } = withoutSecrets(config)
  return {
    ...shown,
    credentialKey: consent.key,
    rawAuthCredential: { authType: config.authScheme.type, oauth2: { ...raw?.oauth2, ...optional } },
    exchangedAuthCredential: { authType: config.authScheme.type, oauth2: { authUri, state, ...optional } },
  }
}

/** A configuration with known members only: without the client secret, tokens, codes, and the queries of endpoints. */
export function withoutSecrets(config: AuthConfig): AuthConfig {
  const { authScheme, provider, scopes, resource, credentialKey, rawAuthCredential: raw } = config
  const { clientId, redirectUri, scopes: rawScopes } = raw?.oauth2 ?? {}
  return {
    ...(authScheme && { authScheme: clientScheme(authScheme) }),
    ...(provider !== undefined && { provider }),
    ...(scopes !== undefined && { scopes: [...scopes] }),
    ...(resource !== undefined && { resource }),
    ...(credentialKey !== undefined && { credentialKey }),
    ...(raw && {
      rawAuthCredential: {
        authType: raw.authType,
        oauth2: {
          ...(clientId !== undefined && { clientId }),
          ...(redirectUri !== undefined && { redirectUri }),
          ...(rawScopes !== undefined && { scopes: [...rawScopes] }),
        },
      },
    }),
  }
}

/** The scheme as it is printed: without the queries of endpoints and without the data of custom schemes. */
export function shownScheme(scheme: AuthScheme): object {
  if (scheme.type === 'oauth2' || scheme.type === 'openIdConnect') return clientScheme(scheme)
  return scheme.type === 'custom' ? { type: scheme.type, name: scheme.name } : scheme
}

function clientScheme(scheme: AuthScheme): AuthScheme {
  if (scheme.type === 'openIdConnect') {
    const { type, openIdConnectUrl, scopes } = scheme
    return { type, openIdConnectUrl: withoutQuery(openIdConnectUrl), ...(scopes && { scopes: [...scopes] }) }
  }
  if (scheme.type !== 'oauth2') return { type: 'oauth2', flows: {} }
  const { authorizationCode, clientCredentials } = scheme.flows
  return {
    type: 'oauth2',
    flows: {
      ...(authorizationCode && { authorizationCode: clientFlow(authorizationCode) }),
      ...(clientCredentials && { clientCredentials: clientFlow(clientCredentials) }),
    },
    ...(scheme.issuer !== undefined && { issuer: scheme.issuer }),
  }
}

function clientFlow({ authorizationUrl, tokenUrl, refreshUrl, scopes }: OAuthFlow): OAuthFlow {
  return {
    ...(authorizationUrl !== undefined && { authorizationUrl: withoutQuery(authorizationUrl) }),
    tokenUrl: withoutQuery(tokenUrl),
    ...(refreshUrl !== undefined && { refreshUrl: withoutQuery(refreshUrl) }),
    ...(scopes && { scopes: { ...scopes } }),
  }
}

/** The client does not call these URLs, and some servers take an API key in the query. */
function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return ''
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
