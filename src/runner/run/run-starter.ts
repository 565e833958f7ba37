// How a run comes to begin: the session is taken, what was left for it is settled, the message is accepted.
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Content } from '../../content/content.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { Event } from '../../event/event.ts'
import { DEFAULT_LEASE_MS } from '../../session/lease.ts'
import type { Lease, SessionKey } from '../../session/service.ts'
import type { RunConfig } from '../../tool/run-config.ts'
import type { RunContext } from '../../tool/run-context.ts'
import { type Accepted, accept, acceptAnswers } from '../approvals/accept.ts'
import { ActiveRun } from './active-run.ts'
import { Cancelled } from './cancelled.ts'
import { claim, type Held, hold, isOutdated } from '../lease/hold.ts'
import { claimOrFollow } from '../inbox/leave-answers.ts'
import { Pace } from '../lease/pace.ts'
import { expired, isAtWork, isInterrupted, overdueIn } from '../approvals/pending.ts'
import { BY_ITS_CALLER, type Followable } from './run-handle.ts'
import { RunList } from '../lease/run-list.ts'
import type { RunServices } from '../run-services.ts'
import { settleInbox } from '../inbox/settle-inbox.ts'

/** Renewals per lease: two may be late before the lease ends. */
const RENEWALS_PER_LEASE = 3

/** How a run was asked for. */
export interface Begin {
  readonly userId: string
  readonly sessionId: string
  /** Empty = whichever is open. */
  readonly invocationId: string
  /** Absent = go on with what is open. */
  readonly message?: Content | undefined
  readonly stateDelta?: JsonObject | undefined
  readonly runConfig: RunConfig
  readonly runContext: RunContext | undefined
  readonly signal: AbortSignal | undefined
  readonly isNew: boolean
  /** Is there a consumer for the events? Absent = no. */
  readonly isRead?: (() => boolean) | undefined
}

const NONE: readonly Event[] = []

interface RunStarterOptions {
  readonly appName: string
  readonly services: RunServices
  readonly tree: AgentTree
  readonly whilePaused: 'reject' | 'cancel' | 'continue' | undefined
}

