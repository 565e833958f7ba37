import type { AuthCredential } from '../../core/content/auth.ts'
import { AgentInvocation } from './agent-invocation.ts'
import type { Invocation, ReadonlyContext, ReadonlyState } from './context.ts'
import { guardState } from './guarded-state.ts'
import type { InvocationHost } from './invocation-host.ts'
import { type RunContext, requireRunContext } from './run-context.ts'
import { readonlyState } from './state.ts'

/** Creates the context of toolsets, instruction functions and confirmation predicates. */
export function readonlyContext(
  host: InvocationHost,
  agentName: string,
  branch: string | undefined,
  authCredential?: AuthCredential,
): ReadonlyContext {
  return new RunReadonlyContext(host, new AgentInvocation(host, agentName, branch), authCredential)
}

/** The context of toolsets, instruction functions and confirmation predicates. */
export class RunReadonlyContext implements ReadonlyContext {
  readonly #host: InvocationHost
  readonly invocation: Invocation
  readonly state: ReadonlyState
  readonly #authCredential: AuthCredential | undefined // private, so that it is not printed
  constructor(host: InvocationHost, invocation: Invocation, authCredential: AuthCredential | undefined) {
    this.#authCredential = authCredential
    this.#host = host
    this.invocation = invocation
    this.state = guardState(readonlyState(host.state))
  }
  get authCredential(): AuthCredential | undefined {
    return this.#authCredential
  }
  /** The run of a context. Undefined for a context of another kind. */
  static hostOf(context: object): InvocationHost | undefined {
    return #host in context ? context.#host : undefined
  }
  get runContext(): RunContext {
    return requireRunContext(this.#host)
  }
}
