// Starts runs: claims the session, opens it, then does what the plan says until a run has started.

import { loadLater } from '../../../core/base/load-later.ts'
import type { Content } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import type { Lease, PostedItem } from '../../../services/session/service.ts'
import { acceptAnswers } from '../approvals/accept.ts'
import { isAtWork } from '../approvals/pending-requests.ts'
import type { ClaimedSession } from '../inbox/post-answers.ts'
import { findAnswered, findMessage, type PostedMessage, postedResults } from '../inbox/settle-inbox.ts'
import type { HeldSession } from '../session/held-session.ts'
import { ActiveRun } from './active-run.ts'
import { Cancelled } from './cancelled.ts'
import { planStart } from './plan-start.ts'
import { RunFactory, type RunFactoryOptions } from './run-factory.ts'
import { CANCELLED_BY_CALLER, type StartedRun } from './run-handle.ts'
import { type TakeSlots, withRunSlots } from './run-limits.ts'
import type { RunRequest } from './run-request.ts'
import { applyInbox, cancelAll, checkStart, nextTell, recordOverdue, releaseAfter } from './settle-session.ts'
import { keepShapesAlive } from './shape-samples.ts'
import { stopRuns } from './stop-runs.ts'

const consentAnswers = loadLater(() => import('../approvals/consent-answers.ts'))

interface RunStarterOptions extends RunFactoryOptions {
  readonly whilePaused: 'reject' | 'cancel' | 'continue' | undefined
}

const NO_EVENTS: readonly Event[] = []
const NO_ITEMS: readonly PostedItem[] = []

/** Starts the runs of a runner. */
export class RunStarter {
  /** Opens sessions and creates runs. */
  readonly factory: RunFactory
  readonly #options: RunStarterOptions

  constructor(options: RunStarterOptions) {
    this.#options = options
    this.factory = new RunFactory(options)
    keepShapesAlive()
  }

  /** Starts a run, or follows the run that holds the session. `before`: events that the consumer sees first. */
  start(request: RunRequest, before: readonly Event[] = NO_EVENTS): Promise<StartedRun> {
    const { message, isResult } = request
    // the result of a background call continues a run that was counted
    if (this.#options.services.limits?.runs && !isResult) return this.#startWithSlots(request, before)
    if (!message || !request.mayHoldCode) return this.#start(request, before)
    return this.#startAfterConsents({ ...request, message }, before)
  }

  /** Starts a run within the limits of the runner. */
  #startWithSlots(request: RunRequest, before: readonly Event[]): Promise<StartedRun> {
    const { appName, services } = this.#options
    return withRunSlots({ appName, request, services }, (limited, takeSlots) => {
      const { message } = limited
      if (!message || !limited.mayHoldCode) return this.#start(limited, before, takeSlots)
      return this.#startAfterConsents({ ...limited, message }, before, takeSlots)
    })
  }

