import type { CallOutcome } from '../../../engine/runner/single-call/call-outcome.ts'
import type { CallRunner } from '../../../engine/runner/single-call/call-runner.ts'

/** The most calls that wait for an answer at the same time. */
const MAX_PENDING = 1_000

interface SessionOf {
  readonly userId: string
  readonly sessionId: string
}

/**
 * Deletes the sessions of a server without a session service, so that its memory does not grow: finished calls at once, the
 * oldest pending calls of the user with the most of them when there are too many.
 */
export class PendingSessions {
  readonly #calls: CallRunner
  readonly #pending: Map<string, SessionOf> = new Map()

  readonly #max: number

  constructor(calls: CallRunner, max: number = MAX_PENDING) {
    this.#calls = calls
    this.#max = max
  }

  /** Keeps the session of a pending call. */
  async keep(session: SessionOf): Promise<void> {
    this.#pending.delete(session.sessionId)
    this.#pending.set(session.sessionId, session)
    const oldest = this.#pending.size > this.#max ? this.#oldestOfBusiestUser() : undefined
    if (!oldest) return
    await this.#calls.cancel(oldest)
    await this.end(oldest, 'ended')
  }

  /** The oldest pending call of the user with the most of them: no user ends the calls of others with many of their own. */
  #oldestOfBusiestUser(): SessionOf | undefined {
    const users = Map.groupBy(this.#pending.values(), ({ userId }) => userId)
    const [busiest] = [...users.values()].sort((one, other) => other.length - one.length)
    return busiest?.[0]
  }

  /** Deletes the session of a call that has ended. Long-running work keeps its session. */
  async end({ userId, sessionId }: SessionOf, type: CallOutcome['type']): Promise<void> {
    if (type === 'pending') return await this.keep({ userId, sessionId })
    this.#pending.delete(sessionId)
    const { appName, sessionService } = this.#calls.runner
    await sessionService.deleteSession({ appName, userId, sessionId })
  }
}
