// The life of a run: records the message, runs the loop to its end or to a pause, releases the lease.

import { loadLater } from '../../../core/base/load-later.ts'
import type { Content } from '../../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import {
  type BackgroundRecord,
  type Denial,
  type EventActions,
  type Interruption,
  NO_ACTIONS,
} from '../../../core/event/event.ts'
import { leaseLost } from '../../../services/session/session-errors.ts'
import { branchedText } from '../../agent/agents/answer-text.ts'
import { findMissingAgent } from '../../agent/loop/missing-agent.ts'
import { type Next, next, scopeError } from '../../agent/loop/next.ts'
import { runScope } from '../../agent/loop/run-scope.ts'
import { RunCallbackContext } from '../../context/callback-context.ts'
import type { Observation } from '../../observe/observation.ts'
import type { ProviderRequests } from '../approvals/answer-with-providers.ts'
import { isInterrupted } from '../approvals/pending-requests.ts'
import { afterRun, beforeRun, withStopTimeout } from '../plugins/around-run.ts'
import { Cancelled } from './cancelled.ts'
import { type CloseRunOptions, closeAsCancelled, endWithError } from './end-run.ts'
import type { EventQueue } from './event-queue.ts'
import type { LiveDriver } from './live-driver.ts'
import { ObservedRun, observersOf } from './observed-run.ts'
import type { RunData } from './run-data.ts'
import type { StartedRun } from './run-handle.ts'
import type { RunRequest } from './run-request.ts'

const providerRequests = loadLater(() => import('../approvals/answer-with-providers.ts'))

/** How the message of a run is recorded. */
interface StartWith {
  /** Inbox items to remove with the message. */
  readonly drained?: readonly string[] | undefined
  /** The id of its event. Default: a new one. */
  readonly messageId?: string | undefined
}

/** A run that this process executes. */
export class ActiveRun implements StartedRun {
  readonly #onFinished: ((run: ActiveRun) => void) | undefined
  readonly #live: LiveDriver | undefined
  /** The log's length when the loop last had to wait. */
  #waitedAt: number | undefined
  #providers: ProviderRequests | undefined
  #observed: ObservedRun | undefined
  /** The id of the event that records the message, if it belongs to the tick of a schedule. */
  #messageId: string | undefined
  /** What the loop, the dispatcher and the recorder read of this run. */
  readonly data: RunData
  /** The invocation that this run executes. */
  readonly invocationId: string
  /** The session. */
  readonly sessionId: string
  /** The user of the session. */
  readonly userId: string
  /** The queue of events for the consumer. */
  readonly events: EventQueue
  /** The slots of the run. Undefined if the runner has no limits. */
  slots: RunRequest['slots']
  isFinished = false
  finished: Promise<void> = Promise.resolve()
  failure: { readonly reason: unknown } | undefined

  constructor(data: RunData, onFinished?: (run: ActiveRun) => void, live?: LiveDriver) {
    this.data = data
    this.invocationId = data.invocationId
    this.sessionId = data.sessionId
    this.userId = data.userId
    this.events = data.events
    this.#onFinished = onFinished
    this.#live = live
  }

  /** Runs to the end or to a pause. `finished` never rejects: an error is in `failure`. */
  start(
    message: Content | undefined,
    stateDelta: EventActions['stateDelta'],
    { drained, messageId }: StartWith = {},
  ): void {
    this.data.progress.drained = drained
    this.#messageId = messageId
    this.finished = this.#run(message, stateDelta)
  }

  /** Ends a run that only replays recorded events. */
  finish(): void {
    this.finished = this.#finalize()
  }

  async #run(message: Content | undefined, stateDelta: EventActions['stateDelta']): Promise<void> {
    const { stop, services } = this.data
    try {
      await new Promise((resolve, reject) => {
        stop.add({ stop: reject }) // a stop ends the wait even if a callback or a model hangs
        const observation = services.observation && observersOf(this.data)
        const running = observation
          ? this.#observeLoop(observation, message, stateDelta)
          : this.#runLoop(message, stateDelta)
        running.then(resolve, reject)
      })
    } catch (error) {
      await this.#endEarly(error)
    }
    this.#providers?.close()
    if (services.plugins.length) await withStopTimeout(this.data, this.#afterRun())
    if (this.#observed) await this.#observed.end({ failure: this.failure, error: this.error(), next: this.next() })
    await this.#finalize()
  }

  #observeLoop(
    observation: Observation,
    message: Content | undefined,
    stateDelta: EventActions['stateDelta'],
  ): Promise<void> {
    this.#observed = new ObservedRun(this.data, observation)
    return this.#observed.start(() => this.#runLoop(message, stateDelta))
  }