export class RunStarter {
  readonly #options: RunStarterOptions
  readonly #services: RunServices
  readonly #tree: AgentTree
  readonly #pace: Pace
  readonly #id: string
  #runs = 0
  #stopRenewing: (() => void) | undefined
  #isClosed = false
  readonly running: RunList = new RunList()
  readonly #onOver = (active: ActiveRun): void => {
    this.running.delete(active)
    this.#pace.leave()
  }

  constructor(options: RunStarterOptions) {
    this.#options = options
    this.#services = options.services
    this.#tree = options.tree
    this.#pace = new Pace(options.services.ports)
    this.#id = options.services.ports.newId()
  }

  /** `before`: what happened on the way to it. */
  async begin(begin: Begin, isCancelled?: () => boolean, before: readonly Event[] = NONE): Promise<Followable> {
    const crowded = this.#pace.enter()
    if (crowded) await crowded
    const { appName, whilePaused } = this.#options
    const { sessionService } = this.#services
    const { userId, sessionId, message } = begin
    const key = { appName, userId, sessionId }
    let lease: Lease | undefined
    let held: Held | undefined
    let drained: readonly string[] | undefined
    let asOf = Number.POSITIVE_INFINITY
    const claimedAt = this.#services.ports.monotonicNow()
    try {
      this.#throwIfClosed()
      if (begin.isNew) {
        await sessionService.createSession(key)
        lease = await sessionService.claim(key)
      } else if (message && !begin.invocationId) {
        const found = await claimOrFollow(key, { message, stateDelta: begin.stateDelta }, this.#leaving(isCancelled))
        if (found.type === 'followed') {
          this.#pace.leave()
          if (begin.isRead?.()) found.run.events.open()
          return found.run
        }
        lease = found.lease
        drained = found.drained
        asOf = found.asOf
      } else lease = await claim(sessionService, key, message !== undefined)
      if (!lease)
        throw new ToolwrightError(
          'NOT_FOUND',
          `There is no session "${sessionId}" of this user to go on with. Check userId and sessionId; runner.pending() lists both for each request.`,
        )
      const isFresh = !begin.isNew && this.#stopWhoLost(key)
      held = hold({ lease, claimedAt }, await sessionService.read(lease), this.#tree, isFresh)
      const settled = begin.isNew ? NONE : await settleInbox(held, this.#settling(begin))
      if (!begin.isNew) await this.#expire(held)
      if (isOutdated(held)) held = await this.#hold(lease, claimedAt)
      if (!message) held.view.listed = undefined // resuming lists pending requests anew: the stored list may be damaged
      const overdue = begin.isNew || !begin.invocationId || !message ? undefined : overdueIn(held.view)
      if (overdue !== undefined && whilePaused !== 'cancel') {
        const first = this.#start(held, goingOn(overdue), { ...begin, stateDelta: undefined }, undefined, NONE)
        lease = undefined // it is the other run's now
        return await this.#beginAfter(first, begin, isCancelled, [...before, ...settled])
      }
      const accepted = begin.invocationId
        ? accept(held.view, begin, whilePaused)
        : await this.#acceptAnswers(held, begin, asOf)
      if (accepted.replay) {
        const { invocationId, replay } = accepted
        if (!isAtWork(held.view, invocationId)) return await this.#replay(held, invocationId, replay, drained)
        // it was answered, and then interrupted: asking again what became of it is reason enough to go on
        return this.#start(held, goingOn(invocationId), { ...begin, stateDelta: undefined }, drained, [
          ...before,
          ...replay,
        ])
      }
      const ended = accepted.cancel.length ? await this.#cancelAll(held, accepted.cancel, begin.runContext) : NONE
      this.#throwIfClosed()
      const isFirst = before.length + settled.length + ended.length === 0
      return this.#start(held, accepted, begin, drained, isFirst ? NONE : [...before, ...settled, ...ended])
    } catch (error) {
      this.#pace.leave()
      if (lease) await this.#giveBack(lease, held, drained)
      throw error
    }
  }

  /** What nobody answered in time goes on first; then it is the message's turn, if there is room for it now. */
  async #beginAfter(
    first: ActiveRun,
    begin: Begin,
    isCancelled: (() => boolean) | undefined,
    before: readonly Event[],
  ): Promise<Followable> {
    await first.finished
    if (first.failure) return first
    const events = [...before, ...first.events.takeAll()]
    try {
      return await this.begin(begin, isCancelled, events)
    } catch (error) {
      for (const event of events) first.events.push(event) // they happened: they are shown before the refusal
      first.failure = { reason: error }
      return first
    }
  }

  /** Ends what is open in a session that is ours now. */
  async cancelHeld(lease: Lease, invocationId: string | undefined, runContext: RunContext | undefined): Promise<void> {
    let held: Held | undefined
    try {
      held = await this.#hold(lease, this.#services.ports.monotonicNow())
      const open = held.view.open().map(({ fold }) => fold.invocationId)
      const named = open.filter((id) => invocationId === undefined || id === invocationId)
      await this.#cancelAll(held, named, runContext)
    } finally {
      await this.#giveBack(lease, held)
    }
  }

  /** Ends all runs and begins no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopRenewing?.()
    const running = this.running.all()
    for (const active of running) active.stop(new Cancelled('The runner was closed.'))
    await Promise.all(running.map((active) => active.finished))
  }

  #leaving(isCancelled: (() => boolean) | undefined): Parameters<typeof claimOrFollow>[2] {
    return {
      sessionService: this.#services.sessionService,
      ports: this.#services.ports,
      holderOf: (key) => this.running.of(key)[0],
      check: () => {
        this.#throwIfClosed()
        if (isCancelled?.()) throw new Cancelled('The run was cancelled before it began.')
      },
    }
  }

  async #hold(lease: Lease, claimedAt: number): Promise<Held> {
    const isFresh = this.#stopWhoLost(lease.key)
    return hold({ lease, claimedAt }, await this.#services.sessionService.read(lease), this.#tree, isFresh)
  }

  #settling({ runContext }: Begin): Parameters<typeof settleInbox>[1] {
    const { sessionService, ports } = this.#services
    return {
      sessionService,
      ports,
      cancelAll: (cancelled, ids, drained) => this.#cancelAll(cancelled, ids, runContext, drained),
    }
  }

  /** The session is ours again: a run of ours that held it before is told so, instead of finding out. */
  #stopWhoLost(key: SessionKey): boolean {
    const lost = this.running.of(key).filter(({ isResting }) => !isResting)
    for (const run of lost) {
      run.stop(new ToolwrightError('LEASE_LOST', `The lease on session "${key.sessionId}" is no longer held.`))
    }
    return lost.length > 0
  }

  /** What was unfinished before is so still; answers that were refused are not left for anybody. */
  async #giveBack(lease: Lease, held: Held | undefined, drained?: readonly string[]): Promise<void> {
    const { sessionService, logger } = this.#services
    if (held && drained && !this.#isClosed) {
      const { seq } = held.view
      await sessionService.append(lease, seq, [], { drained }).catch((error) => logger.warn(messageOf(error), error))
    }
    if (held) held.view.isHeld = false
    await this.#services.sessionService.release(lease, { interrupted: held === undefined || isInterrupted(held.view) })
  }

  #throwIfClosed(): void {
    if (this.#isClosed) throw new ToolwrightError('INVALID_REQUEST', 'The runner is closed.')
  }

  /** A message of answers, or `resume` without a name. */
  async #acceptAnswers({ view, log: { entries } }: Held, begin: Begin, asOf: number): Promise<Accepted> {
    const { message } = begin
    if (!message) return accept(view, begin, this.#options.whilePaused)
    return await acceptAnswers({ view, entries }, message, { now: this.#services.ports.now(), asOf })
  }

  /** A run in which nothing happens but what had happened before. */
  async #replay(
    held: Held,
    invocationId: string,
    events: readonly Event[],
    drained: readonly string[] | undefined,
  ): Promise<ActiveRun> {
    if (drained) await this.#services.sessionService.append(held.lease, held.view.seq, [], { drained })
    const active = this.#activate(held, invocationId)
    for (const event of events) active.events.push(event)
    this.running.add(active)
    active.rest()
    return active
  }

  /** Questions whose time is up are denied before anything else happens. */
  async #expire(held: Held): Promise<void> {
    const now = this.#services.ports.now() / 1000
    for (const { fold } of held.view.awake()) {
      const denials = expired(fold, now)
      if (denials.length) await this.#activate(held, fold.invocationId).deny(denials)
    }
  }

  #start(
    held: Held,
    accepted: Accepted,
    { stateDelta, runConfig, runContext, signal, isRead }: Begin,
    drained: readonly string[] | undefined,
    ended: readonly Event[],
  ): ActiveRun {
    const active = this.#activate(held, accepted.invocationId, runConfig, runContext)
    if (isRead?.()) active.events.open()
    for (let at = 0; at < ended.length; at++) active.events.push(ended[at] as Event) // who put an end to it sees it
    this.running.add(active)
    // a service from before leases told their length has the default one
    this.#keepRenewing((held.lease.leaseMs || DEFAULT_LEASE_MS) / RENEWALS_PER_LEASE)
    active.start(accepted.message, stateDelta, drained)
    if (signal?.aborted) active.leave(new Cancelled(BY_ITS_CALLER))
    return active
  }

  #activate(held: Held, invocationId: string, runConfig: RunConfig = {}, runContext?: RunContext): ActiveRun {
    const { lease, log, view, claimedAt } = held
    const nonce = `${this.#id}-${(++this.#runs).toString(36)}`
    return new ActiveRun({
      services: this.#services,
      tree: this.#tree,
      lease,
      claimedAt,
      log,
      view,
      invocationId,
      nonce,
      runConfig,
      runContext,
      onOver: this.#onOver,
    })
  }

  /** Ends these invocations; gives the events that say so. */
  async #cancelAll(
    held: Held,
    invocationIds: readonly string[],
    runContext: RunContext | undefined,
    drained?: readonly string[],
  ): Promise<Event[]> {
    const events: Event[] = []
    for (const invocationId of invocationIds) {
      const closing = this.#activate(held, invocationId, {}, runContext)
      await closing.closeAsCancelled('The run was cancelled.', drained)
      events.push(...closing.events.takeAll())
    }
    return events
  }

  /** One timer for all runs; it stops by itself when none is left. */
  #keepRenewing(everyMs: number): void {
    this.#stopRenewing ??= this.#services.ports.setTimer(
      () => {
        this.#stopRenewing = undefined
        if (this.running.size === 0 || this.#isClosed) return
        for (const active of this.running.all()) active.tend().catch((error) => active.stop(error))
        this.#keepRenewing(everyMs)
      },
      everyMs,
      { background: true },
    )
  }
}

function goingOn(invocationId: string): Accepted {
  return { invocationId, message: undefined, cancel: [] }
}
