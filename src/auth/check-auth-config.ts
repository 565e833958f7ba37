import type { AuthConfig, AuthScheme } from '../content/auth.ts'

/** A valid configuration: the endpoints of its provider are filled in. */
export type CheckedAuthConfig = AuthConfig & { readonly authScheme: AuthScheme }

/** Checks a configuration and fills in the endpoints of its provider. Throws INVALID_CONFIG with what to change. `owner` names the tool or toolset in the error. */
export function checkAuthConfig(_config: AuthConfig, _owner: string): CheckedAuthConfig {
  throw new Error('not implemented')
}
