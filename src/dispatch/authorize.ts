// The credential gate: a call that needs a credential does not run without one.
import { failureText } from '../auth/auth-failure.ts'
import { checkAuthConfig } from '../auth/config/check-auth-config.ts'
import { credentialKeyOf } from '../auth/config/credential-key.ts'
import { resolveCredential } from '../auth/resolve-credential.ts'
import type { AuthConfig } from '../content/auth.ts'
import { authServicesOf } from '../tool/credentials.ts'
import { definitionOf, plainArgs } from './confirm.ts'
import type { Batch } from './host.ts'
import type { Prepared, ReadyCall } from './outcome.ts'
import { authFailure, endWithoutConsent, requestCredential } from './request-credential.ts'

/**
 * Sets `authCredential` of the context. Else returns a new request, a suspended call, or an `AUTH_FAILED` response. A gate
 * that throws denies.
 */
export async function authorize(batch: Batch, ready: ReadyCall, authConfig: AuthConfig): Promise<Prepared> {
  const { host } = batch
  try {
    return await authorizeCall(batch, ready, authConfig)
  } catch (error) {
    if (host.stop.stopped) throw host.stop.stopped.reason
    return authFailure(host, ready.call, failureText(error))
  }
}

async function authorizeCall({ host }: Batch, ready: ReadyCall, authConfig: AuthConfig): Promise<Prepared> {
  const { call, entry, context } = ready
  const latest = call.requests.findLast(({ request }) => request.kind === 'credential' && request.origin === 'gate')
  const ended = latest && endWithoutConsent(host, call, latest)
  if (ended) return ended
  const config = checkAuthConfig(authConfig, `Tool "${call.name}"`)
  const key = await credentialKeyOf(config)
  const outcome = await resolveCredential(authServicesOf(host), key, config)
  if (outcome.status === 'failed') return authFailure(host, call, outcome.reason)
  if (outcome.status === 'needs-auth') {
    const wanted = {
      origin: 'gate',
      key,
      config,
      args: plainArgs(ready.args),
      definition: await definitionOf(entry),
    } as const
    const request = await requestCredential(host, call, wanted)
    return 'type' in request ? request : { type: 'requesting', call, requests: [request] }
  }
  context.setCredential(outcome.credential)
  return ready
}
