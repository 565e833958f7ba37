import type { JsonObject } from '../../core/base/json.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { SessionCall, SessionEngine } from '../../engine/runner/work/session-engine.ts'
import type { SessionKey } from '../../services/session/service.ts'
import { Ingress, type IngressOptions } from './ingress.ts'
import { backgroundServiceOf, keyOfCall, keyOfSession, sessionServiceOf } from './names.ts'
import type { SessionOutcome } from './session-object.ts'

/** Has the workers of a fleet continue sessions. Give it to a runner as `engine`. */
export class RestateEngine implements SessionEngine {
  readonly #ingress: Ingress

  constructor(options: IngressOptions) {
    this.#ingress = new Ingress(options)
  }

  /** Has a worker continue the session. Resolves once Restate has stored the call. */
  async wake(session: SessionKey): Promise<void> {
    await this.#ingress.send(targetOf(session, 'wake'), {})
  }

  /** Has a worker run the body of a background call. Resolves once Restate has stored the call. */
  async runBackground({ session, callId }: SessionCall): Promise<void> {
    const target = {
      service: backgroundServiceOf(session.appName),
      key: keyOfCall({ ...session, callId }),
      handler: 'run',
    }
    await this.#ingress.send(target, {})
  }

  /**
   * Has a worker run a message, or resume a session that was set aside. Resolves once nothing is left to do in the session, or it
   * waits for an answer.
   */
  async call(
    session: SessionKey,
    handler: 'run' | 'resume',
    input: JsonObject,
    signal?: AbortSignal,
  ): Promise<SessionOutcome> {
    const outcome = await this.#ingress.call(targetOf(session, handler), input, signal)
    if (outcome) return outcome as SessionOutcome // of our handler
    throw new ToolwrightError('INTERNAL', 'The handler returned no outcome.')
  }
}

/**
 * Has the workers of a fleet continue the sessions of a runner: what it submits and answers. `runner.run()` still runs in its own process.
 *
 * @example
 * const engine = restate({ ingress: 'http://127.0.0.1:8080', secret: process.env.FLEET_SECRET })
 * const runner = new Runner({ appName: 'shop', agent, engine, ...postgres(process.env.DATABASE_URL) })
 * await runner.submit({ userId: 'ada', message: 'Write the report.' })
 */
export function restate(options: IngressOptions): RestateEngine {
  return new RestateEngine(options)
}

function targetOf(session: SessionKey, handler: string): { service: string; key: string; handler: string } {
  return { service: sessionServiceOf(session.appName), key: keyOfSession(session), handler }
}
