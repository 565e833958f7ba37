import { AuthError } from '../../../services/auth/auth-error.ts'

/** The error about a server that refused a request and publishes nothing about OAuth: most likely it wants a key. */
export function noOAuth(serverUrl: URL): AuthError {
  return new AuthError(
    `The MCP server ${serverUrl.origin} answered with status 401 (Unauthorized) and publishes no OAuth metadata. Set its key in connection.headers, or in headers for a key of each user, or its credential in auth, and check the value.`,
  )
}
