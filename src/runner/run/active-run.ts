// A run while it runs: from its message to its rest, and the queue its events leave by.
import { branchedText } from '../../agent/agents/answer-text.ts'
import { findTool } from '../../agent/loop/find-tool.ts'
import type { KeptToolsets } from '../../agent/request/kept-toolsets.ts'
import type { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { findMissingAgent } from '../../agent/loop/missing-agent.ts'
import type { MediaOptions } from '../../agent/request/media-options.ts'
import { scopeError, type Next, next } from '../../agent/loop/next.ts'
import type { RunHost } from '../../agent/loop/run-host.ts'
import type { SessionView } from '../../agent/loop/session-view.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { runScope } from '../../agent/loop/run-scope.ts'
import type { ArtifactService } from '../../artifact/service.ts'
import type { Deadlines } from '../../base/deadlines.ts'
import type { JsonObject } from '../../base/json.ts'
import { keepShape } from '../../base/keep-shape.ts'
import type { Ports } from '../../base/ports.ts'
import type { Content } from '../../content/content.ts'
import type { CredentialService } from '../../credential/service.ts'
import { cancelWork, type StartedWork } from '../../dispatch/cancel-work.ts'
import { closingEntries, startedWork } from '../../dispatch/close-scope.ts'
import type { EventDraft, Logger, UnrecordedResult, StopListener } from '../../dispatch/host.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import { StopListeners } from '../../dispatch/stop-listeners.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { Denial, Event, EventActions, NewEntry } from '../../event/event.ts'
import { type CallState, Fold } from '../../event/fold.ts'
import { OWN_ID_PREFIX } from '../../event/own-id.ts'
import type { ScopePath } from '../../event/scope.ts'
import type { MemoryService } from '../../memory/service.ts'
import type { HeldLog, InboxItem, Lease, PostedItem, Session, StateReader } from '../../session/service.ts'
import { RunCallbackContext } from '../../tool/callback-context.ts'
import type { RunConfig } from '../../tool/run-config.ts'
import type { RunContext } from '../../tool/run-context.ts'
import type { Tool } from '../../tool/tool.ts'
import { acceptAnswers } from '../approvals/accept.ts'
import { tellBeginning, tellEnd, unlessItHangs } from '../plugins/around-run.ts'
import { Cancelled } from './cancelled.ts'
import { draftEvent } from './draft-event.ts'
import { EventQueue } from './event-queue.ts'
import { LiveSession } from './session-snapshot.ts'
import { isInterrupted } from '../approvals/pending.ts'
import { Recorder } from './recorder.ts'
import type { Followable } from './run-handle.ts'
import { type Hearer, RunInbox } from '../inbox/run-inbox.ts'
import type { RunServices } from '../run-services.ts'
import { RunState } from './run-state.ts'

export interface ActiveRunOptions {
  readonly services: RunServices
  readonly lease: Lease
  /** A moment before the lease was claimed, on the monotonic clock. */
  readonly claimedAt: number
  readonly log: HeldLog
  readonly view: SessionView
  readonly tree: AgentTree
  readonly invocationId: string
  /** Makes this run's event ids different from all others. */
  readonly nonce: string
  readonly runConfig: RunConfig
  readonly runContext: RunContext | undefined
  readonly onOver?: (run: ActiveRun) => void
}

const REST: Promise<void> = Promise.resolve()

/** A run looks into its inbox between two steps, but not more often than this. */
const LOOK_MS = 500

export class ActiveRun implements RunHost, Followable, Hearer {
  readonly #options: ActiveRunOptions
  readonly #waiters: StopListeners = new StopListeners()
  /** Ends the wait for the walk. */
  #interrupt: ((reason: unknown) => void) | undefined
  readonly #recorder: Recorder
  readonly #nonce: string
  readonly #state: RunState
  #unrecorded: (readonly (UnrecordedResult | undefined)[])[] | undefined
  #tables: Map<LlmAgent, ToolTable> | undefined
  #entered: Set<string> | undefined
  #controller: AbortController | undefined
  #drafts = 0
  /** Settles when the message is recorded. */
  #begun: Promise<void> | undefined
  /** Made when it is first looked into. */
  #inbox: RunInbox | undefined
  /** The message is recorded. */
  #hasBegun = false
  /** How far the log was when it could not go on the last time. */
  #restedAt: number | undefined
  /** When it last looked there, on the monotonic clock. */
  #lookedAt: number = Number.NEGATIVE_INFINITY
  /** Items of the inbox that it was begun or stopped by. */
  #drained: readonly string[] | undefined

  /** What leaves the run. */
  readonly events: EventQueue = new EventQueue()
  readonly services: RunServices
  readonly view: SessionView
  readonly fold: Fold
  readonly invocationId: string
  readonly runConfig: RunConfig
  readonly maxLlmCalls: number
  stopped: { readonly reason: unknown } | undefined
  readonly replies: { has(callId: string): boolean }[] = []
  dispatching = 0
  /** Where it stands in its runner's list. */
  place = 0
  /** It takes nothing in any more: what is left for the session is for the next. */
  isResting = false
  /** Nothing more will come. */
  over = false
  /** Settles when the run has come to rest and its lease is given back. */
  finished: Promise<void> = REST
  /** Why the run could not go on, when it could not. */
  failure: { readonly reason: unknown } | undefined

  constructor(options: ActiveRunOptions) {
    const { services, lease, log, view, invocationId, runConfig } = options
    this.#options = options
    this.#nonce = options.nonce
    this.services = services
    this.view = view
    this.invocationId = invocationId
    this.fold = view.foldOf(invocationId)
    this.runConfig = runConfig
    this.maxLlmCalls = runConfig.maxLlmCalls ?? 500
    this.#state = new RunState(log.state)
    this.#recorder = new Recorder(this, lease, options.claimedAt, this.#state)
  }

  get appName(): string {
    return this.#recorder.key.appName
  }
  get userId(): string {
    return this.#recorder.key.userId
  }
  get sessionId(): string {
    return this.#recorder.key.sessionId
  }
  get runContext(): RunContext | undefined {
    return this.#options.runContext
  }
  get state(): StateReader {
    return this.#state
  }
  get userContent(): Content | undefined {
    return this.fold.userEvent?.content
  }
  get artifactService(): ArtifactService | undefined {
    return this.services.artifactService
  }
  get memoryService(): MemoryService | undefined {
    return this.services.memoryService
  }
  get credentialService(): CredentialService | undefined {
    return this.services.credentialService
  }
  get ports(): Ports {
    return this.services.ports
  }
  get deadlines(): Deadlines {
    return this.services.deadlines
  }
  get logger(): Logger {
    return this.services.logger
  }
  get toolTimeoutMs(): number {
    return this.services.toolTimeoutMs
  }
  get maxResultBytes(): number {
    return this.services.maxResultBytes
  }
  get media(): MediaOptions {
    return this.services.media
  }
  get keptToolsets(): KeptToolsets {
    return this.services.keptToolsets
  }
  get maxArgsBytes(): number {
    return this.services.maxArgsBytes
  }
  get maxCallsPerReply(): number {
    return this.services.maxCallsPerReply
  }
  /** Made when first looked at. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.stopped && !this.#controller.signal.aborted) this.#controller.abort(this.stopped.reason)
    return this.#controller.signal
  }
  session(): Session {
    return new LiveSession(this)
  }

  /** Runs to the end or to a pause; `finished` never rejects: what went wrong is in `failure`. */
  start(message: Content | undefined, stateDelta: JsonObject | undefined, drained?: readonly string[]): void {
    this.#drained = drained
    this.finished = this.#run(message, stateDelta)
  }

  /** For a run in which nothing happens any more. */
  rest(): void {
    this.finished = this.#comeToRest()
  }

  async #run(message: Content | undefined, stateDelta: JsonObject | undefined): Promise<void> {
    try {
      await new Promise((resolve, reject) => {
        this.#interrupt = reject // whatever hangs inside, a callback or a model, a stop gets through
        this.#go(message, stateDelta).then(resolve, reject)
      })
    } catch (error) {
      await this.#endEarly(error)
    }
    if (this.services.plugins.length) await unlessItHangs(this, this.#tellTheEnd())
    await this.#comeToRest()
  }

  async #comeToRest(): Promise<void> {
    this.isResting = true
    if (this.#inbox) await this.#inbox.looked()
    if (!this.failure && this.next().type === 'done') this.view.close(this.fold)
    if (!this.failure && this.view.hasWaited) await this.#tellWhoCanAnswer()
    const isLeft = this.failure !== undefined || (this.view.hasOthers(this.fold) && isInterrupted(this.view))
    this.view.isHeld = false
    await this.#recorder.release(isLeft ? INTERRUPTED : undefined)
    this.over = true
    this.#options.onOver?.(this)
    this.events.wake()
  }

  /** Records what is waited for where it can be found without the log. */
  async #tellWhoCanAnswer(): Promise<void> {
    try {
      await this.#recorder.listWaiting()
    } catch (error) {
      this.logger.warn(`What session "${this.sessionId}" waits for could not be listed: ${messageOf(error)}`, error)
    }
  }

  #go(message: Content | undefined, stateDelta: JsonObject | undefined): Promise<unknown> {
    const { plugins } = this.services
    if (plugins.length) this.#begun = this.#tellTheBeginning(message, stateDelta)
    else if (!message && !stateDelta) return this.#goOn()
    else this.#begun = this.commit([{ event: this.#heard(message, stateDelta, this.#context()) }], this.#drained)
    return this.#begun.then(this.#goOn)
  }

  readonly #goOn = (): Promise<unknown> => {
    this.#hasBegun = true
    const { tree } = this.#options
    const lost = findMissingAgent(tree, this.fold)
    if (lost !== undefined) {
      return this.#endAs(`Agent "${lost}" no longer exists; what it had begun was not done.`)
    }
    return runScope(this, tree.root, { path: tree.root.name, tree }).then(this.#rest)
  }

  /** Nobody is left behind who answered while it ran. */
  readonly #rest = (outcome: 'done' | 'wait'): Promise<unknown> | undefined => {
    if (outcome === 'done') {
      this.isResting = true
      return undefined
    }
    return this.hear().then(() => {
      if (this.stopped) throw this.stopped.reason
      this.isResting = this.next().type === 'wait'
      if (this.isResting) return undefined
      if (this.#restedAt === this.view.seq) return this.#endAs('An agent waits for something that nobody can answer.')
      this.#restedAt = this.view.seq
      return this.#goOn()
    })
  }

  /** Records that nobody answered in time. */
  deny(denials: readonly Denial[]): Promise<void> {
    return this.commit(denials.map((record) => ({ record })))
  }

  /** Nobody can go on with it: not when an agent that had begun something no longer exists, for one. */
  #endAs(reason: string): Promise<void> {
    const { name } = this.#options.tree.root
    const started = this.#startedWork([])
    const ending = { author: name, scope: { path: name }, reason, errorCode: 'AGENT_ERROR' } as const
    const closing = { ...ending, unrecorded: [], started }
    const close = (): Promise<void> => this.commit(closingEntries(this, closing))
    return started.length ? cancelWork(this, started).then(close) : close()
  }

  #context(): RunCallbackContext {
    return new RunCallbackContext(this, this.#options.tree.root.name, undefined)
  }

  async #tellTheBeginning(message: Content | undefined, stateDelta: JsonObject | undefined): Promise<void> {
    const context = this.#context()
    await tellBeginning(this.services.plugins, message, context)
    if (message || stateDelta) {
      await this.commit([{ event: this.#heard(message, stateDelta, context) }], this.#drained)
    } else await this.#recordWrites(context)
  }

  /** What the invocation would do next; `wait` when it is paused. */
  next(): Next {
    const { root } = this.#options.tree
    return next(root, { fold: this.fold, tree: this.#options.tree, listed: (agent) => this.tableOf(agent) }, root.name)
  }

  /** Why the whole of it ended early, when it did. */
  error(): { readonly code: string; readonly message: string } | undefined {
    const { tree } = this.#options
    return scopeError(tree.root, { fold: this.fold, tree }, tree.root.name)
  }

  branchedText(): string {
    const { tree } = this.#options
    const own = this.view.events.filter(({ invocationId }) => invocationId === this.invocationId)
    return branchedText(tree.root, tree, { path: tree.root.name }, own)
  }

  /** Ends the run before its end; bodies and the model see their signals. */
  stop(reason: unknown): void {
    if (this.over || this.stopped) return
    this.stopped = { reason }
    this.#controller?.abort(reason)
    this.#waiters.stop(reason)
    this.#interrupt?.(reason)
  }

  onStop(waiter: StopListener): void {
    if (this.stopped) waiter.stop(this.stopped.reason)
    else this.#waiters.add(waiter)
  }

  forget(waiter: StopListener): void {
    this.#waiters.forget(waiter)
  }

  hideFromPlugins(path: string): void {
    this.#recorder.hideFromPlugins(path)
  }

  keepUnrecorded(outcomes: readonly (UnrecordedResult | undefined)[]): () => void {
    this.#unrecorded ??= []
    this.#unrecorded.push(outcomes)
    return () => {
      this.#unrecorded = this.#unrecorded?.filter((one) => one !== outcomes)
    }
  }

  listen(callback: (event: Event) => void): () => void {
    return this.events.listen(callback)
  }

  tableOf(agent: LlmAgent): ToolTable | undefined {
    return this.#tables?.get(agent)
  }

  toolOf(call: CallState): Tool | undefined {
    return findTool(this.#options.tree, this, call)
  }

  keepTable(agent: LlmAgent, table: ToolTable): void {
    this.#tables ??= new Map()
    this.#tables.set(agent, table)
  }

  enter(key: string): boolean {
    if (this.#entered?.has(key)) return false
    this.#entered ??= new Set()
    this.#entered.add(key)
    return true
  }

  newCallId(): string {
    return OWN_ID_PREFIX + this.services.ports.newId()
  }

  draft(author: string, scope: ScopePath | undefined, content: Content | undefined, actions: EventActions): EventDraft {
    const { services, invocationId, runConfig } = this
    const id = `${this.#nonce}-${++this.#drafts}`
    return draftEvent(id, invocationId, author, services.ports.now(), actions, content, scope, runConfig.customMetadata)
  }

  commit(entries: readonly NewEntry[], drained?: readonly string[]): Promise<void> {
    if (drained || !this.#isTimeToLook()) return this.#recorder.commit(entries, drained)
    // before the next step of a run that takes its time: has anybody cancelled it?
    const commit = (): Promise<void> => this.#recorder.commit(entries)
    return this.hear().then(commit, commit) // what is wrong with the store the commit will find out
  }

  async look(): Promise<void> {
    if (this.#isTimeToLook()) await this.hear().catch(() => {}) // the next commit finds out
  }

  #isTimeToLook(): boolean {
    if (!this.#hasBegun || this.isResting) return false
    const now = this.services.ports.monotonicNow()
    if (now - this.#lookedAt < LOOK_MS) return false
    const isFirst = this.#lookedAt === Number.NEGATIVE_INFINITY
    this.#lookedAt = now
    return !isFirst
  }

  commitIf(isSo: () => boolean, entries: readonly NewEntry[], drained: readonly string[]): Promise<boolean> {
    return this.#recorder.commitIf(isSo, entries, drained)
  }

  emit(event: Event): Promise<void> | undefined {
    return this.#recorder.emit(event)
  }

  /** Gives every open call its final response and records why. */
  closeAsCancelled(reason: string, drained: readonly string[] | undefined = this.#drained): Promise<void> {
    const { name } = this.#options.tree.root
    const ending = { author: name, scope: { path: name }, reason, errorCode: 'CANCELLED' } as const
    const entries = (): NewEntry[] => {
      const unrecorded = this.#unrecorded?.flat() ?? []
      const started = this.#startedWork(unrecorded)
      return closingEntries(this, { ...ending, unrecorded, started })
    }
    const started = this.#startedWork(this.#unrecorded?.flat() ?? [])
    if (started.length === 0) return this.#recorder.close(entries, drained)
    return cancelWork(this, started).then(() => this.#recorder.close(entries, drained))
  }

  #startedWork(unrecorded: readonly (UnrecordedResult | undefined)[]): StartedWork[] {
    return startedWork(this.fold, unrecorded, (call) => this.toolOf(call))
  }

  checkLease(): Promise<void> | undefined {
    return this.#recorder.checkLease()
  }

  /** Keeps the lease alive and hears what others have left for this run. */
  async tend(): Promise<void> {
    await this.#recorder.renew()
    await this.hear()
  }

  /** Takes in what others have left. */
  hear(): Promise<void> {
    this.#inbox ??= new RunInbox(this, this.#begun)
    return this.#inbox.look()
  }

  /** The answers of an item of the inbox, when this run has taken them in. */
  taken(itemId: string): Content | undefined {
    return this.#inbox?.taken(itemId)
  }

  /** Throws what is wrong with answers that were not taken in; nothing is when they are another invocation's. */
  async refuse(message: Content, asOf: number): Promise<void> {
    const { entries } = this.#options.log
    await acceptAnswers({ view: this.view, entries }, message, { now: this.ports.now(), asOf })
  }

  drain(): Promise<PostedItem[]> {
    return this.#recorder.drain()
  }

  cancelledBy({ id }: InboxItem, isForOthers: boolean): void {
    if (!isForOthers) this.#drained = [id]
    this.stop(new Cancelled('The run was cancelled.'))
  }

  /** Whoever began it goes: it ends with him. */
  leave(reason: Cancelled): void {
    this.stop(reason)
  }

  #heard(content: Content | undefined, stateDelta: JsonObject | undefined, context: RunCallbackContext): Event {
    if (stateDelta) for (const key of Object.keys(stateDelta)) context.state.set(key, stateDelta[key])
    return this.draft('user', undefined, content, context.take() ?? {})
  }

  async #endEarly(error: unknown): Promise<void> {
    const reason = this.stopped?.reason ?? error
    if (!(reason instanceof Cancelled)) {
      this.failure = { reason }
      if (!(reason instanceof ToolwrightError)) this.logger.error(`The run failed: ${messageOf(reason)}`, reason)
      return
    }
    try {
      await this.closeAsCancelled(reason.message)
    } catch (failed) {
      this.failure = { reason: failed }
    }
  }

  async #tellTheEnd(): Promise<void> {
    const context = this.#context()
    try {
      await this.#recorder.emitted()
      await tellEnd(this.services.plugins, context)
      await this.#recordWrites(context)
    } catch (error) {
      this.failure ??= { reason: error }
    }
  }

  /** What plugins wrote around a run without a message to ride on. */
  async #recordWrites(context: RunCallbackContext): Promise<void> {
    const actions = context.take()
    const { name } = this.#options.tree.root
    if (actions && !this.stopped) await this.commit([{ event: this.draft(name, { path: name }, undefined, actions) }])
  }
}

const INTERRUPTED = { interrupted: true }

keepShape(
  () =>
    new ActiveRun({
      services: { watchers: [] },
      lease: { key: {} },
      claimedAt: 0.5,
      log: { state: {} },
      view: { seq: 0, foldOf: () => new Fold('') },
      runConfig: {},
      // only what the constructor looks at: this one never runs
    } as unknown as ActiveRunOptions),
)
