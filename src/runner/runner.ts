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
import type { InboxItem, SessionService } from '../session/service.ts'
import type { RunConfig } from '../tool/run-config.ts'
import { type Accepted, accept, acceptAnswers } from './accept.ts'
import { ActiveRun, Cancelled } from './active-run.ts'
import { type Completion, completionOf } from './complete.ts'
import { claim, claimOrPost, forgetCancels, type Held, hold } from './hold.ts'
import { toContent } from './message.ts'
import { type Models, modelResolver } from './models.ts'
import { Pace } from './pace.ts'
import { expired } from './pending.ts'
import type { Plugin } from './plugin.ts'
import { closeResource, resourcesOf } from './resources.ts'
import { followSignal, type Run, RunHandle } from './run.ts'
import { RunList } from './run-list.ts'
import type { RunServices } from './run-services.ts'

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
    const active = await this.#begin(this.#begunBy(options))
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

  /** What the sessions of this app wait for, of all users or of one, oldest first. */
  pending(filter: { userId?: string | undefined; sessionId?: string | undefined } = {}): Promise<PendingRequest[]> {
    return this.sessionService.pending({ appName: this.appName, ...filter })
  }

  /** Ends what is unfinished in a session: running, waiting or interrupted. Nothing happens when nothing is. */
  async cancel(options: { userId: string; sessionId: string; invocationId?: string | undefined }): Promise<void> {
    const { userId, sessionId, invocationId } = options
    const key = { appName: this.appName, userId, sessionId }
    for (const active of this.#running.all()) {
      if (active.userId !== userId || active.sessionId !== sessionId) continue
      if (invocationId !== undefined && active.invocationId !== invocationId) continue
      active.stop(new Cancelled('The run was cancelled.'))
      return await active.finished
    }
    const which = invocationId === undefined ? {} : { invocationId }
    const word: InboxItem = { id: this.#services.ports.newId(), type: 'cancel', ...which }
    const lease = await claimOrPost(this.sessionService, key, word)
    if (!lease) return
    try {
      const held = hold(lease, await this.sessionService.read(lease), this.#tree)
      const open = held.view.open().map(({ fold }) => fold.invocationId)
      await this.#cancelAll(
        held,
        open.filter((id) => invocationId === undefined || id === invocationId),
      )
    } finally {
      await this.sessionService.release(lease)
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
    const open = (): Promise<ActiveRun> => this.#begin(begin)
    return new RunHandle({ sessionId, invocationId, open, detach: runConfig.detach === true, signal })
  }

  async #begin(begin: Begin): Promise<ActiveRun> {
    const crowded = this.#pace.enter()
    if (crowded) await crowded
    if (this.#closing) throw new ToolwrightError('INVALID_REQUEST', 'The runner is closed.')
    const { userId, sessionId, message, stateDelta, runConfig } = begin
    const key = { appName: this.appName, userId, sessionId }
    if (begin.isNew) await this.sessionService.createSession(key)
    const lease = begin.isNew
      ? await this.sessionService.claim(key)
      : await claim(this.sessionService, key, begin.invocationId !== '' && message !== undefined)
    if (!lease) throw new ToolwrightError('NOT_FOUND', `There is no session "${sessionId}" to go on with.`)
    try {
      const held = hold(lease, await this.sessionService.read(lease), this.#tree)
      if (!begin.isNew) await forgetCancels(this.sessionService, held)
      if (!begin.isNew) await this.#expire(held)
      const accepted = begin.invocationId
        ? accept(held.view, begin, this.#options.whilePaused)
        : await this.#acceptAnswers(held, begin)
      if (accepted.replay) return this.#replay(held, accepted.invocationId, accepted.replay)
      const ended = accepted.cancel.length ? await this.#cancelAll(held, accepted.cancel) : undefined
      if (this.#closing) throw new ToolwrightError('INVALID_REQUEST', 'The runner is closed.')
      return this.#start(held, accepted, stateDelta, runConfig, ended)
    } catch (error) {
      await this.sessionService.release(lease)
      throw error
    }
  }

  /** A message of answers, or `resume` without a name. */
  async #acceptAnswers({ view, log }: Held, begin: Begin): Promise<Accepted> {
    const { message } = begin
    if (!message) return accept(view, begin, this.#options.whilePaused)
    return await acceptAnswers(view, log.entries, message, this.#services.ports.now())
  }

  /** A run in which nothing happens but what had happened before. */
  #replay(held: Held, invocationId: string, events: readonly Event[]): ActiveRun {
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
    stateDelta: JsonObject | undefined,
    runConfig: RunConfig,
    ended: readonly Event[] = [],
  ): ActiveRun {
    const active = this.#activate(held, accepted.invocationId, runConfig)
    for (const event of ended) active.events.push(event) // what the message put an end to is seen by whoever sent it
    this.#running.add(active)
    this.#keepRenewing()
    active.start(accepted.message, stateDelta)
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
  async #cancelAll(held: Held, invocationIds: readonly string[]): Promise<Event[]> {
    const events: Event[] = []
    for (const invocationId of invocationIds) {
      const closing = this.#activate(held, invocationId, {})
      await closing.closeAsCancelled('The run was cancelled.')
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
