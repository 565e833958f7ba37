import type { AuthConfig, AuthCredential } from '../../../core/content/auth.ts'
import { applyCredential } from '../../../services/auth/apply-credential.ts'
import { checkAuthConfig } from '../../../services/auth/config/check-auth-config.ts'

/** The bearer token of a credential. Undefined for an API key, or a user name with a password. */
export function tokenOf({ oauth2, http }: AuthCredential): string | undefined {
  return oauth2?.accessToken ?? http?.credentials.token
}

/** The headers that carry a credential. `McpToolset` refuses an API key in the query. */
export function headersOf(authConfig: AuthConfig, credential: AuthCredential): Record<string, string> {
  return Object.fromEntries(authorize(new URL(ANY_ORIGIN), authConfig, credential).headers)
}

const ANY_ORIGIN = 'https://mcp.invalid'

function authorize(url: URL, authConfig: AuthConfig, credential: AuthCredential): Request {
  const { authScheme } = checkAuthConfig(authConfig, 'the MCP server')
  return applyCredential(new Request(url), { authScheme, credential, origin: url.origin })
}
