import { showAs } from '../../core/base/show-as.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import type { Page, PageOptions, SessionService } from '../../services/session/service.ts'
import type { Agent } from '../agent/agents/agent.ts'
import { AgentTree } from '../agent/agents/agent-tree.ts'
import { BackgroundTasks } from './background/background-tasks.ts'
import { closeAll } from './close-resources.ts'
import { type Completion, completionOf, outputOf } from './completion.ts'
import { modelResolver } from './models.ts'
import { checkCallOptions, checkMetadataSize, toAnswerRequest, toRunRequest, toSubmitRequest } from './request-rules.ts'
import { followSignal, type RecoveredRuns, type Run, RunHandle, rejectedRun } from './run/run-handle.ts'
import { RunStarter } from './run/run-starter.ts'
import { createRunServices, type RunServices } from './run-services.ts'
import { RunnerInternals } from './runner-internals.ts'
import type {
  AnswerOptions,
  ApprovalPreview,
  CancelOptions,
  CloseOptions,
  DeleteSessionOptions,
  FollowOptions,
  ForkOptions,
  PendingFilter,
  PreviewApprovalOptions,
  PruneOptions,
  PruneResult,
  RecoverOptions,
  ResumeOptions,
  RunnerOptions,
  RunOptions,
  SubmitOptions,
  UpdateStateOptions,
  UserOptions,
  WorkOptions,
} from './runner-options.ts'
import { checkRunnerOptions } from './runner-rules.ts'
import type { Schedule, ScheduleOptions, SchedulesFilter } from './schedules/schedule-options.ts'
import type { ExportedItem } from './sessions/exported-item.ts'
import { SessionOperations } from './sessions/session-operations.ts'
import { UnattendedWork } from './work/unattended-work.ts'

/**
 * Runs an agent for users and their sessions.
 *
 * @example
 * const runner = new Runner({ appName: 'weather', agent })
 * const { text } = await runner.complete({ userId: 'ada', message: 'Is it cold in Oslo?' })
 */
export class Runner<Output = unknown> {
  /** The app that the sessions belong to. */
  readonly appName: string
  /** The agent that answers messages. */
  readonly agent: Agent<Output>
  /** Stores sessions and their logs. In memory if the options have none. */
  readonly sessionService: SessionService
  /** Stores files; undefined if the options have none. */
  readonly artifactService: RunnerOptions['artifactService']
  /** The memory that tools search; undefined if the options have none. */
  readonly memoryService: RunnerOptions['memoryService']
  /** Stores credentials of users. In memory if the options have none. */
  readonly credentialService: RunServices['credentialService']
  /** @internal The options the runner was built with. */
  readonly options: RunnerOptions<Output>
  /** @internal What other parts of the package do with the runner. */
  readonly internals: RunnerInternals
  readonly #services: RunServices
  readonly #starter: RunStarter
  readonly #sessions: SessionOperations
  readonly #unattended: UnattendedWork
  readonly #background: BackgroundTasks
  #closing: Promise<void> | undefined

  static {
    // agents, models and services may hold secrets
    showAs(Runner.prototype, 'Runner', ({ appName, agent }) => ({ appName, agent: agent.name }))
  }

  /** Checks the options and all agents. Throws `INVALID_CONFIG` with what to change. `use`: internal, for `connectLive()`. */
  constructor(options: RunnerOptions<Output>, use: 'text' | 'live' = 'text') {
    checkRunnerOptions(options)
    this.options = options
    this.appName = options.appName
    this.agent = options.agent
    this.#services = createRunServices(options)
    this.sessionService = this.#services.sessionService
    this.artifactService = options.artifactService
    this.memoryService = options.memoryService
    this.credentialService = this.#services.credentialService
    const { plugins } = this.#services
    const { model } = options
    const resolveModel = modelResolver(options.models ?? {})
    const tree = new AgentTree(options.agent, { resolveModel, plugins, model, use })
    tree.prepare()
    const { appName, whilePaused } = options
    this.#starter = new RunStarter({ appName, services: this.#services, tree, whilePaused })
    this.#sessions = new SessionOperations(appName, this.#starter.factory)
    this.#unattended = new UnattendedWork(this.#starter, this.#sessions)
    this.#background = new BackgroundTasks(this.#starter, this.#services)
    this.#services.background = this.#background
    this.#services.scheduling = this.#unattended.ofTools
    this.internals = new RunnerInternals({
      services: this.#services,
      starter: this.#starter,
      sessions: this.#sessions,
      background: this.#background,
      unattended: this.#unattended,
    })
  }

