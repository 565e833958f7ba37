import { loadLater } from '../../core/base/load-later.ts'
import type { Observer } from '../observe/observer.ts'
import type { BackgroundTasks } from './background-tasks.ts'
import { toLiveRequest } from './request-rules.ts'
import type { StartedRun } from './run/run-handle.ts'
import type { LiveStart } from './run/run-request.ts'
import type { RunStarter } from './run/run-starter.ts'
import { observationOf, type RunServices } from './run-services.ts'
import type { RunnerOptions, UpdateStateOptions, WorkOptions } from './runner-options.ts'
import type { SessionOperations } from './sessions/session-operations.ts'
import type { WorkFinder } from './work/find-work.ts'
import type { UnattendedWork } from './work/unattended-work.ts'
import type { WakeOptions, WakeResult } from './work/wake-session.ts'
import type { SessionOfApp, WorkFilter } from './work/work-item.ts'

const retrying = loadLater(() => import('./work/retry-session.ts'))
const waking = loadLater(() => import('./work/wake-session.ts'))

/** The parts of a runner. */
interface Parts {
  readonly services: RunServices
  readonly starter: RunStarter
  readonly sessions: SessionOperations
  readonly background: BackgroundTasks
  readonly unattended: UnattendedWork
}

/** What other parts of the package do with a runner. Programs use the methods of the runner. */
export class RunnerInternals {
  readonly #parts: Parts
  readonly #hasOwnPhases: boolean

  constructor(parts: Parts) {
    this.#parts = parts
    this.#hasOwnPhases = parts.services.phases !== undefined
  }

  /** Passes the errors that tools throw to a listener, too. */
  observeThrown(listener: NonNullable<RunServices['onThrown']>): void {
    this.#parts.services.onThrown = listener
  }

  /** Adds an observer. */
  observe(observer: Observer): void {
    const { services } = this.#parts
    services.observation = services.observation?.with(observer) ?? observationOf([observer], services.logger)
  }

  /** Resolves when the background calls of a session in this process have ended. Undefined if there are none. */
  backgroundOf(session: { readonly userId: string; readonly sessionId: string }): Promise<unknown> | undefined {
    return this.#parts.background.endOf(session)
  }

  /** For single calls: waits for background tools. Calls with the same `callerId` share results of `cached()`. */
  useForSingleCalls(callerId: string | undefined): void {
    this.#parts.services.background = undefined
    this.#parts.services.scheduling = undefined
    this.#parts.services.callerId = callerId
  }

  /** Changes the state of a session once: a change with the same id is not made again. */
  async updateStateOnce(options: UpdateStateOptions, id: string): Promise<void> {
    await this.#parts.sessions.updateState(options, id)
  }

  /** The phases of conversations. Undefined if there are none. */
  get phases(): RunnerOptions['phases'] {
    return this.#parts.services.phases
  }

  /** Makes text runs keep to phases that are declared elsewhere, unless the options of the runner have some. */
  usePhases(phases: NonNullable<RunnerOptions['phases']>): void {
    if (!this.#hasOwnPhases) this.#parts.services.phases = phases
  }

  /** Works without a caller, but only on what the filter wants. */
  async work(options: WorkOptions, filter: WorkFilter): Promise<void> {
    await this.#parts.unattended.work(options, filter)
  }

  /** Continues a session for a scheduler that has one worker at a time do so. */
  async wakeSession(session: SessionOfApp, options: WakeOptions): Promise<WakeResult> {
    this.#parts.starter.factory.throwIfClosed()
    const { wakeSession } = await waking()
    return await wakeSession(this.#parts.starter, session, options)
  }

  /** Has workers continue a session that was set aside. Throws NOT_FOUND. */
  async retry({ userId, sessionId }: SessionOfApp): Promise<void> {
    const { appName, services } = this.#parts.starter.factory
    const { retrySession } = await retrying()
    await retrySession(services.sessionService, { appName, userId, sessionId })
  }

  /** Finds what workers can do. */
  async findWork(): Promise<WorkFinder> {
    return await this.#parts.unattended.finder()
  }

  /** Starts the run of a live session. */
  async startLive(start: LiveStart): Promise<StartedRun> {
    return await this.#parts.starter.start(toLiveRequest(start, this.#parts.services))
  }
}
