import { loadLater } from '../../core/base/load-later.ts'
import type { ScheduleService } from '../../services/schedule/service.ts'
import type { Observer } from '../observe/observer.ts'
import type { BackgroundTasks } from './background/background-tasks.ts'
import type { BodyOptions, BodyResult } from './background/run-background-call.ts'
import { checkCallOptions, toAnswerRequest, toLiveRequest, toSubmitRequest } from './request-rules.ts'
import type { StartedRun } from './run/run-handle.ts'
import type { LiveStart } from './run/run-request.ts'
import type { RunStarter } from './run/run-starter.ts'
import { observationOf, type RunServices } from './run-services.ts'
import type { AnswerOptions, RunnerOptions, SubmitOptions, UpdateStateOptions, WorkOptions } from './runner-options.ts'
import type { RebuiltRequest } from './sessions/rebuild-request.ts'
import type { SessionOperations } from './sessions/session-operations.ts'
import type { WorkFinder } from './work/find-work.ts'
import type { FleetView } from './work/fleet-view.ts'
import type { UnattendedWork } from './work/unattended-work.ts'
import type { WakeOptions, WakeResult } from './work/wake-session.ts'
import type { SessionOfApp, WorkFilter } from './work/work-item.ts'
import type { Worker } from './work/worker.ts'
import type { PresenceOptions, WorkerPresence } from './work/worker-presence.ts'

const retrying = loadLater(() => import('./work/retry-session.ts'))
const bodies = loadLater(() => import('./background/run-background-call.ts'))
const presences = loadLater(() => import('./work/worker-presence.ts'))
const viewing = loadLater(() => import('./work/view-fleet.ts'))
const rebuilding = loadLater(() => import('./sessions/rebuild-request.ts'))
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

  /** Makes a worker that does only what the filter selects. */
  async worker(options: WorkOptions, filter: WorkFilter): Promise<Worker> {
    return await this.#parts.unattended.worker(options, filter)
  }

  /** Stores a message, for a worker that continues the session itself. */
  async submit(options: SubmitOptions): Promise<void> {
    const { sessions, services, starter } = this.#parts
    checkCallOptions(starter.factory.appName, 'submit', options)
    await sessions.submit(toSubmitRequest(options, services), { id: options.id, wakes: false })
  }

  /** Records answers, for a worker that continues the session itself. */
  async answer(options: AnswerOptions): Promise<void> {
    const { sessions, services, starter } = this.#parts
    checkCallOptions(starter.factory.appName, 'answer', options)
    await sessions.answer(toAnswerRequest(options, services), { wakes: false })
  }

  /** Continues a session for a scheduler that has one worker at a time do so. */
  async wakeSession(session: SessionOfApp, options: WakeOptions): Promise<WakeResult> {
    this.#parts.starter.factory.throwIfClosed()
    const { wakeSession } = await waking()
    return await wakeSession(this.#parts.starter, session, options)
  }

  /** Runs the body of a background call for an engine that has one worker at a time do so. */
  async runBackgroundCall(session: SessionOfApp, callId: string, options: BodyOptions): Promise<BodyResult> {
    const { starter, background } = this.#parts
    const { factory } = starter
    const { userId, sessionId } = session
    const { runBackgroundCall } = await bodies()
    const call = { session: { appName: factory.appName, userId, sessionId }, callId }
    return await runBackgroundCall({ factory, background }, call, options)
  }

  /** Tells the store that there is a worker, until its `end()`. Undefined if the store keeps none. */
  async startPresence(options: PresenceOptions): Promise<WorkerPresence | undefined> {
    const { startPresence } = await presences()
    return startPresence(this.#parts.starter.factory, options)
  }

  /** What operators see of the app. */
  async viewFleet(): Promise<FleetView> {
    const { viewFleet } = await viewing()
    return await viewFleet(this.#parts.starter.factory.appName, this.#parts.services)
  }

  /** Stores the schedules. */
  get scheduleService(): ScheduleService {
    return this.#parts.services.scheduleService
  }

  /** What schedules the sessions over many workers. Undefined: workers look for them. */
  get engine(): RunnerOptions['engine'] {
    return this.#parts.services.engine
  }

  /** Has an engine schedule the sessions, unless the options of the runner have one. */
  useEngine(engine: NonNullable<RunnerOptions['engine']>): void {
    this.#parts.services.engine ??= engine
  }

  /** Has workers continue a session that was set aside. Throws NOT_FOUND for one that is not. */
  async retrySetAside({ userId, sessionId }: SessionOfApp): Promise<void> {
    const { appName, services } = this.#parts.starter.factory
    const { retrySetAside } = await retrying()
    await retrySetAside(services.sessionService, { appName, userId, sessionId })
  }

  /** Has workers continue a session that was set aside. Throws NOT_FOUND if there is no such session. */
  async retry({ userId, sessionId }: SessionOfApp): Promise<void> {
    const { appName, services } = this.#parts.starter.factory
    const { retrySession } = await retrying()
    await retrySession(services.sessionService, { appName, userId, sessionId })
  }

  /** Finds what workers can do. */
  async findWork(): Promise<WorkFinder> {
    return await this.#parts.unattended.finder()
  }

  /** What the log tells of the request for a reply. Undefined if the session has no such reply. */
  async rebuildRequest(session: SessionOfApp, eventId: string): Promise<RebuiltRequest | undefined> {
    const { services, starter } = this.#parts
    const { appName, tree } = starter.factory
    const { rebuildRequest } = await rebuilding()
    return await rebuildRequest({ appName, ...session }, eventId, { services, tree })
  }

  /** Starts the run of a live session. */
  async startLive(start: LiveStart): Promise<StartedRun> {
    return await this.#parts.starter.start(toLiveRequest(start, this.#parts.services))
  }
}
