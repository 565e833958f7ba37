import type { Agent } from '../agent/agent.ts'
import { AgentTree } from '../agent/tree.ts'
import type { ArtifactService } from '../artifact/service.ts'
import { Deadlines } from '../base/deadlines.ts'
import type { JsonObject } from '../base/json.ts'
import { type Ports, systemPorts } from '../base/ports.ts'
import type { Content, Message } from '../content/content.ts'
import type { CredentialService } from '../credential/service.ts'
import type { Logger } from '../dispatch/host.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import type { Event } from '../event/event.ts'
import type { PendingRequest } from '../event/pending.ts'
import type { MemoryService } from '../memory/service.ts'
import { InMemorySessionService } from '../session/in-memory.ts'
import type { Lease, SessionKey, SessionService } from '../session/service.ts'
import type { RunConfig } from '../tool/run-config.ts'
import { type Accepted, accept, acceptAnswers } from './accept.ts'
import { ActiveRun } from './active-run.ts'
import { Cancelled } from './cancelled.ts'
import { type Completion, completionOf } from './complete.ts'
import { claim, claimIfFree, type Held, hold, isOutdated } from './hold.ts'
import { claimOrFollow } from './leave-answers.ts'
import { toContent } from './message.ts'
import { type Models, modelResolver } from './models.ts'
import { Pace } from './pace.ts'
import { expired, isInterrupted } from './pending.ts'
import type { Plugin } from './plugin.ts'
import { closeResource, resourcesOf } from './resources.ts'
import { BY_ITS_CALLER, type Followable, followSignal, type Run, RunHandle } from './run.ts'
import { RunList } from './run-list.ts'
import type { RunServices } from './run-services.ts'
import { settleInbox } from './settle-inbox.ts'

/** Leases live three times as long. */
const RENEW_MS = 5_000

export interface RunnerOptions {
  readonly appName: string
  readonly agent: Agent
  /** Default: in memory. */
  readonly sessionService?: SessionService | undefined
  readonly artifactService?: ArtifactService | undefined
  readonly memoryService?: MemoryService | undefined
  readonly credentialService?: CredentialService | undefined
  readonly plugins?: readonly Plugin[] | undefined
  /** Who answers to model names. */
  readonly models?: Models | undefined
  /**
   * What new text does while an invocation is unfinished. Default: `continue` when only long-running results are
   * missing, else `reject`.
   */
  readonly whilePaused?: 'reject' | 'cancel' | 'continue' | undefined
  /** Default 30 s; a tool's own `timeoutMs` replaces it. */
  readonly toolTimeoutMs?: number | undefined
  /** Larger results are cut. Default 256 kB. */
  readonly maxResultBytes?: number | undefined
  /** Default: `console`. */
  readonly logger?: Logger | undefined
  readonly ports?: Partial<Ports> | undefined
}

export interface RunOptions {
  readonly userId: string
  /** Created when it does not exist; a new one without. */
  readonly sessionId?: string | undefined
  readonly message: Message
  /** Written with the message. */
  readonly stateDelta?: JsonObject | undefined
  readonly runConfig?: RunConfig | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs an agent for users and their sessions.
 *
 * @example
 * const runner = new Runner({ appName: 'weather', agent })
 * const { text } = await runner.complete({ userId: 'ada', message: 'Is it cold in Oslo?' })
 */
export class Runner {
  readonly appName: string
  readonly agent: Agent
  readonly sessionService: SessionService
  readonly artifactService: ArtifactService | undefined
  readonly memoryService: MemoryService | undefined
  readonly credentialService: CredentialService | undefined
  readonly #options: RunnerOptions
  readonly #services: RunServices
  readonly #tree: AgentTree
  readonly #running: RunList = new RunList()
  readonly #pace: Pace
  readonly #onOver = (active: ActiveRun): void => {
    this.#running.delete(active)
    this.#pace.leave()
  }
  readonly #settling: Parameters<typeof settleInbox>[1]
  readonly #id: string
  #runs = 0
  #stopRenewing: (() => void) | undefined
  #closing: Promise<void> | undefined

