// The credential gate: a call that needs a credential does not run without one.

import { loadLater } from '../../core/base/load-later.ts'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import { failureText } from '../../services/auth/auth-failure.ts'
import { checkAuthConfig } from '../../services/auth/config/check-auth-config.ts'
import { credentialKeyOf } from '../../services/auth/config/credential-key.ts'
import { authServicesOf } from '../context/credentials.ts'
import { plainArgs } from './confirm.ts'
import { definitionOf } from './definition.ts'
import type { Batch, DispatchHost } from './host.ts'
import type { NewRequest, Prepared, ReadyCall } from './outcome.ts'
import { authFailure, endWithoutConsent, requestCredential } from './request-credential.ts'

const resolver = loadLater(() => import('../../services/auth/resolve-credential.ts'))

/**
 * Sets `authCredentials` of the context. Else returns new requests, a suspended call, or an `AUTH_FAILED` response. A gate
 * that throws denies.
 */
export async function authorize(batch: Batch, ready: ReadyCall, configs: readonly AuthConfig[]): Promise<Prepared> {
  const { host } = batch
  try {
    return await authorizeCall(batch, ready, configs)
  } catch (error) {
    if (host.stop.stopped) throw host.stop.stopped.reason
    return authFailure(host, ready.call, failureText(error))
  }
}

async function authorizeCall(batch: Batch, ready: ReadyCall, configs: readonly AuthConfig[]): Promise<Prepared> {
  const { host } = batch
  const { call, context } = ready
  const { resolveCredential } = await resolver()
  const credentials: AuthCredential[] = []
  const requests: NewRequest[] = []
  for (const authConfig of configs) {
    const config = checkAuthConfig(authConfig, `Tool "${call.name}"`)
    const key = await credentialKeyOf(config)
    const ended = endOfRequest(host, call, key)
    if (ended) return ended
    const outcome = await resolveCredential(authServicesOf(host), key, config)
    if (outcome.status === 'failed') return authFailure(host, call, outcome.reason)
    if (outcome.status === 'ready') {
      credentials.push(outcome.credential)
      continue
    }
    const request = await requestCredential(host, call, { key, config, ...(await requestedBy(batch, ready)) })
    if ('type' in request) return request
    requests.push(request)
  }
  if (requests.length) return { type: 'requesting', call, requests }
  context.setCredentials(credentials)
  return ready
}

/** The outcome of a call whose latest request for this credential is open, declined, expired or failed. */
function endOfRequest(host: DispatchHost, call: CallState, key: string): Prepared | undefined {
  const latest = call.requests.findLast(
    ({ request }) => request.kind === 'credential' && request.origin === 'gate' && request.key === key,
  )
  return latest && endWithoutConsent(host, call, latest)
}

async function requestedBy(
  batch: Batch,
  { entry, args }: ReadyCall,
): Promise<Pick<NewRequest, 'origin' | 'args' | 'definition'>> {
  return { origin: 'gate', args: plainArgs(args), definition: await definitionOf(batch, entry) }
}
