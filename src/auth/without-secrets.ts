import type { AuthConfig, AuthCredential } from '../content/auth.ts'

/** The configuration as clients may see it: schemes, the client id, scopes and redirect URI. */
export function withoutSecrets(config: AuthConfig): AuthConfig {
  const { authScheme, provider, scopes, credentialKey, rawAuthCredential } = config
  return {
    ...(authScheme && { authScheme }),
    ...(provider !== undefined && { provider }),
    ...(scopes && { scopes }),
    ...(credentialKey !== undefined && { credentialKey }),
    ...(rawAuthCredential && { rawAuthCredential: publicCredential(rawAuthCredential) }),
  }
}

function publicCredential({ authType, oauth2 }: AuthCredential): AuthCredential {
  const { clientId, redirectUri, scopes } = oauth2 ?? {}
  return {
    authType,
    ...(oauth2 && {
      oauth2: {
        ...(clientId !== undefined && { clientId }),
        ...(redirectUri !== undefined && { redirectUri }),
        ...(scopes && { scopes }),
      },
    }),
  }
}