  async #runLoop(message: Content | undefined, stateDelta: EventActions['stateDelta']): Promise<void> {
    const { progress, recorder, stop, view } = this.data
    progress.recording = this.#recordMessage(message, stateDelta)
    if (progress.recording) await progress.recording
    progress.hasStarted = true
    while ((await this.#runAgents()) === 'wait') {
      await this.#settlePhase()
      await recorder.drainInbox() // an answer that arrived meanwhile continues the run
      if (stop.stopped) throw stop.stopped.reason
      if (this.next().type === 'wait' && !this.#live) await this.#askProviders()
      progress.isFinalizing = this.next().type === 'wait'
      if (progress.isFinalizing) return
      if (this.#waitedAt === view.seq) {
        const problem = 'An agent waits, but no request is pending'
        await endWithError(
          this.data,
          `${problem}. Do not throw the pause of an earlier run again in run() of an agent.`,
        )
        break
      }
      this.#waitedAt = view.seq
    }
    await this.#settlePhase()
    progress.isFinalizing = true
  }

  /** Asks the confirmation providers that tools bring, before the run pauses. */
  async #askProviders(): Promise<void> {
    const { ProviderRequests } = await providerRequests()
    this.#providers ??= new ProviderRequests(this.data)
    await this.#providers.wait(() => this.next().type === 'wait')
  }

