// Tools that run in the background of text runs: the run goes on, and the result continues its invocation later.
import type { JsonObject } from '../../../core/base/json.ts'
import { StopSignal } from '../../../core/base/stop-signal.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import type { Content } from '../../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import { sessionGone } from '../../../services/session/session-errors.ts'
import type { BackgroundRunner, BackgroundTask } from '../../dispatch/host.ts'
import { itemOf } from '../inbox/post-answers.ts'
import { toResultRequest } from '../request-rules.ts'
import { Cancelled } from '../run/cancelled.ts'
import type { RunStarter } from '../run/run-starter.ts'
import type { RunServices } from '../run-services.ts'

/** A call whose body runs, or whose result continues its invocation. */
interface RunningTask {
  readonly session: SessionKey
  readonly stop: StopSignal
  /** Resolves when the run that got the result has ended. */
  readonly ended: Promise<void>
}

/** The background calls of a runner. They live as long as the runner. */
export class BackgroundTasks implements BackgroundRunner {
  readonly #starter: Pick<RunStarter, 'start'>
  readonly #services: RunServices
  #isClosing = false
  /** By session and call. */
  readonly #tasks: Map<string, RunningTask> = new Map()

  constructor(starter: Pick<RunStarter, 'start'>, services: RunServices) {
    this.#starter = starter
    this.#services = services
  }

  /** Registers a call whose body starts now. */
  start(session: SessionKey, call: { readonly id: string; readonly name: string }): BackgroundTask {
    const stop = new StopSignal()
    const end = this.add(session, call.id, stop)
    const finish: BackgroundTask['finish'] = (response, stateDelta) => {
      const parts = [{ functionResponse: { id: call.id, name: call.name, response } }]
      this.#continue(session, { role: 'user', parts }, stateDelta)
        .catch((error) => {
          if (error instanceof ToolwrightError && error.code === 'NOT_FOUND') return // cancelled meanwhile
          const problem = `The result of background tool "${call.name}" was not recorded: ${messageOf(error)}`
          this.#services.logger.warn(problem, error)
        })
        .catch(() => {}) // the logger threw
        .finally(end)
    }
    return { stop, finish }
  }

  /** Registers a body that runs in this process until the returned function is called. */
  add(session: SessionKey, callId: string, stop: StopSignal): () => void {
    const id = idOf(session, callId)
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    this.#tasks.set(id, { session, stop, ended })
    return () => {
      this.#tasks.delete(id)
      resolve()
    }
  }

  /** Resolves when the body of a call has ended in this process. Undefined if it does not run. */
  endOfCall(session: SessionKey, callId: string): Promise<void> | undefined {
    return this.#tasks.get(idOf(session, callId))?.ended
  }

  /** Undefined without an engine that runs bodies, or with a store whose log is read only with a lease. */
  get tell(): BackgroundRunner['tell'] {
    const { engine, sessionService } = this.#services
    return engine?.runBackground && sessionService.readLog ? this.#tell : undefined
  }

  /** Never rejects: what the engine does not know, a worker finds in the store. */
  readonly #tell = async (session: SessionKey, callId: string): Promise<void> => {
    const { engine, logger } = this.#services
    try {
      await engine?.runBackground?.({ session, callId })
    } catch (error) {
      const problem = `Background call "${callId}" was not given to a worker, and is again later: ${messageOf(error)}`
      logger.warn(problem, error)
    }
  }

  /** Continues the invocation in this process. While the runner closes, the result waits in the inbox for the next run. */
  async #continue(key: SessionKey, message: Content, stateDelta: JsonObject | undefined): Promise<void> {
    try {
      const started = await this.#starter.start(toResultRequest(key, message, stateDelta))
      await started.finished
      if (started.failure) throw started.failure.reason
    } catch (error) {
      if (!this.#isClosing) throw error
      const { sessionService, ports } = this.#services
      await sessionService.post(key, itemOf({ message, stateDelta, isResult: true }, ports))
    }
  }

  /** Stops a call whose invocation was cancelled. */
  stop(session: SessionKey, callId: string): void {
    this.#tasks.get(idOf(session, callId))?.stop.stop(new Cancelled('The run was cancelled.'))
  }

  /** Stops the calls of a session that was deleted, or of all sessions of a user. */
  stopAll({ userId, sessionId }: { readonly userId: string; readonly sessionId?: string }): void {
    for (const { session, stop } of this.#tasks.values()) {
      if (session.userId === userId && (sessionId ?? session.sessionId) === session.sessionId)
        stop.stop(sessionGone(session.sessionId))
    }
  }

  /** Does the body of the call run in this process? */
  isRunning(session: Pick<SessionKey, 'userId' | 'sessionId'>, callId: string): boolean {
    return this.#tasks.has(idOf(session, callId))
  }

  /** Resolves when the bodies of a session that run now have ended and their results are recorded. Undefined if none runs. */
  endOf({ userId, sessionId }: Pick<SessionKey, 'userId' | 'sessionId'>): Promise<unknown> | undefined {
    const tasks = [...this.#tasks.values()].filter(
      ({ session }) => session.userId === userId && session.sessionId === sessionId,
    )
    return tasks.length ? Promise.all(tasks.map((task) => task.ended)) : undefined
  }

  /** Stops all calls, and waits for a moment until their end is recorded. */
  async close(): Promise<void> {
    this.#isClosing = true
    const tasks = [...this.#tasks.values()]
    for (const { stop } of tasks) stop.stop(new Cancelled('The runner was closed.'))
    const ended = Promise.all(tasks.map((task) => task.ended))
    if (tasks.length) await withTimeout(ended, CLOSE_MS, this.#services.ports, () => undefined)
  }
}

/** How long closing waits for background calls. */
const CLOSE_MS = 2_000

function idOf({ userId, sessionId }: Pick<SessionKey, 'userId' | 'sessionId'>, callId: string): string {
  return JSON.stringify([userId, sessionId, callId])
}
