import { loadLater } from '../../../core/base/load-later.ts'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { consentIn } from '../../../core/event/decision.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import { CREDENTIAL_ID_PREFIX, toolsetCallId } from '../../../core/event/request-names.ts'
import { checkAuthConfig } from '../../../services/auth/config/check-auth-config.ts'
import { credentialKeyOf } from '../../../services/auth/config/credential-key.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import { authServicesOf } from '../../context/credentials.ts'
import { readonlyContext } from '../../context/readonly-context.ts'
import { forgetAnswered } from '../../dispatch/request-credential.ts'
import { type RequestedCall, requestEvent } from '../../dispatch/request-records.ts'
import type { Toolset } from '../../tool/toolset.ts'
import type { AgentTurn } from '../loop/run-host.ts'

const resolver = loadLater(() => import('../../../services/auth/resolve-credential.ts'))
const consents = loadLater(() => import('../../../services/auth/consent/open-consent.ts'))

/** Thrown when tools cannot be listed before the user has consented. The scope records the requests and waits. */
export class ConsentNeeded extends Error {
  /** The requests to record. */
  readonly entries: readonly NewEntry[]
  constructor(entries: readonly NewEntry[]) {
    super('A toolset needs a credential before it lists its tools.')
    this.entries = entries
  }
}

/** Resolves the credentials of toolsets for one listing, and collects the requests for missing ones. */
export class ToolsetCredentials {
  readonly #turn: AgentTurn
  readonly #requested: RequestedCall[] = []

  constructor(turn: AgentTurn) {
    this.#turn = turn
  }

  /** The context for `listTools`, with the credential. Undefined while the credential is requested. Throws without one. */
  async contextFor({ name }: Toolset, authConfig: AuthConfig): Promise<ReadonlyContext | undefined> {
    const { run, plan, frame } = this.#turn
    const config = checkAuthConfig(authConfig, `Toolset "${name}"`)
    const key = await credentialKeyOf(config)
    const id = toolsetCallId(name, frame.path)
    const call = run.fold.calls.get(id)
    if (call) await forgetAnswered(run, call)
    const { resolveCredential } = await resolver()
    const outcome = await resolveCredential(authServicesOf(run), key, config)
    if (outcome.status === 'failed') throw new Error(outcome.reason)
    if (outcome.status === 'ready') return readonlyContext(run, plan.agent.name, frame.branch, outcome.credential)
    // by key: toolsets of several agents may have one name
    const latest = call?.requests.findLast(({ request }) => request.key === key)
    const status = latest && consentIn(latest.answer ?? {})?.status
    if (status === 'authorized') throw new Error('its credential is missing although the user has consented')
    // declined, failed or expired after a day: the agent continues without the toolset
    if (latest && status !== 'expired') throw new Error('the user has not consented to it')
    await this.#request({ id, name }, key, config)
    return undefined
  }

  async #request(
    { id: callId, name }: { id: string; name: string },
    key: string,
    config: ReturnType<typeof checkAuthConfig>,
  ): Promise<void> {
    const { run } = this.#turn
    const id = CREDENTIAL_ID_PREFIX + run.services.ports.newId()
    const { openConsent } = await consents()
    const authConfig = await openConsent(authServicesOf(run), { id, key, config })
    const request = { id, kind: 'credential', origin: 'gate', key, args: {}, definition: '', authConfig } as const
    this.#requested.push({ call: { id: callId, name }, requests: [request] })
  }

  /** Throws if a credential was requested. */
  throwIfNeeded(): void {
    if (this.#requested.length === 0) return
    const { run, plan, frame } = this.#turn
    throw new ConsentNeeded(requestEvent({ host: run, scope: frame, agentName: plan.agent.name }, this.#requested))
  }
}
