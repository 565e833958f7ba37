import type { CheckedAuthConfig } from './check-auth-config.ts'

/** The key under which tokens are stored: `credentialKey`, else a digest of scheme, client, provider and scopes. */
export function credentialKeyOf(_config: CheckedAuthConfig): Promise<string> {
  throw new Error('not implemented')
}
