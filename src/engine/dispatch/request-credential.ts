// Credential requests: the consent is stored first, then the request is recorded and shown.

import type { JsonObject } from '../../core/base/json.ts'
import { loadLater } from '../../core/base/load-later.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { consentIn, declinedIn } from '../../core/event/decision.ts'
import type { CallState, RequestState } from '../../core/event/invocation-state.ts'
import { CREDENTIAL_ID_PREFIX } from '../../core/event/request-names.ts'
import { AuthError } from '../../services/auth/auth-error.ts'
import type { CheckedAuthConfig } from '../../services/auth/config/check-auth-config.ts'
import { forgetConsent } from '../../services/auth/consent/consent-record.ts'
import { authServicesOf } from '../context/credentials.ts'
import type { InvocationHost } from '../context/invocation-host.ts'
import { rejected } from './confirm.ts'
import type { DispatchHost } from './host.ts'
import { type CallResult, failure, type NewRequest, type SuspendedCall } from './outcome.ts'

const consents = loadLater(() => import('../../services/auth/consent/open-consent.ts'))

/** What a credential request is made from. */
interface Wanted {
  readonly origin: 'gate' | 'body'
  readonly key: string
  readonly config: CheckedAuthConfig
  /** The arguments the body would get. */
  readonly args: JsonObject
  /** The digest of the tool definition. */
  readonly definition: string
}

/** A request for a consent, or the failure when there is none: no authorization URL, or the user has already consented. */
export async function requestCredential(
  host: DispatchHost,
  call: CallState,
  { origin, key, config, args, definition }: Wanted,
): Promise<NewRequest | CallResult> {
  if (call.requests.some((one) => hasConsented(one, key))) {
    const problem = `the credential "${key}" is missing although the user has consented to it`
    return authFailure(host, call, `${problem}. Check the scopes and the credential service`)
  }
  const id = CREDENTIAL_ID_PREFIX + host.services.ports.newId()
  try {
    const { openConsent } = await consents()
    const authConfig = await openConsent(authServicesOf(host), { id, key, config })
    return { id, kind: 'credential', origin, key, args, definition, authConfig }
  } catch (error) {
    if (!(error instanceof AuthError || error instanceof ToolwrightError)) throw error
    return authFailure(host, call, error.message)
  }
}

function hasConsented({ request, answer }: RequestState, key: string): boolean {
  return request.kind === 'credential' && request.key === key && consentIn(answer ?? {})?.status === 'authorized'
}

/** Deletes the consents of a call whose answers are recorded. The log holds their outcome from now on. */
export async function forgetAnswered(host: InvocationHost, { requests }: CallState): Promise<void> {
  const isAnswered = ({ answer, denied }: RequestState): boolean => answer !== undefined || denied !== undefined
  const answered = requests.filter((one) => one.request.kind === 'credential' && isAnswered(one))
  const services = authServicesOf(host)
  await Promise.all(answered.map(({ request }) => forgetConsent(services, request.id)))
}

/** The outcome of a call whose credential request is open, declined, expired or failed. Undefined after a consent. */
export function endWithoutConsent(
  host: DispatchHost,
  call: CallState,
  { answer, denied }: RequestState,
): CallResult | SuspendedCall | undefined {
  if (denied !== undefined) return rejected(call, denied)
  if (answer === undefined) return { type: 'suspended', call }
  const declined = declinedIn(answer)
  if (declined) return rejected(call, declined.reason)
  const consent = consentIn(answer)
  return consent?.status === 'failed' ? authFailure(host, call, consent.error ?? 'the consent failed') : undefined
}

/** The result of a call without a credential. The operator gets a log line, the model a reason without secrets. */
export function authFailure({ services }: DispatchHost, call: CallState, reason: string): CallResult {
  const problem = `Tool "${call.name}" was not run: ${reason.replace(/\.$/, '')}.`
  services.logger.warn(problem)
  return failure(call, 'AUTH_FAILED', problem)
}