  /**
   * Sends a message and streams the events of the run. The run starts when it is iterated; leaving the loop cancels it, unless
   * `runConfig.detach` is set. An invalid message throws on the first iteration.
   *
   * @example
   * for await (const event of runner.run({ userId: 'ada', sessionId, message: 'Is it cold in Oslo?' })) {
   *   if (event.content) console.log(event.author, event.content.parts)
   * }
   */
  run(options: RunOptions): Run {
    checkCallOptions(this.appName, 'run', options)
    try {
      return new RunHandle(toRunRequest(options, this.#services), this.#starter, this.#sessions)
    } catch (error) {
      return rejectedRun(options.sessionId, error)
    }
  }

  /**
   * Sends a message and waits until the run has completed or is paused. A paused run lists its requests in `pending`; answer
   * them with another `complete()`.
   *
   * @example
   * const { text, pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Refund order 7.' })
   * if (pending.length) {
   *   await runner.complete({ userId: 'ada', sessionId, message: pending.map((request) => approve(request)) })
   * }
   */
  async complete(options: RunOptions): Promise<Completion<Output>> {
    checkCallOptions(this.appName, 'complete', options)
    const active = await this.#starter.start(toRunRequest(options, this.#services))
    const unfollowSignal = options.signal && followSignal(options.signal, active)
    await active.finished
    unfollowSignal?.()
    if (active.failure) throw active.failure.reason
    const completion = completionOf(active)
    const output = await outputOf(completion, this.agent, this.#services)
    return { ...completion, output: output as Output | undefined } // the schema of the agent has this type
  }

  /**
   * Continues an interrupted invocation of one session, and streams its events. Throws `NOT_FOUND` when it is iterated if
   * there is no unfinished work. See `recover()` for all sessions.
   *
   * @example
   * for await (const event of runner.resume({ userId: 'ada', sessionId })) console.log(event.author)
   */
  resume(options: ResumeOptions): Run {
    checkCallOptions(this.appName, 'resume', options)
    const { userId, sessionId, invocationId = '', runConfig = {}, runContext, signal } = options
    checkMetadataSize(runConfig)
    const request = { userId, sessionId, invocationId, runConfig, runContext, signal, isNew: false }
    return new RunHandle(request, this.#starter, this.#sessions)
  }

  /**
   * Continues all interrupted invocations of this app, such as those of a process that died, and those whose requests have
   * expired. Skips sessions that another process holds, or that this runner runs. Each run continues until it completes or
   * pauses, also if its events are not read. Removes copies that a process did not complete before it died. A session that cannot be
   * continued is reported to the logger and in `failed` of the result, and the rest goes on. Throws if the store cannot list sessions.
   *
   * @example
   * const runs = await runner.recover() // when the process starts
   * console.log(`Resumed ${runs.length} sessions, ${runs.failed.length} failed`)
   */
  async recover(options: RecoverOptions = {}): Promise<RecoveredRuns> {
    checkCallOptions(this.appName, 'recover', options as object)
    return await this.#unattended.recover(options, (request) => this.#isOverdue(request))
  }

  /**
   * Works without a caller until `signal` aborts: continues interrupted runs, runs whose requests were answered or have expired, and
   * starts the runs of schedules that are due. Any number of processes may do so at the same time: no session and no tick is
   * run twice, and users take turns. A session that fails is tried again later, and does not stop the others.
   *
   * @example
   * const stop = new AbortController()
   * process.once('SIGTERM', () => stop.abort())
   * await runner.work({ signal: stop.signal, concurrency: 20 })
   */
  async work(options: WorkOptions): Promise<void> {
    checkCallOptions(this.appName, 'work', options as object)
    await this.#unattended.work(options)
  }

  /**
   * Starts runs at given times: once with `at`, or again and again with `every` or `cron`. A worker starts them (`runner.work()`):
   * exactly one run per tick, over any number of processes, also if one dies.
   *
   * @example
   * await runner.schedule({ userId: 'ada', message: 'Write the report.', cron: '0 8 * * 1-5', timeZone: 'Europe/Oslo' })
   */
  async schedule(options: ScheduleOptions): Promise<Schedule> {
    checkCallOptions(this.appName, 'schedule', options)
    return await this.#unattended.schedule(options)
  }

  /**
   * Lists the schedules of this app, in the order of their creation, a page at a time.
   *
   * @example
   * for (const { id, nextAt } of (await runner.schedules({ userId: 'ada' })).items) console.log(id, nextAt)
   */
  async schedules(filter: SchedulesFilter = {}): Promise<Page<Schedule>> {
    checkCallOptions(this.appName, 'schedules', filter)
    return await this.#unattended.schedules(filter)
  }

  /**
   * Deletes a schedule; with `userId`, only one of this user. Returns whether there was one. A run that it has started goes on.
   *
   * @example
   * await runner.unschedule('report', { userId: 'ada' })
   */
  async unschedule(id: string, { userId }: { readonly userId?: string | undefined } = {}): Promise<boolean> {
    return await this.#unattended.unschedule(id, userId)
  }

  /**
   * Stores a message, and runs nothing: a worker runs it (`runner.work()`). While the session is in use or paused, the message waits.
   *
   * @example
   * const { sessionId } = await runner.submit({ userId: 'ada', message: 'Write the report.' }) // returns before the model is asked
   */
  async submit(options: SubmitOptions): Promise<{ readonly sessionId: string }> {
    checkCallOptions(this.appName, 'submit', options)
    return await this.#sessions.submit(toSubmitRequest(options, this.#services), { id: options.id })
  }

  /**
   * Records answers to pending requests, and runs nothing: a worker continues the invocation. Throws what a run with these answers
   * would throw. If another process holds the session, the answers are checked against the stored log, then posted to that process.
   *
   * @example
   * await runner.answer({ userId: 'ada', sessionId, message: [approve(request)] }) // returns before the tool runs
   */
  async answer(options: AnswerOptions): Promise<void> {
    checkCallOptions(this.appName, 'answer', options)
    await this.#sessions.answer(toAnswerRequest(options, this.#services))
  }

  /**
   * Lists the pending requests of this app, oldest first: confirmations, requests for input, and long-running calls without
   * a result. `userId`, `sessionId`, `tool` and `kind` narrow the list. Expired requests are left out.
   *
   * @example
   * for (const request of await runner.pending({ userId: 'ada' })) console.log(request.tool, request.args, request.hint)
   */
  async pending(filter: PendingFilter = {}): Promise<PendingRequest[]> {
    checkCallOptions(this.appName, 'pending', filter)
    const { userId, sessionId } = filter
    const all = await this.sessionService.pending({ appName: this.appName, userId, sessionId })
    return all.filter((request) => this.#isListed(request, filter))
  }

  /**
   * Lists a part of the pending requests, as `pending()` does. Requests after it are not read, if the store can do so. A page may
   * have fewer than `limit` requests, also if another one follows.
   *
   * @example
   * const { items, next } = await runner.pendingPage({ tool: 'refund', kind: 'confirmation', limit: 50 })
   */
  async pendingPage(filter: PendingFilter & PageOptions): Promise<Page<PendingRequest>> {
    checkCallOptions(this.appName, 'pendingPage', filter)
    const page = await this.#sessions.pendingPage(filter)
    return { ...page, items: page.items.filter((request) => this.#isListed(request, filter)) }
  }

  #isListed(request: PendingRequest, { tool, kind }: PendingFilter): boolean {
    if (tool !== undefined && request.tool !== tool) return false
    if (kind !== undefined && request.kind !== kind) return false
    return !this.#isOverdue(request) // an expired request can no longer be answered
  }

  #isOverdue({ expiresAt }: PendingRequest): boolean {
    return expiresAt !== undefined && expiresAt <= this.#services.ports.now() / 1000
  }

  /**
   * Asks the tool what an approver of edited arguments is asked: the `confirmationHint` for these arguments. Checks them like an
   * approval, and throws `INVALID_REQUEST` if they are not accepted. Nothing is recorded and nothing runs.
   *
   * @example
   * const args = { ...request.args, amount: 200 }
   * const { hint } = await runner.previewApproval({ userId: 'ada', sessionId, requestId: request.id, args })
   */
  async previewApproval(options: PreviewApprovalOptions): Promise<ApprovalPreview> {
    checkCallOptions(this.appName, 'previewApproval', options)
    return await this.#sessions.previewApproval(options)
  }

  /**
   * Cancels the unfinished invocations of a session, whether they are running, paused or interrupted. Does nothing if there
   * are none. A run in another process stops when it next reads its inbox.
   *
   * @example
   * await runner.cancel({ userId: 'ada', sessionId })
   */
  async cancel(options: CancelOptions): Promise<void> {
    checkCallOptions(this.appName, 'cancel', options)
    await this.#sessions.cancel(options)
  }

  /**
   * Streams the events of a session after one that the caller has: those in the log, then those of the run under way. It starts
   * nothing, and leaving the loop does not cancel the run. Ends when the run has completed or is paused.
   *
   * @example
   * for await (const event of runner.follow({ userId: 'ada', sessionId, afterEventId })) console.log(event.author)
   */
  follow(options: FollowOptions): Run {
    checkCallOptions(this.appName, 'follow', options)
    const { userId, sessionId, signal } = options
    const request = { userId, sessionId, invocationId: '', runConfig: {}, runContext: undefined, signal, isNew: false }
    return new RunHandle(request, { start: () => this.#sessions.follow(options) }, this.#sessions)
  }

  /**
   * Changes the state of a session, also while a run is under way. The change is recorded as an event of the user.
   *
   * @example
   * await runner.updateState({ userId: 'ada', sessionId, stateDelta: { theme: 'dark', draft: null } })
   */
  async updateState(options: UpdateStateOptions): Promise<void> {
    checkCallOptions(this.appName, 'updateState', options)
    await this.#sessions.updateState(options)
  }

  /**
   * Copies a session up to an event into a new session, to try something else from there. Throws `SESSION_BUSY` while a run of
   * the session is under way.
   *
   * @example
   * const { sessionId: copy } = await runner.fork({ userId: 'ada', sessionId, before: event.invocationId })
   */
  async fork(options: ForkOptions): Promise<{ readonly sessionId: string }> {
    checkCallOptions(this.appName, 'fork', options)
    return { sessionId: await this.#sessions.fork(options) }
  }

  /**
   * Deletes a session with its log, its state, its artifacts, its memory, its schedules and its open consents. Artifacts, state and credentials of the
   * user stay. Does nothing if there is none. A run that is under way ends with `SESSION_GONE`.
   *
   * @example
   * await runner.deleteSession({ userId: 'ada', sessionId })
   */
  async deleteSession(options: DeleteSessionOptions): Promise<void> {
    checkCallOptions(this.appName, 'deleteSession', options)
    await this.#sessions.delete(options)
  }

  /**
   * Deletes all that the services store for a user: sessions, `user:` state, artifacts, memory, schedules, credentials and open consents. Runs
   * that are under way end with `SESSION_GONE`. After a failure, call it again. `app:` state and pins belong to no user.
   *
   * @example
   * await runner.deleteUser({ userId: 'ada' })
   */
  async deleteUser(options: UserOptions): Promise<void> {
    checkCallOptions(this.appName, 'deleteUser', options)
    await this.#sessions.deleteUser(options)
  }

  /**
   * Streams all that the services store for a user, one item at a time. Of credentials it has the keys, never a secret.
   *
   * @example
   * for await (const item of runner.exportUser({ userId: 'ada' })) file.write(`${JSON.stringify(item)}\n`)
   */
  exportUser(options: UserOptions): AsyncGenerator<ExportedItem, void> {
    checkCallOptions(this.appName, 'exportUser', options)
    return this.#sessions.exportUser(options)
  }

  /**
   * Deletes sessions of the app that have not changed for long, or that a user has too many of, as `deleteSession()` does. Sessions
   * with a run, interrupted work, a schedule, items in the inbox or, by default, pending requests stay.
   *
   * @example
   * const { deleted } = await runner.prune({ olderThan: 90 * 86_400_000, maxSessionsPerUser: 1000 })
   */
  async prune(options: PruneOptions): Promise<PruneResult> {
    checkCallOptions(this.appName, 'prune', options as object)
    return await this.#sessions.prune(options)
  }

  /**
   * Starts no more runs, cancels those under way, then closes toolsets, code executors and plugins. `await using` calls it. With
   * `graceMs`, runs may end first; with `interrupt`, the rest stays interrupted and `recover()` continues it.
   *
   * @example
   * process.once('SIGTERM', () => void runner.close({ graceMs: 9_000, interrupt: true }))
   */
  async close(options: CloseOptions = {}): Promise<void> {
    checkCallOptions(this.appName, 'close', options as object)
    this.#closing ??= this.#close(options)
    return await this.#closing
  }

  async #close(options: CloseOptions): Promise<void> {
    await this.#starter.close(options)
    await this.#background.close()
    await closeAll(this.#starter.factory.tree.agents(), this.#services)
  }

  /** Calls `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
