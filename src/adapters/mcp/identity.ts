// The identity of a connection: which user it acts for, and with which credential.

import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import { ToolError } from '../../core/error/error.ts'
import type { ReadonlyContext, ToolContext } from '../../engine/context/context.ts'
import { checkAuthConfig } from '../../services/auth/config/check-auth-config.ts'
import { credentialKeyOf } from '../../services/auth/config/credential-key.ts'
import { SHARED } from './connection/connection-pool.ts'
import type { HttpConnection, McpToolsetOptions } from './mcp-toolset-options.ts'
import { headersOf } from './oauth/auth-headers.ts'
import { discoverAuth } from './oauth/discover-auth.ts'

/** The user of a context. */
export function userKeyOf({ invocation: { appName, userId } }: ReadonlyContext): string {
  return JSON.stringify([appName, userId])
}

/** What is known about the credential of one user. */
interface UserCredential {
  /** What the server wants; undefined until it has refused a request. */
  config: AuthConfig | undefined
  /** The credential that was sent last. */
  credential: AuthCredential | undefined
}

/** The credentials of more users are resolved again when they are needed. */
const MAX_USERS = 1_000

const NONE: Readonly<Record<string, string>> = {}

/** The credentials of a toolset: those of its `auth` option, or those its server asks for. */
export class Identities {
  readonly #options: McpToolsetOptions
  readonly #users: Map<string, UserCredential> = new Map()
  /** The `auth` option, if it says how the server authenticates its callers. */
  readonly fixed: AuthConfig | undefined
  #isPerUser: boolean

  constructor(options: McpToolsetOptions) {
    const { auth, headers, connection } = options
    this.#options = options
    this.fixed = connection.type !== 'stdio' && (auth?.authScheme || auth?.provider !== undefined) ? auth : undefined
    this.#isPerUser = auth !== undefined || headers !== undefined
  }

  /** Do all requests have the same headers? Then there is nothing to resolve for a call. */
  get isPlain(): boolean {
    return !this.#isPerUser
  }

  /** The key of the connection for a context. Users share a connection until the server wants a credential. */
  connectionKey(context: ReadonlyContext): string {
    return this.#isPerUser ? userKeyOf(context) : SHARED
  }

  /** Sets the credential that the framework has resolved for a listing or a call. */
  use(context: ReadonlyContext): void {
    if (context.authCredential) this.#userOf(context).credential = context.authCredential
  }

  /** The headers of a request. */
  async headers(context: ReadonlyContext): Promise<Readonly<Record<string, string>>> {
    const { connection, headers } = this.#options
    const fixed = connection.type === 'stdio' ? undefined : connection.headers
    if (this.isPlain) return fixed ?? NONE
    return { ...fixed, ...(await headers?.(context)), ...this.#credentialHeaders(context) }
  }

  #credentialHeaders(context: ReadonlyContext): Record<string, string> {
    const { config = this.fixed, credential } = this.#userOf(context)
    return config && credential ? headersOf(config, credential) : {}
  }

  /** Finds out which credential the server wants, after it has refused a request. */
  async refused(context: ReadonlyContext, challenge: string | undefined, signal?: AbortSignal): Promise<AuthConfig> {
    const { auth, clientMetadata, connection } = this.#options
    // only a server over HTTP refuses requests
    const { url, fetch, allowPrivateAuthorizationServer: allowPrivate } = connection as HttpConnection
    const user = this.#userOf(context)
    this.#isPerUser = true
    user.config = await discoverAuth({
      serverUrl: new URL(url),
      challenge,
      credential: user.credential,
      auth,
      context,
      fetch,
      allowPrivate,
      clientMetadata,
      signal,
    })
    return user.config
  }

  /**
   * Resolves the credential for a call, if the server wants one. Returns false after a request to the user: the call waits.
   * Throws AUTH_FAILED if there is no credential. With `isRefused`, the credential of the gate is not used again.
   */
  async authorize(context: ToolContext, isRefused: boolean): Promise<boolean> {
    if (this.isPlain) return true
    if (!isRefused) this.use(context)
    const user = this.#userOf(context)
    if (!user.config || (this.fixed && !isRefused)) return true
    const config = checkAuthConfig(user.config, `MCP server`)
    const key = await credentialKeyOf(config)
    const outcome = await context.getCredential(key, config)
    if (outcome.status === 'failed') throw new ToolError(outcome.reason, { code: 'AUTH_FAILED' })
    if (outcome.status === 'needs-auth') {
      context.requestCredential(key, config)
      return false
    }
    user.credential = outcome.credential
    return true
  }

  #userOf(context: ReadonlyContext): UserCredential {
    const key = userKeyOf(context)
    let user = this.#users.get(key)
    if (!user) {
      user = { config: undefined, credential: undefined }
      const [oldest] = this.#users.keys()
      if (this.#users.size >= MAX_USERS && oldest !== undefined) this.#users.delete(oldest)
      this.#users.set(key, user)
    }
    return user
  }
}
