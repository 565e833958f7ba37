// Starts runs: claims the session, settles its inbox and expired requests, accepts the message.
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { keepShapesAlive } from '../../base/object-shapes.ts'
import type { Content } from '../../content/content.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { Event } from '../../event/event.ts'
import type { Lease, SessionKey } from '../../session/service.ts'
import type { RunContext } from '../../tool/run-context.ts'
import { type Accepted, acceptAnswers, acceptMessage, checkFirstMessage } from '../approvals/accept.ts'
import { completeConsents } from '../approvals/consent-answers.ts'
import { expired, isAtWork, isInterrupted, overdueIn } from '../approvals/pending-requests.ts'
import { type ClaimedSession, postAndFollow } from '../inbox/post-answers.ts'
import { settleInbox } from '../inbox/settle-inbox.ts'
import { claimIfFree, claimSession, type HeldSession, isOutdated, LeaseRenewer, openSession } from '../lease.ts'
import type { RunServices } from '../run-services.ts'
import { ActiveRun } from './active-run.ts'
import { ActiveRuns, StartLimiter } from './active-runs.ts'
import { Cancelled } from './cancelled.ts'
import { RunData } from './run-data.ts'
import { CANCELLED_BY_CALLER, type StartedRun } from './run-handle.ts'
import type { CloseOptions, RunRequest } from './run-request.ts'

interface RunStarterOptions {
  readonly appName: string
  readonly services: RunServices
  readonly tree: AgentTree
  readonly whilePaused: 'reject' | 'cancel' | 'continue' | undefined
}

interface StartOptions {
  /** Inbox items to remove with the message. */
  readonly drained?: readonly string[] | undefined
  /** Events that the consumer sees first. */
  readonly before?: readonly Event[] | undefined
}

const NO_EVENTS: readonly Event[] = []

/** How long `close()` waits until the ends of stopped runs are recorded, in milliseconds. */
const CLOSE_MS = 10_000

/** Starts the runs of a runner, and renews their leases. */
export class RunStarter {
  readonly #options: RunStarterOptions
  readonly #services: RunServices
  readonly #startLimiter: StartLimiter
  readonly #id: string
  #runs = 0
  readonly #renewer: LeaseRenewer
  #isClosed = false
  /** The runs under way. */
  readonly running: ActiveRuns = new ActiveRuns()

  constructor(options: RunStarterOptions) {
    this.#options = options
    this.#services = options.services
    this.#startLimiter = new StartLimiter(options.services.ports)
    this.#renewer = new LeaseRenewer(options.services.ports, () => this.running.all())
    this.#id = options.services.ports.newId()
    keepShapesAlive()
  }

  /** The agents of the runner. */
  get tree(): AgentTree {
    return this.#options.tree
  }

  /** What the runner provides to every run. */
  get services(): RunServices {
    return this.#services
  }

  /** Starts a run, or follows the run that holds the session. `before`: events that the consumer sees first. */
  start(request: RunRequest, before: readonly Event[] = NO_EVENTS): Promise<StartedRun> {
    const { message } = request
    if (!message || !request.mayHoldCode) return this.#start(request, before)
    return this.#startAfterConsents({ ...request, message }, before)
  }

