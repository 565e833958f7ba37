import type { AuthConfig, AuthScheme, OAuthFlow } from '../content/auth.ts'
import type { CheckedAuthConfig } from './check-auth-config.ts'
import type { AuthorizationRequest } from './oauth-tokens.ts'

/**
 * The configuration of a consent as the client sees it: known members only, without the client secret, tokens, codes, and
 * the queries of token endpoints.
 */
export function clientAuthConfig(
  config: CheckedAuthConfig,
  consent: { readonly key: string; readonly request: AuthorizationRequest },
): AuthConfig {
  const { provider, scopes, rawAuthCredential: raw } = config
  const { authUri, state, redirectUri } = consent.request
  const authType = config.authScheme.type
  const { clientId, scopes: rawScopes } = raw?.oauth2 ?? {}
  const optional = { ...(redirectUri !== undefined && { redirectUri }) }
  return {
    authScheme: clientScheme(config.authScheme),
    ...(provider !== undefined && { provider }),
    ...(scopes !== undefined && { scopes: [...scopes] }),
    credentialKey: consent.key,
    rawAuthCredential: {
      authType,
      oauth2: {
        ...(clientId !== undefined && { clientId }),
        ...optional,
        ...(rawScopes !== undefined && { scopes: [...rawScopes] }),
      },
    },
    exchangedAuthCredential: { authType, oauth2: { authUri, state, ...optional } },
  }
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