  constructor(options: RunnerOptions) {
    this.#options = options
    this.appName = options.appName
    this.agent = options.agent
    this.sessionService = options.sessionService ?? new InMemorySessionService()
    this.artifactService = options.artifactService
    this.memoryService = options.memoryService
    this.credentialService = options.credentialService
    const { plugins = [], logger = console, toolTimeoutMs = 30_000, maxResultBytes = 256_000 } = options
    const ports = { ...systemPorts, ...options.ports }
    this.#services = {
      sessionService: this.sessionService,
      artifactService: this.artifactService,
      memoryService: this.memoryService,
      credentialService: this.credentialService,
      plugins,
      watchers: plugins.filter((plugin) => plugin.onEvent),
      logger,
      ports,
      deadlines: new Deadlines(ports),
      toolTimeoutMs: positive(toolTimeoutMs, 'toolTimeoutMs'),
      maxResultBytes: positive(maxResultBytes, 'maxResultBytes'),
    }
    this.#settling = {
      sessionService: this.sessionService,
      ports,
      cancelAll: (...args) => this.#cancelAll(...args),
    }
    this.#pace = new Pace(ports)
    this.#id = this.#services.ports.newId()
    this.#tree = new AgentTree(options.agent, { resolveModel: modelResolver(options.models ?? {}), plugins })
    this.#tree.prepare()
  }

  /** Sends a message; the events come as they happen. */
  run(options: RunOptions): Run {
    return this.#handle(this.#begunBy(options))
  }

  /** Sends a message and waits for the end, or for a pause. */
  async complete(options: RunOptions): Promise<Completion> {
    const begin = this.#begunBy(options)
    const active = await this.#begin(begin, begin.signal ? () => begin.signal?.aborted === true : undefined)
    const forgetSignal = followSignal(options.signal, active)
    await active.finished
    forgetSignal?.()
    if (active.failure) throw active.failure.reason
    return completionOf(active)
  }

  /** Goes on with an invocation that was interrupted. */
  resume(options: {
    userId: string
    sessionId: string
    invocationId?: string | undefined
    runConfig?: RunConfig | undefined
    signal?: AbortSignal | undefined
  }): Run {
    const { userId, sessionId, invocationId = '', runConfig = {}, signal } = options
    return this.#handle({ userId, sessionId, invocationId, runConfig, signal, isNew: false })
  }

  /**
   * Goes on with what was interrupted when its process died, in all sessions of this app that nobody else has taken
   * up. Each runs to its end or pause, whether anybody reads its events or not.
   */
  async recover(): Promise<Run[]> {
    const keys = await this.sessionService.interrupted({ appName: this.appName })
    const runs = await Promise.all(keys.map((key) => this.#recover(key)))
    return runs.filter((run) => run !== undefined)
  }

  async #recover({ userId, sessionId }: SessionKey): Promise<Run | undefined> {
    const begin: Begin = { userId, sessionId, invocationId: '', runConfig: {}, signal: undefined, isNew: false }
    try {
      const active = await this.#begin(begin)
      const { invocationId } = active
      return new RunHandle({ sessionId, invocationId, open: async () => active, detach: true, signal: undefined })
    } catch (error) {
      if (error instanceof ToolwrightError && (error.code === 'SESSION_BUSY' || error.code === 'NOT_FOUND')) {
        return undefined // somebody else was faster, or it had come to its end
      }
      this.#services.logger.error(`Session "${sessionId}" could not be gone on with: ${messageOf(error)}`, error)
      return undefined
    }
  }

  /** What the sessions of this app wait for, of all users or of one, oldest first. */
  pending(filter: { userId?: string | undefined; sessionId?: string | undefined } = {}): Promise<PendingRequest[]> {
    return this.sessionService.pending({ appName: this.appName, ...filter })
  }

  /** Ends what is unfinished in a session: running, waiting or interrupted. Nothing happens when nothing is. */
  async cancel(options: { userId: string; sessionId: string; invocationId?: string | undefined }): Promise<void> {
    const { userId, sessionId, invocationId } = options
    const key = { appName: this.appName, userId, sessionId }
    for (const active of this.#running.of(key)) {
      if (invocationId !== undefined && active.invocationId !== invocationId) continue
      active.stop(new Cancelled('The run was cancelled.'))
      await active.finished
      if (invocationId !== undefined || !active.view.hasOthers(active.fold)) return
    }
    const free = await claimIfFree(this.sessionService, key)
    if (free?.lease) return await this.#cancelHeld(free.lease, invocationId)
    if (free) return
    const which = invocationId === undefined ? {} : { invocationId }
    await this.sessionService.post(key, { id: this.#services.ports.newId(), type: 'cancel', ...which })
  }

  async #cancelHeld(lease: Lease, invocationId: string | undefined): Promise<void> {
    let held: Held | undefined
    try {
      held = hold(lease, await this.sessionService.read(lease), this.#tree)
      const open = held.view.open().map(({ fold }) => fold.invocationId)
      const named = open.filter((id) => invocationId === undefined || id === invocationId)
      await this.#cancelAll(held, named)
    } finally {
      await this.#giveBack(lease, held)
    }
  }

  /** Ends all runs and closes toolsets, code executors and plugins. */
  async close(): Promise<void> {
    this.#closing ??= this.#end()
    return await this.#closing
  }

  async #end(): Promise<void> {
    this.#stopRenewing?.()
    const running = this.#running.all()
    for (const active of running) active.stop(new Cancelled('The runner was closed.'))
    await Promise.all(running.map((active) => active.finished))
    const closing = [
      ...resourcesOf(this.#tree.agents()).map((one) => closeResource(one)),
      ...this.#services.plugins.map(async (plugin) => await plugin.close?.()),
    ]
    const failed = (await Promise.allSettled(closing)).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    if (failed.length) throw new AggregateError(failed, `Closing failed: ${failed.map(messageOf).join('; ')}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #begunBy({ userId, sessionId, message: given, stateDelta, runConfig = {}, signal }: RunOptions): Begin {
    const { newId } = this.#services.ports
    const message = toContent(given)
    const isAnswer = message.parts.some((part) => part.functionResponse)
    if (isAnswer && sessionId === undefined) {
      throw new ToolwrightError('INVALID_REQUEST', 'An answer needs the session in which it was asked for.')
    }
    return {
      userId,
      sessionId: sessionId ?? newId(),
      invocationId: isAnswer ? '' : `e-${newId()}`,
      message,
      stateDelta,
      runConfig,
      signal,
      isNew: sessionId === undefined,
    }
  }

  #handle(begin: Begin): RunHandle {
    const { sessionId, invocationId, runConfig, signal } = begin
    const open = (isCancelled: () => boolean): Promise<Followable | undefined> =>
      this.#begin(begin, () => isCancelled() || signal?.aborted === true).catch((error) => {
        if (error instanceof Cancelled) return undefined
        throw error
      })
    return new RunHandle({ sessionId, invocationId, open, detach: runConfig.detach === true, signal })
  }

  async #begin(begin: Begin, isCancelled?: () => boolean): Promise<Followable> {
    const crowded = this.#pace.enter()
    if (crowded) await crowded
    this.#throwIfClosed()
    const { userId, sessionId, message } = begin
    const key = { appName: this.appName, userId, sessionId }
    let lease: Lease | undefined
    let drained: readonly string[] | undefined
    if (begin.isNew) {
      await this.sessionService.createSession(key)
      lease = await this.sessionService.claim(key)
    } else if (message && !begin.invocationId) {
      const found = await claimOrFollow(key, message, this.#leaving(isCancelled))
      if (found.type === 'followed') return found.run
      lease = found.lease
      drained = found.drained
    } else lease = await claim(this.sessionService, key, message !== undefined)
    if (!lease) throw new ToolwrightError('NOT_FOUND', `There is no session "${sessionId}" to go on with.`)
    let held: Held | undefined
    try {
      const isFresh = !begin.isNew && this.#stopWhoLost(key)
      held = hold(lease, await this.sessionService.read(lease), this.#tree, isFresh)
      const settled = begin.isNew ? undefined : await settleInbox(held, this.#settling)
      if (!begin.isNew) await this.#expire(held)
      if (isOutdated(held)) held = hold(lease, await this.sessionService.read(lease), this.#tree)
      const accepted = begin.invocationId
        ? accept(held.view, begin, this.#options.whilePaused)
        : await this.#acceptAnswers(held, begin)
      if (accepted.replay) return await this.#replay(held, accepted.invocationId, accepted.replay, drained)
      const ended = accepted.cancel.length ? await this.#cancelAll(held, accepted.cancel) : undefined
      this.#throwIfClosed()
      return this.#start(
        held,
        accepted,
        begin,
        drained,
        settled?.length || ended ? [...(settled ?? []), ...(ended ?? [])] : undefined,
      )
    } catch (error) {
      await this.#giveBack(lease, held)
      throw error
    }
  }

  #leaving(isCancelled: (() => boolean) | undefined): Parameters<typeof claimOrFollow>[2] {
    return {
      sessionService: this.sessionService,
      ports: this.#services.ports,
      holderOf: (key) => this.#running.of(key)[0],
      check: () => {
        this.#throwIfClosed()
        if (isCancelled?.()) throw new Cancelled('The run was cancelled before it began.')
      },
    }
  }

  /** The session is ours again: a run of ours that held it before is told so, instead of finding out. */
  #stopWhoLost(key: SessionKey): boolean {
    const lost = this.#running.of(key).filter(({ isResting }) => !isResting)
    for (const run of lost) {
      run.stop(new ToolwrightError('LEASE_LOST', `The lease on session "${key.sessionId}" is no longer held.`))
    }
    return lost.length > 0
  }

  /** What was unfinished before is so still. */
  async #giveBack(lease: Lease, held: Held | undefined): Promise<void> {
    await this.sessionService.release(lease, { interrupted: held !== undefined && isInterrupted(held.view) })
  }

  #throwIfClosed(): void {
    if (this.#closing) throw new ToolwrightError('INVALID_REQUEST', 'The runner is closed.')
  }

  /** A message of answers, or `resume` without a name. */
  async #acceptAnswers({ view, log }: Held, begin: Begin): Promise<Accepted> {
    const { message } = begin
    if (!message) return accept(view, begin, this.#options.whilePaused)
    return await acceptAnswers(view, log.entries, message, this.#services.ports.now())
  }

  /** A run in which nothing happens but what had happened before. */
  async #replay(
    held: Held,
    invocationId: string,
    events: readonly Event[],
    drained: readonly string[] | undefined,
  ): Promise<ActiveRun> {
    if (drained) await this.sessionService.append(held.lease, held.view.seq, [], { drained })
    const active = this.#activate(held, invocationId, {})
    for (const event of events) active.events.push(event)
    this.#running.add(active)
    active.rest()
    return active
  }

  /** Questions whose time is up are denied before anything else happens. */
  async #expire(held: Held): Promise<void> {
    const now = this.#services.ports.now() / 1000
    for (const { fold } of held.view.open()) {
      const denials = expired(fold, now)
      if (denials.length) await this.#activate(held, fold.invocationId, {}).deny(denials)
    }
  }

  #start(
    held: Held,
    accepted: Accepted,
    { stateDelta, runConfig, signal }: Begin,
    drained: readonly string[] | undefined,
    ended: readonly Event[] = [],
  ): ActiveRun {
    const active = this.#activate(held, accepted.invocationId, runConfig)
    for (const event of ended) active.events.push(event) // what the message put an end to is seen by whoever sent it
    this.#running.add(active)
    this.#keepRenewing()
    active.start(accepted.message, stateDelta, drained)
    if (signal?.aborted) active.leave(new Cancelled(BY_ITS_CALLER))
    return active
  }

  #activate(held: Held, invocationId: string, runConfig: RunConfig): ActiveRun {
    const { lease, log, view } = held
    const nonce = `${this.#id}-${(++this.#runs).toString(36)}`
    return new ActiveRun({
      services: this.#services,
      tree: this.#tree,
      lease,
      log,
      view,
      invocationId,
      nonce,
      runConfig,
      onOver: this.#onOver,
    })
  }

  /** Ends these invocations; gives the events that say so. */
  async #cancelAll(held: Held, invocationIds: readonly string[], drained?: readonly string[]): Promise<Event[]> {
    const events: Event[] = []
    for (const invocationId of invocationIds) {
      const closing = this.#activate(held, invocationId, {})
      await closing.closeAsCancelled('The run was cancelled.', drained)
      events.push(...closing.events.takeAll())
    }
    return events
  }

  /** One timer for all runs; it stops by itself when none is left. */
  #keepRenewing(): void {
    this.#stopRenewing ??= this.#services.ports.setTimer(
      () => {
        this.#stopRenewing = undefined
        if (this.#running.size === 0 || this.#closing) return
        for (const active of this.#running.all()) active.tend().catch((error) => active.stop(error))
        this.#keepRenewing()
      },
      RENEW_MS,
      { background: true },
    )
  }
}

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
  readonly signal: AbortSignal | undefined
  readonly isNew: boolean
}

function positive(value: number, what: string): number {
  if (value > 0) return value
  throw new ToolwrightError('INVALID_CONFIG', `${what} must be above 0.`)
}