  /** The log must have the reached phase when the run pauses or ends: a process that does not know the phases keeps to it. */
  #settlePhase(): Promise<void> | undefined {
    return this.#live ? undefined : this.data.phases?.settle()
  }

  #recordMessage(message: Content | undefined, stateDelta: EventActions['stateDelta']): Promise<void> | undefined {
    const { services, recorder, progress } = this.data
    if (services.plugins.length || stateDelta) return this.#recordWithWrites(message, stateDelta)
    if (!message) return undefined
    const event = recorder.draft('user', undefined, message, NO_ACTIONS)
    if (this.#messageId !== undefined) event.id = this.#messageId
    return recorder.commit([{ event }], progress.drained)
  }

  /** Has the log grown since the run claimed the session? */
  get hasProgressed(): boolean {
    const { view, held } = this.data
    return view.seq > held.lease.seq
  }

  /** Settles when the message is recorded. */
  async recorded(): Promise<void> {
    await this.data.progress.recording
  }

  /** Records the message with the changes of state that the caller and the plugins make. */
  async #recordWithWrites(message: Content | undefined, stateDelta: EventActions['stateDelta']): Promise<void> {
    const { services, recorder, progress } = this.data
    const context = this.#context()
    if (services.plugins.length) await beforeRun(services.plugins, message, context)
    if (!message && !stateDelta) return await this.#recordWrites(context)
    if (stateDelta) context.addActions({ stateDelta })
    const event = recorder.draft('user', undefined, message, context.take() ?? {})
    if (this.#messageId !== undefined) event.id = this.#messageId
    await recorder.commit([{ event }], progress.drained)
  }

  #runAgents(): Promise<'done' | 'wait'> {
    if (this.#live) return this.#live.drive()
    const { tree, fold, operation } = this.data
    const missing = fold.scopes.size ? findMissingAgent(tree, fold) : undefined
    if (missing === undefined) return runScope(this.data, tree.root, { path: tree.root.name, tree, operation })
    const problem = `Agent "${missing}" is no longer in the agent tree, so its unfinished work was not done`
    const reason = `${problem}. Remove or rename an agent only when it has no unfinished work.`
    return endWithError(this.data, reason).then(() => 'done')
  }

  #context(): RunCallbackContext {
    return new RunCallbackContext(this.data, this.data.tree.root.name, undefined)
  }

  async #endEarly(error: unknown): Promise<void> {
    const reason = this.data.stop.stopped?.reason ?? error
    if (!(reason instanceof Cancelled)) {
      this.failure = { reason }
      if (!(reason instanceof ToolwrightError)) {
        this.data.services.logger.error(`The run failed: ${messageOf(reason)}`, reason)
      }
      return
    }
    try {
      await this.closeAsCancelled(reason.message)
    } catch (failed) {
      this.failure = { reason: failed }
    }
  }

  async #afterRun(): Promise<void> {
    const context = this.#context()
    try {
      await this.data.recorder.emitted()
      await afterRun(this.data.services.plugins, context)
      await this.#recordWrites(context)
    } catch (error) {
      this.failure ??= { reason: error }
    }
  }

  /** Records what plugins wrote around a run without a message. */
  async #recordWrites(context: RunCallbackContext): Promise<void> {
    const { tree, recorder, stop } = this.data
    const { name } = tree.root
    const actions = context.take()
    if (actions && !stop.stopped) {
      await recorder.commit([{ event: recorder.draft(name, { path: name }, undefined, actions) }])
    }
  }

  async #finalize(): Promise<void> {
    const { progress, recorder, held, view, fold, events } = this.data
    progress.isFinalizing = true
    const reading = recorder.inboxRead()
    if (reading) await reading
    if (!this.failure && this.next().type === 'done') view.close(fold)
    const isUnfinished = this.failure !== undefined || (view.hasOthers(fold) && isInterrupted(view))
    if (!this.failure && held.isListDue) await this.#publishPendingRequests()
    await held.release(isUnfinished ? { interrupted: true } : undefined)
    if (this.slots) await this.slots.release() // before the caller may start another run
    this.isFinished = true
    this.#onFinished?.(this)
    events.notifyConsumer()
  }

  /** Stores the list of pending requests, so that `runner.pending()` finds them without the log. */
  async #publishPendingRequests(): Promise<void> {
    const { held, services, sessionId } = this.data
    try {
      await held.listPending()
    } catch (error) {
      services.logger.warn(
        `The pending requests of session "${sessionId}" could not be stored: ${messageOf(error)}`,
        error,
      )
    }
  }

  /** Records answers without a run. `drained`: inbox items to remove with them. */
  recordAnswers(
    message: Content,
    { stateDelta }: Pick<RunRequest, 'stateDelta'>,
    drained: readonly string[] | undefined,
  ): Promise<void> {
    const { recorder } = this.data
    return recorder.commit(
      [{ event: recorder.draft('user', undefined, message, stateDelta ? { stateDelta } : {}) }],
      drained,
    )
  }

  /** Records that requests expired, or that background calls gave no result in time. */
  expire(records: readonly (Denial | Interruption | BackgroundRecord)[]): Promise<void> {
    return this.data.recorder.commit(records.map((record) => ({ record })))
  }

  /** Records a final response to every open call, and the reason. */
  closeAsCancelled(reason: string, options?: CloseRunOptions): Promise<void> {
    return closeAsCancelled(this.data, reason, options)
  }

  next(): Next {
    const { tree, fold, progress } = this.data
    return next(tree.root, { fold, tree, progress }, tree.root.name)
  }

  error(): { readonly code: string; readonly message: string } | undefined {
    const { tree, fold } = this.data
    return scopeError(tree.root, { fold, tree }, tree.root.name)
  }

  branchedText(): string {
    const { tree, view, invocationId } = this.data
    const own = view.events.filter((event) => event.invocationId === invocationId)
    return branchedText({ agent: tree.root, tree }, { path: tree.root.name }, own)
  }

  stop(reason: unknown): void {
    if (!this.isFinished) this.data.stop.stop(reason)
  }

  /** Cancels the run when the consumer stops iterating. */
  removeConsumer(reason: Cancelled): void {
    this.stop(reason)
  }

  /** Stops the run because another run holds its session. */
  stopWithLostLease(): void {
    this.stop(leaseLost(this.sessionId))
  }

  /** Renews the lease and drains the inbox. */
  async tend(): Promise<void> {
    await this.data.held.renew()
    await this.drainInbox()
  }

  /** Reads what other processes have posted. */
  drainInbox(): Promise<void> {
    return this.data.recorder.drainInbox()
  }
}
