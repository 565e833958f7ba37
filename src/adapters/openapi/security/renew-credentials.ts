import type { AuthCredential } from '../../../core/content/auth.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { ToolContext } from '../../../engine/context/context.ts'
import { authServicesOf } from '../../../engine/context/credentials.ts'
import { hostOf } from '../../../engine/context/host-of.ts'
import { checkAuthConfig } from '../../../services/auth/config/check-auth-config.ts'
import { credentialKeyOf } from '../../../services/auth/config/credential-key.ts'
import { endRefusedToken, isSameToken } from '../../../services/auth/stored/refused-token.ts'
import type { SecurityConfig } from './choose-security.ts'

/** What follows from a refused call. */
type Renewal =
  /** The call can be sent with these credentials, in the order of the configurations. */
  | { readonly type: 'renewed'; readonly credentials: readonly AuthCredential[] }
  /** The user is asked: the call waits. */
  | { readonly type: 'waiting' }
  /** No stored token was refused. */
  | { readonly type: 'unchanged' }

/**
 * Ends the stored tokens of a call that the API answered with 401, and resolves new ones: a token may be revoked before it
 * expires. Throws AUTH_FAILED if there is no new token.
 */
export async function renewCredentials(context: ToolContext, configs: readonly SecurityConfig[]): Promise<Renewal> {
  const host = hostOf(context)
  if (!host?.credentialService) return { type: 'unchanged' }
  const credentials = [...context.authCredentials]
  let type: Renewal['type'] = 'unchanged'
  for (const [at, { config: given }] of configs.entries()) {
    const refused = credentials[at]
    if (refused?.oauth2?.accessToken === undefined) continue
    const config = checkAuthConfig(given, `Tool "${context.tool.name}"`)
    const key = await credentialKeyOf(config)
    await endRefusedToken(authServicesOf(host), config, refused)
    const outcome = await context.getCredential(key, config)
    if (outcome.status === 'failed') throw new ToolError(outcome.reason, { code: 'AUTH_FAILED' })
    if (outcome.status === 'needs-auth') {
      context.requestCredential(key, config)
      type = 'waiting'
      continue
    }
    if (isSameToken(outcome.credential, refused)) continue
    credentials[at] = outcome.credential
    if (type === 'unchanged') type = 'renewed'
  }
  return type === 'renewed' ? { type, credentials } : { type }
}
