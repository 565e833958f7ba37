import type { CheckedAuthConfig } from './check-auth-config.ts'

/** The scopes to request: those of the configuration, else of its scheme, else of its raw credential. */
export function requestedScopes(
  config: CheckedAuthConfig,
  flow: OAuthFlowName = 'authorizationCode',
): readonly string[] {
  const { scopes, authScheme, rawAuthCredential } = config
  if (scopes) return scopes
  const ofScheme = scopesOfScheme(authScheme, flow)
  if (ofScheme.length) return ofScheme
  return rawAuthCredential?.oauth2?.scopes ?? rawAuthCredential?.serviceAccount?.scopes ?? []
}

/** The flows of `oauth2`. */
export type OAuthFlowName = 'authorizationCode' | 'clientCredentials'

function scopesOfScheme(scheme: CheckedAuthConfig['authScheme'], flow: OAuthFlowName): readonly string[] {
  if (scheme.type === 'openIdConnect') return scheme.scopes ?? []
  return scheme.type === 'oauth2' ? Object.keys(scheme.flows[flow]?.scopes ?? {}) : []
}