  /** Exchanges the codes in the answers first. A consent that came too late gets a new request, then the caller an error. */
  async #startAfterConsents(
    request: RunRequest & { readonly message: Content },
    before: readonly Event[],
    takeSlots?: TakeSlots,
  ): Promise<StartedRun> {
    const { userId, sessionId } = request
    const key = { appName: this.#options.appName, userId, sessionId }
    const { completeConsents } = await consentAnswers()
    const { message, expired } = await completeConsents(key, request.message, this.#options.services)
    const run = await this.#start({ ...request, message, mayHoldCode: false }, before, takeSlots)
    if (!expired) return run
    if (!(run instanceof ActiveRun)) throw expired
    await run.finished
    run.failure ??= { reason: expired }
    return run
  }

  /** `takeSlots`: set if the slots of the run are taken once its session is claimed. */
  async #start(given: RunRequest, before: readonly Event[], takeSlots?: TakeSlots): Promise<StartedRun> {
    let request = given
    const { services, tree, whilePaused } = this.#options
    const { ports } = services
    const claimedAt = ports.monotonicNow()
    this.factory.throwIfClosed()
    const claim = await this.factory.claim(request)
    if (claim.type === 'followed') {
      if (request.caller?.hasConsumer()) claim.run.events.open()
      return claim.run
    }
    const lease = requireLease(claim.lease, request)
    let held: HeldSession | undefined
    let seen = before
    let overdue: string
    let posted: ReadonlySet<string> | undefined
    let answered: string | undefined
    let taken: PostedMessage | undefined
    const isAlive = (id: string): boolean => posted?.has(id) || services.background?.isRunning(request, id) || false
    const tellAgainAt = (): number | undefined => nextTell(services)
    try {
      held = await this.factory.open(lease, claimedAt)
      if (takeSlots) request = { ...request, slots: await takeSlots() }
      if (request.unattended || request.tick) await checkStart(held, request, services)
      const items = request.isNew ? NO_ITEMS : await held.inbox()
      if (items.length) {
        seen = joined(seen, await applyInbox(this.factory, held, items, request.runContext))
        if (held.isOutdated) held = await this.factory.open(lease, claimedAt)
        if (!request.message) answered = findAnswered(held, items)
      }
      if (!request.message) held.relist() // the stored list may be damaged
      for (;;) {
        const now = ports.now() / 1000
        const options = { tree, whilePaused, now, isAlive, answered, tellAgainAt }
        const plan = planStart(held.view, taken?.request ?? request, options)
        if (plan.type === 'refuse') {
          taken = taken ? undefined : findMessage(request, items)
          if (!taken) throw plan.error
          continue // with the message that was posted
        }
        if (plan.type === 'finish first') {
          overdue = plan.invocationId
          if (held.isPartial) await loadInvocation(held, overdue)
          break
        }
        if (plan.type === 'answer') return await this.#startWithAnswers(held, request, claim, seen)
        if (plan.type === 'start') {
          const { cancel, invocationId } = plan
          const { runContext, message } = taken?.request ?? request
          if (cancel.length) seen = joined(seen, await cancelAll(this.factory, held, cancel, { runContext }))
          if (held.isPartial) await loadInvocation(held, invocationId)
          this.factory.throwIfClosed()
          return this.#startRun(held, { invocationId, message }, taken?.request ?? request, {
            before: seen,
            drained: taken?.drained,
          })
        }
        if (plan.type !== 'expire first' && !posted) posted = await postedResults(held)
        else await recordOverdue(this.factory, held, plan)
      }
    } catch (error) {
      await releaseAfter(error, this.factory, lease, {
        held,
        drained: this.factory.isClosed ? undefined : claim.drained,
      })
      throw error
    }
    const first = this.#startRun(
      held,
      { invocationId: overdue },
      { ...request, stateDelta: undefined, live: undefined },
    )
    return await this.#startAfter(first, request, seen)
  }

  /**
   * Starts a run with answers, which continue their invocation. Repeated answers replay the events that followed the
   * first ones.
   */
  async #startWithAnswers(
    held: HeldSession,
    request: RunRequest,
    { drained, asOf }: ClaimedSession,
    before: readonly Event[],
  ): Promise<ActiveRun> {
    const { services, tree } = this.#options
    const { view } = held
    const hostOf = (id: string): ActiveRun['data'] => this.factory.create(held, id, request).data
    const { isResult = false } = request
    const context = { now: services.ports.now(), asOf, isResult, asks: { tree, services, hostOf } }
    const accepted = await acceptAnswers(held, request.message as Content, context)
    if (held.isPartial) await loadInvocation(held, accepted.invocationId)
    this.factory.throwIfClosed()
    if (accepted.type === 'record') return this.#startRun(held, accepted, request, { drained, before })
    const { invocationId, events } = accepted
    if (!isAtWork(view, invocationId)) await request.slots?.release()
    if (!isAtWork(view, invocationId)) return await this.#replay(held, invocationId, events, drained)
    // the answers were recorded, then the run was interrupted: sending them again resumes it
    const resumed = { ...request, stateDelta: undefined }
    return this.#startRun(held, { invocationId }, resumed, { drained, before: joined(before, events) })
  }

  /** Starts the requested run after another one, which continues an invocation whose requests have expired. */
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
    if (drained) await held.append([], drained)
    const active = this.factory.create(held, invocationId)
    for (const event of events) active.events.push(event)
    this.factory.running.add(active)
    active.finish()
    return active
  }

  #startRun(
    held: HeldSession,
    { invocationId, message }: { readonly invocationId: string; readonly message?: Content | undefined },
    request: RunRequest,
    { drained, before = NO_EVENTS }: StartOptions = {},
  ): ActiveRun {
    const { stateDelta, signal, caller } = request
    const active = this.factory.create(held, invocationId, request)
    active.slots = request.slots
    if (caller?.hasConsumer()) active.events.open()
    for (const event of before) active.events.push(event)
    this.factory.add(active, held)
    active.start(message, stateDelta, { drained, messageId: request.tick?.eventId })
    if (signal?.aborted) active.removeConsumer(new Cancelled(CANCELLED_BY_CALLER))
    return active
  }

  /**
   * Starts no more runs, waits up to `graceMs` for those under way, then stops the rest. `interrupt`: they stay interrupted, so
   * that `recover()` continues them; else they are cancelled.
   */
  async close(options: Parameters<typeof stopRuns>[1] = {}): Promise<void> {
    this.factory.refuseRuns()
    await stopRuns(this.factory, options)
  }
}

interface StartOptions {
  /** Inbox items to remove with the message. */
  readonly drained?: readonly string[] | undefined
  /** Events that the consumer sees first. */
  readonly before?: readonly Event[]
}

/** Reads the events of an invocation that continues: its agents may show or return them. Undefined: they are in memory. */
function loadInvocation(held: HeldSession, invocationId: string): Promise<void> | undefined {
  const { firstSeq } = held.view.foldOf(invocationId)
  return firstSeq === 0 ? undefined : held.load(firstSeq)
}

function joined(before: readonly Event[], more: readonly Event[]): readonly Event[] {
  return more.length === 0 ? before : [...before, ...more]
}

/** The lease of a session that was claimed. Throws NOT_FOUND if there is no such session. */
export function requireLease(lease: Lease | undefined, { sessionId }: { readonly sessionId: string }): Lease {
  if (lease) return lease
  throw new ToolwrightError(
    'NOT_FOUND',
    `There is no session "${sessionId}" of this user to resume. Check userId and sessionId; runner.pending() lists both for each request.`,
  )
}