  /** Exchanges the codes in the answers first. A consent that came too late gets a new request, then the caller an error. */
  async #startAfterConsents(
    request: RunRequest & { readonly message: Content },
    before: readonly Event[],
  ): Promise<StartedRun> {
    const { userId, sessionId } = request
    const key = { appName: this.#options.appName, userId, sessionId }
    const { message, expired } = await completeConsents(key, request.message, this.#services)
    const run = await this.#start({ ...request, message, mayHoldCode: false }, before)
    if (!expired) return run
    if (!(run instanceof ActiveRun)) throw expired
    await run.finished
    run.failure ??= { reason: expired }
    return run
  }

  async #start(request: RunRequest, before: readonly Event[]): Promise<StartedRun> {
    const crowded = this.#startLimiter.enter()
    if (crowded) await crowded
    const claimedAt = this.#services.ports.monotonicNow()
    let owned: ClaimedSession | undefined
    let held: HeldSession | undefined
    try {
      this.#throwIfClosed()
      const { userId, sessionId, isNew } = request
      const key = { appName: this.#options.appName, userId, sessionId }
      const { sessionService } = this.#services
      const { tree } = this.#options
      if (tree.hasMissingModel) await checkFirstMessage(key, request, { tree, sessionService })
      if (isNew) await sessionService.createSession(key)
      const claim = isNew ? claimed(await sessionService.claim(key)) : await this.#claim(key, request)
      if (claim.type === 'followed') {
        this.#startLimiter.release()
        if (request.hasConsumer?.()) claim.run.events.open()
        return claim.run
      }
      owned = claim
      held = await this.#open(requireLease(claim, request), claimedAt)
      const settled = isNew ? NO_EVENTS : await this.#settle(held, request)
      if (isOutdated(held)) held = await this.#open(held.lease, claimedAt)
      const seen = before.length + settled.length ? [...before, ...settled] : NO_EVENTS
      const overdue = this.#overdue(held, request)
      if (overdue === undefined) {
        const started = this.#acceptAndStart(held, request, claim, seen)
        return started instanceof Promise ? await started : started // without a promise for plain text
      }
      owned = undefined // the overdue invocation releases the lease
      const first = this.#startRun(held, continuing(overdue), { ...request, stateDelta: undefined, live: undefined })
      return await this.#startAfter(first, request, seen)
    } catch (error) {
      this.#startLimiter.release()
      if (owned?.lease) await this.#release(owned.lease, held, owned.drained)
      throw error
    }
  }

  async #claim(key: SessionKey, request: RunRequest): ReturnType<typeof postAndFollow> {
    const { sessionService, ports } = this.#services
    const { message, stateDelta } = request
    if (!message || request.invocationId) {
      return claimed(await claimSession(sessionService, key, message !== undefined || request.live !== undefined))
    }
    const throwIfCancelled = (): void => {
      this.#throwIfClosed()
      if (request.isCancelled?.()) throw new Cancelled('The run was cancelled before it started.')
    }
    throwIfCancelled()
    const free = await claimIfFree(sessionService, key)
    if (free) return claimed(free.lease)
    const findHolder = (): ActiveRun | undefined => this.running.of(key)[0]
    return await postAndFollow(key, { message, stateDelta }, { sessionService, ports, findHolder, throwIfCancelled })
  }

  /** Reads the log. A run of this runner that still believes it holds the session is stopped. */
  async #open(lease: Lease, claimedAt: number): Promise<HeldSession> {
    const isFresh = this.#stopRunsWithLostLease(lease.key)
    const log = await this.#services.sessionService.read(lease)
    return openSession({ lease, claimedAt }, log, this.#options.tree, isFresh)
  }

  #stopRunsWithLostLease(key: SessionKey): boolean {
    const lost = this.running.of(key).filter(({ data }) => !data.progress.isFinalizing)
    for (const run of lost) {
      run.stopWithLostLease()
    }
    return lost.length > 0
  }

  /** Drains the inbox and denies expired requests before the message is accepted. Returns the events of cancelled runs. */
  async #settle(
    held: HeldSession,
    { message, runContext }: Pick<RunRequest, 'message' | 'runContext'>,
  ): Promise<readonly Event[]> {
    const { sessionService, ports } = this.#services
    const items = await sessionService.drain(held.lease)
    const cancelAll = (ids: readonly string[], drained: readonly string[]): Promise<Event[]> =>
      this.#cancelAll(held, ids, runContext, drained)
    const events = items.length ? await settleInbox(held, items, { sessionService, ports, cancelAll }) : NO_EVENTS
    const now = ports.now() / 1000
    for (const { fold } of held.view.awake()) {
      const denials = expired(fold, now)
      if (denials.length) await this.#activate(held, fold.invocationId).deny(denials)
    }
    if (!message) held.view.listed = undefined // resume stores the list again: the stored one may be damaged
    return events
  }

  /** The invocation whose requests expired: it continues before new text is accepted. */
  #overdue({ view }: HeldSession, { isNew, invocationId, message, live }: RunRequest): string | undefined {
    if (isNew || !invocationId || !(message || live) || this.#options.whilePaused === 'cancel') return undefined
    return overdueIn(view)
  }

  #acceptAndStart(
    held: HeldSession,
    request: RunRequest,
    claim: ClaimedSession,
    before: readonly Event[],
  ): ActiveRun | Promise<ActiveRun> {
    const { message, invocationId, runContext } = request
    if (message && !invocationId) return this.#startWithAnswers(held, { ...request, message }, claim, before)
    const accepted = acceptMessage(held.view, request, this.#options)
    this.#throwIfClosed()
    if (accepted.cancel.length === 0) return this.#startRun(held, accepted, request, { before })
    return this.#cancelAll(held, accepted.cancel, runContext).then((ended) => {
      this.#throwIfClosed()
      return this.#startRun(held, accepted, request, { before: [...before, ...ended] })
    })
  }

  /**
   * Starts a run with answers, which continue their invocation. Repeated answers replay the events that followed the
   * first ones.
   */
  async #startWithAnswers(
    held: HeldSession,
    request: RunRequest & { readonly message: Content },
    { drained, asOf }: ClaimedSession,
    before: readonly Event[],
  ): Promise<ActiveRun> {
    const { view, log } = held
    const now = this.#services.ports.now()
    const hostOf = (id: string): RunData => this.#activate(held, id, request).data
    const asks = { tree: this.tree, services: this.#services, hostOf }
    const accepted = await acceptAnswers({ view, entries: log.entries }, request.message, { now, asOf, asks })
    this.#throwIfClosed()
    if (!accepted.replay) return this.#startRun(held, accepted, request, { drained, before })
    const { invocationId, replay } = accepted
    if (!isAtWork(view, invocationId)) return await this.#replay(held, invocationId, replay, drained)
    // the answers were recorded, then the run was interrupted: sending them again resumes it
    const resumed = { ...request, stateDelta: undefined }
    return this.#startRun(held, continuing(invocationId), resumed, { drained, before: [...before, ...replay] })
  }

  /** Starts the requested run after the run of the overdue invocation has finished. */
  async #startAfter(first: ActiveRun, request: RunRequest, before: readonly Event[]): Promise<StartedRun> {
    await first.finished
    if (first.failure) return first
    const events = [...before, ...first.events.takeAll()]
    try {
      return await this.start(request, events)
    } catch (error) {
      for (const event of events) first.events.push(event) // they are recorded: the consumer sees them before the error
      first.failure = { reason: error }
      return first
    }
  }

  /** A run that only yields recorded events. */
  async #replay(
    held: HeldSession,
    invocationId: string,
    events: readonly Event[],
    drained: readonly string[] | undefined,
  ): Promise<ActiveRun> {
    if (drained) await this.#services.sessionService.append(held.lease, held.view.seq, [], { drained })
    const active = this.#activate(held, invocationId)
    for (const event of events) active.events.push(event)
    this.running.add(active)
    active.finish()
    return active
  }

  #startRun(
    held: HeldSession,
    accepted: Accepted,
    request: RunRequest,
    { drained, before }: StartOptions = {},
  ): ActiveRun {
    const { stateDelta, signal, hasConsumer } = request
    const active = this.#activate(held, accepted.invocationId, request)
    if (hasConsumer?.()) active.events.open()
    for (const event of before ?? NO_EVENTS) active.events.push(event)
    this.running.add(active)
    this.#renewer.start(held.lease)
    active.start(accepted.message, stateDelta, drained)
    if (signal?.aborted) active.removeConsumer(new Cancelled(CANCELLED_BY_CALLER))
    return active
  }

  #activate(
    held: HeldSession,
    invocationId: string,
    { runConfig = {}, runContext, live }: Partial<Pick<RunRequest, 'runConfig' | 'runContext' | 'live'>> = {},
  ): ActiveRun {
    const nonce = `${this.#id}-${(++this.#runs).toString(36)}`
    const { tree } = this.#options
    const data = new RunData({ services: this.#services, tree, held, invocationId, nonce, runConfig, runContext, live })
    return new ActiveRun(data, this.#onFinished, live)
  }

  readonly #onFinished = (active: ActiveRun): void => {
    this.running.delete(active)
    this.#startLimiter.release()
  }

  /** Cancels these invocations; returns the events that record it. */
  async #cancelAll(
    held: HeldSession,
    invocationIds: readonly string[],
    runContext: RunContext | undefined,
    drained?: readonly string[],
  ): Promise<Event[]> {
    const events: Event[] = []
    for (const invocationId of invocationIds) {
      const closing = this.#activate(held, invocationId, { runContext })
      await closing.closeAsCancelled('The run was cancelled.', { drained })
      events.push(...closing.events.takeAll())
    }
    return events
  }

  /** Ends open invocations of a session whose lease the caller has claimed, then releases it. */
  async cancelHeld(lease: Lease, invocationId: string | undefined, runContext: RunContext | undefined): Promise<void> {
    await this.withHeld(lease, async (held) => {
      const open = held.view.open().map(({ fold }) => fold.invocationId)
      const named = open.filter((id) => invocationId === undefined || id === invocationId)
      await this.#cancelAll(held, named, runContext)
    })
  }

  /** Opens a session whose lease the caller has claimed, then releases the lease. */
  async withHeld<T>(lease: Lease, work: (held: HeldSession) => Promise<T>): Promise<T> {
    let held: HeldSession | undefined
    try {
      held = await this.#open(lease, this.#services.ports.monotonicNow())
      return await work(held)
    } finally {
      await this.#release(lease, held)
    }
  }

  /** Applies the inbox of a session that no run holds. */
  async settleHeld(held: HeldSession): Promise<void> {
    await this.#settle(held, { message: undefined, runContext: undefined })
  }

  /**
   * Ends the open invocations of a copied log. What their long-running calls have started is the original's to cancel. Returns
   * the last sequence number.
   */
  async closeCopied(lease: Lease, reason: string): Promise<number> {
    const held = await this.#open(lease, this.#services.ports.monotonicNow())
    const { view } = held
    for (const { fold } of view.open()) {
      await this.#activate(held, fold.invocationId).closeAsCancelled(reason, { keepsStartedWork: true })
    }
    view.isHeld = false
    return view.seq
  }

  /** Releases a lease without a run. Refused answers leave the inbox; an interrupted invocation stays interrupted. */
  async #release(lease: Lease, held: HeldSession | undefined, drained?: readonly string[]): Promise<void> {
    const { sessionService, logger } = this.#services
    if (held && drained && !this.#isClosed) {
      const { seq } = held.view
      await sessionService.append(lease, seq, [], { drained }).catch((error) => logger.warn(messageOf(error), error))
    }
    if (held) held.view.isHeld = false
    await sessionService.release(lease, { interrupted: held === undefined || isInterrupted(held.view) })
  }

  /**
   * Starts no more runs, waits up to `graceMs` for those under way, then stops the rest. `interrupt`: they stay interrupted, so
   * that `recover()` continues them; else they are cancelled.
   */
  async close({ graceMs = 0, interrupt = false }: CloseOptions = {}): Promise<void> {
    this.#isClosed = true
    if (graceMs > 0) await this.#runsEnd(graceMs)
    this.#renewer.close()
    const running = this.running.all()
    for (const active of running) active.stop(interrupt ? interrupted() : new Cancelled('The runner was closed.'))
    if (running.length > 0) await this.#runsEnd(CLOSE_MS) // a store may never answer
    const left = running.filter(({ isFinished }) => !isFinished)
    if (left.length > 0) this.#services.logger.warn(leftBehind(left))
  }

  /** Settles when no run is under way, or after `graceMs`. */
  #runsEnd(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancelTimer = this.#services.ports.setTimer(resolve, graceMs)
      const runs = this.running.all()
      void Promise.all(runs.map(({ finished }) => finished)).then(() => {
        cancelTimer()
        resolve()
      })
    })
  }

  #throwIfClosed(): void {
    if (this.#isClosed) throw new ToolwrightError('INVALID_REQUEST', 'The runner is closed. Create a new Runner.')
  }
}

function requireLease({ lease }: ClaimedSession, { sessionId }: RunRequest): Lease {
  if (lease) return lease
  throw new ToolwrightError(
    'NOT_FOUND',
    `There is no session "${sessionId}" of this user to resume. Check userId and sessionId; runner.pending() lists both for each request.`,
  )
}

function interrupted(): ToolwrightError {
  const next = 'runner.recover() or runner.resume() continues it'
  return new ToolwrightError('INTERRUPTED', `The runner was closed before the run ended. ${next}.`)
}

function claimed(lease: Lease | undefined): ClaimedSession {
  return { type: 'claimed', lease, drained: undefined, asOf: Number.POSITIVE_INFINITY }
}

function continuing(invocationId: string): Accepted {
  return { invocationId, message: undefined, cancel: [] }
}

function leftBehind(runs: readonly ActiveRun[]): string {
  const problem = `The session service did not record the end of ${runs.length} runs within ${CLOSE_MS} ms`
  const named = runs.slice(0, 10).map(({ sessionId }) => `"${sessionId}"`)
  return `${problem}: sessions ${named.join(', ')}. runner.recover() ends them later.`
}
