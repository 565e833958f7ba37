import { deepFreeze } from '../../core/base/deep-freeze.ts'
import type { Content } from '../../core/content/content.ts'
import type { Session } from '../../services/session/service.ts'
import type { Invocation } from './context.ts'
import type { InvocationHost } from './invocation-host.ts'
import type { RunConfig } from './run-config.ts'
import { scopeServices } from './scoped-services.ts'

/** The invocation, as one agent sees it. Reads from the host, so nothing is copied before it is read. */
export class AgentInvocation implements Invocation {
  readonly #host: InvocationHost
  /** The agent. */
  readonly agentName: string
  /** The branch of the agent. Undefined on the main branch. */
  readonly branch: string | undefined
  constructor(host: InvocationHost, agentName: string, branch: string | undefined) {
    this.#host = host
    this.agentName = agentName
    this.branch = branch
  }
  /** Who makes single calls. Undefined in a conversation. */
  static callerOf(invocation: Invocation): string | undefined {
    return #host in invocation ? invocation.#host.callerId : undefined
  }
  /** The app. */
  get appName(): string {
    return this.#host.appName
  }
  /** The user. */
  get userId(): string {
    return this.#host.userId
  }
  /** The id of the invocation. */
  get invocationId(): string {
    return this.#host.invocationId
  }
  /** A snapshot of the session. */
  get session(): Session {
    return this.#host.session()
  }
  /** The user message that started the invocation. Frozen, because the event log holds the same object. */
  get userContent(): Content | undefined {
    return deepFreeze(this.#host.userContent)
  }
  /** The settings of the run. */
  get runConfig(): RunConfig {
    return this.#host.runConfig
  }
  /** The services of the run, bound to its app, user and session. */
  get services(): Invocation['services'] {
    return scopeServices(this.#host)
  }
}
