// The one writer of a run: entries are appended all or none, one batch after another, then folded, then yielded.
import type { LoopRecorder } from '../../agent/loop/run-host.ts'
import type { JsonObject } from '../../base/json.ts'
import { isTempKey } from '../../base/key-scope.ts'
import { registerShape } from '../../base/object-shapes.ts'
import { type Content, hasMedia } from '../../content/content.ts'
import type { EventDraft, UnrecordedResult } from '../../dispatch/host.ts'
import { messageOf } from '../../error/error.ts'
import type { Event, EventActions, NewEntry } from '../../event/event.ts'
import { startsWaiting } from '../../event/invocation-state.ts'
import { partialId } from '../../event/partial-id.ts'
import type { ScopePath } from '../../event/scope.ts'
import { DEFAULT_LEASE_MS } from '../../session/lease.ts'
import type { Lease, PostedItem } from '../../session/service.ts'
import { type PendingListing, pendingAfter } from '../approvals/pending-requests.ts'
import { RunInbox } from '../inbox/run-inbox.ts'
import type { HeldSession } from '../lease.ts'
import { EventPlugins } from '../plugins/event-plugins.ts'
import { MANY_PARTIALS, MAX_PARTIALS } from './event-queue.ts'
import type { RecordedRun } from './recorded-run.ts'
import { MediaStore } from './store-media.ts'

const NO_ENTRIES: readonly NewEntry[] = []

/** The condition of an append that also runs when the run is stopped, to record its end. */
const ALWAYS = (): boolean => true

/** A run reads its inbox between two steps, but not more often than this. */
const INBOX_MS = 500

/** Records one run: appends, plugins, media, lease and inbox. */
export class Recorder implements LoopRecorder {
  readonly #run: RecordedRun
  readonly #nonce: string
  readonly #eventPlugins: EventPlugins | undefined
  #beforeInbox: Promise<void> | undefined
  /** Created when it is first read. */
  #inbox: RunInbox | undefined
  /** When the inbox was last read, on the monotonic clock. */
  #inboxReadAt: number | undefined
  /** Created for the first media. */
  #media: MediaStore | undefined
  #unrecorded: (readonly (UnrecordedResult | undefined)[])[] | undefined
  #lease: Lease
  #renewing: Promise<void> | undefined
  /** A moment before the lease was last claimed or renewed, on the monotonic clock. */
  #renewedAt: number
  /** The sequence number of the last entry. */
  #seq: number
  #drafts = 0
  /** Whether an append is under way. Other appends wait in `#waiting` for their turn. */
  #isAppending = false
  /** The list of pending requests that the append under way stores; undefined when the stored list is right. */
  #listing: PendingListing | undefined
  #waiting: (() => void)[] | undefined

  constructor(run: RecordedRun, { lease, claimedAt, view }: HeldSession, nonce: string) {
    this.#run = run
    this.#nonce = nonce
    this.#lease = lease
    this.#renewedAt = claimedAt
    this.#seq = view.seq
    const { eventPlugins, logger } = run.services
    this.#eventPlugins = eventPlugins.length
      ? new EventPlugins(eventPlugins, run, (problem) => logger.warn(problem))
      : undefined
  }

  draft(author: string, scope: ScopePath | undefined, content: Content | undefined, actions: EventActions): EventDraft {
    const { invocationId, runConfig, services } = this.#run
    const id = `${this.#nonce}-${++this.#drafts}`
    const event: EventDraft = { id, invocationId, author, timestamp: services.ports.now() / 1000, actions }
    if (content) event.content = content
    if (scope) {
      event.nodeInfo = { path: scope.path }
      if (scope.branch !== undefined) event.branch = scope.branch
      if (scope.isolation !== undefined) event.isolationScope = scope.isolation
    }
    if (runConfig.customMetadata) event.customMetadata = runConfig.customMetadata
    return event
  }

  /** Appends entries to the log. `drained`: inbox items that this append removes. */
  commit(entries: readonly NewEntry[], drained?: readonly string[]): Promise<void> {
    if (drained || !this.#isInboxDue()) return this.#commit(entries, drained)
    return this.drainInbox()
      .catch(ignore) // a broken store fails the append too
      .then(() => this.#commit(entries, drained))
  }

  #commit(entries: readonly NewEntry[], drained: readonly string[] | undefined): Promise<void> {
    if (!this.#eventPlugins && !hasMediaIn(entries)) return this.#append(entries, drained)
    return this.#prepare(entries).then((prepared) => this.#append(prepared, drained))
  }

  /** Commits only if `isStillWanted` once all earlier commits are recorded; false = nothing was recorded. */
  async commitIf(
    isStillWanted: () => boolean,
    entries: readonly NewEntry[],
    drained: readonly string[],
  ): Promise<boolean> {
    const prepared = await this.#prepare(entries)
    let isWanted = true
    await this.#append(prepared, drained, () => {
      isWanted = isStillWanted()
      return isWanted
    })
    return isWanted
  }

  /** Records the end of a stopped run, after the pending appends. */
  async close(entries: () => readonly NewEntry[], drained: readonly string[] | undefined): Promise<void> {
    if (this.#isAppending) {
      await this.#waitForTurn()
      this.#endTurn()
    }
    const last = entries()
    const { ports } = this.#run.services
    const shown = this.#eventPlugins ? await this.#eventPlugins.applyWithTimeout(last, ports) : last
    await this.#append(shown, drained, ALWAYS)
  }

  /** Updates the stored list of pending requests when it is not up to date. */
  async listPending(): Promise<void> {
    if (pendingAfter(this.#run, NO_ENTRIES)) await this.#append(NO_ENTRIES, undefined, ALWAYS)
  }

  /** Passes entries to plugins, then moves large media to artifacts. */
  async #prepare(entries: readonly NewEntry[]): Promise<readonly NewEntry[]> {
    const { stop, services } = this.#run
    if (this.#eventPlugins && stop.stopped) throw stop.stopped.reason
    const changed = this.#eventPlugins ? await this.#eventPlugins.apply(entries) : entries
    if (!hasMediaIn(changed)) return changed
    this.#run.view.hasMedia = true
    this.#media ??= new MediaStore(this.#run, (problem) => services.logger.warn(problem))
    return await this.#media.store(changed)
  }

  /** Stores entries, folds them, then yields their events. One append after another, in the order of the calls. */
  #append(
    entries: readonly NewEntry[],
    drained: readonly string[] | undefined,
    isStillWanted?: () => boolean,
  ): Promise<void> {
    if (this.#isAppending) return this.#waitForTurn().then(() => this.#appendNow(entries, drained, isStillWanted))
    return this.#appendNow(entries, drained, isStillWanted)
  }

  /** Appends entries at once. Uses promise callbacks: an async function would cost about 8 % of a call here. */
  #appendNow(
    entries: readonly NewEntry[],
    drained: readonly string[] | undefined,
    isStillWanted: (() => boolean) | undefined,
  ): Promise<void> {
    this.#isAppending = true
    try {
      if (!this.#mayAppend(isStillWanted)) return Promise.resolve(this.#endTurn())
      const appending = this.#store(entries, drained)
      return appending.then(
        (seq) => this.#afterAppend(entries, seq),
        (error) => this.#failAppend(error),
      )
    } catch (error) {
      return this.#failAppend(error)
    }
  }

  #afterAppend(entries: readonly NewEntry[], seq: number): Promise<void> | undefined {
    try {
      this.#fold(entries, seq)
    } catch (error) {
      return this.#failAppend(error)
    }
    this.#endTurn()
    return undefined
  }

  /** Handles a failed append: nothing more is recorded after it. */
  #failAppend(error: unknown): Promise<never> {
    this.#run.stop.stop(error)
    this.#endTurn()
    return Promise.reject(error)
  }

  #mayAppend(isStillWanted: (() => boolean) | undefined): boolean {
    const { stopped } = this.#run.stop
    if (stopped && isStillWanted !== ALWAYS) throw stopped.reason
    return !isStillWanted || isStillWanted()
  }

  #store(entries: readonly NewEntry[], drained: readonly string[] | undefined): Promise<number> {
    this.#listing = this.#listingAfter(entries)
    const options = this.#listing ? { drained, pending: this.#listing.pending } : drained && { drained }
    return this.#run.services.sessionService.append(this.#lease, this.#seq, entries, options)
  }

  #waitForTurn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting ??= []
      this.#waiting.push(resolve)
    })
  }

  #endTurn(): void {
    const next = this.#waiting?.shift()
    if (next) next()
    else this.#isAppending = false
  }

  /** The list of pending requests to store with these entries; undefined when the stored list is right. */
  #listingAfter(entries: readonly NewEntry[]): PendingListing | undefined {
    const { view } = this.#run
    this.#moveTemp(entries)
    if (!view.hasWaited) view.hasWaited = entries.some(startsWaiting)
    return view.hasWaited ? pendingAfter(this.#run, entries) : undefined
  }

  /** Adds stored entries to the fold and yields their events to the consumer. */
  #fold(entries: readonly NewEntry[], seq: number): void {
    const { view, events, observer } = this.#run
    const before = this.#seq
    this.#seq = seq
    // a run that lost its lease may learn late that its last append succeeded: another run has listed more since
    if (this.#listing && seq >= view.seq) view.listed = this.#listing.listed
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as NewEntry
      view.add(entry, before + at + 1)
      if (!entry.event) continue
      if (entry.event.author !== 'user') events.push(entry.event)
      observer?.recorded(entry.event)
    }
  }

  /** Moves `temp:` values from events to the state of the run: they are not recorded. */
  #moveTemp(entries: readonly NewEntry[]): void {
    for (let at = 0; at < entries.length; at++) {
      const event = (entries[at] as NewEntry).event
      if (event?.actions.stateDelta) this.#moveTempOf(event, event.actions.stateDelta)
    }
  }

  #moveTempOf(event: EventDraft, delta: JsonObject): void {
    const temporary = Object.keys(delta).filter(isTempKey)
    if (temporary.length === 0) return
    const kept = { ...delta }
    for (const key of temporary) {
      this.#run.state.setTemp(key, delta[key])
      this.#run.observer?.changedTemp(key, delta[key])
      delete kept[key]
    }
    const { stateDelta: _, ...actions } = event.actions
    event.actions = Object.keys(kept).length ? { ...actions, stateDelta: kept } : actions
  }

  emit(partial: Event): Promise<void> | undefined {
    const { events, stop, view } = this.#run
    if (stop.stopped) return undefined
    const event = { ...partial, id: partialId(partial.id, view.events.length) }
    return this.#eventPlugins ? this.#emitThroughPlugins(this.#eventPlugins, event) : events.push(event)
  }

  #emitThroughPlugins(plugins: EventPlugins, event: Event): Promise<void> | undefined {
    if (plugins.partialsInFlight >= MAX_PARTIALS) return undefined // dropped: the whole event follows
    const { events, stop } = this.#run
    plugins.applyToPartial(
      event,
      (changed) => void events.push(changed),
      (error) => stop.stop(error),
    )
    return plugins.partialsInFlight >= MANY_PARTIALS ? plugins.partialsSettled() : events.backpressure()
  }

  /** Settles when plugins have seen every partial event. */
  async emitted(): Promise<void> {
    await this.#eventPlugins?.partialsSettled()
  }

  hideFromPlugins(path: string): void {
    this.#eventPlugins?.exclude(path)
  }

  keepUnrecorded(outcomes: readonly (UnrecordedResult | undefined)[]): () => void {
    this.#unrecorded ??= []
    this.#unrecorded.push(outcomes)
    return () => {
      this.#unrecorded = this.#unrecorded?.filter((one) => one !== outcomes)
    }
  }

  /** Results that are not in the log yet. */
  unrecorded(): readonly (UnrecordedResult | undefined)[] {
    return this.#unrecorded?.flat() ?? []
  }

  checkLease(): Promise<void> | undefined {
    const { ports } = this.#run.services
    if (ports.monotonicNow() - this.#renewedAt < (this.#lease.leaseMs || DEFAULT_LEASE_MS)) return undefined
    // after a stall longer than the lease, another process may hold the session
    return this.renew().catch((error) => {
      this.#run.stop.stop(error)
      throw error
    })
  }

  /** Renews the lease. Concurrent calls share one renewal. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renew(): Promise<void> {
    const { sessionService, ports } = this.#run.services
    const now = ports.monotonicNow()
    this.#lease = await sessionService.renew(this.#lease)
    this.#renewedAt = now
  }

  /** Releases the lease. `interrupted`: another process may continue the run. */
  async release(options?: { interrupted: boolean }): Promise<void> {
    const { sessionService, logger } = this.#run.services
    try {
      await sessionService.release(this.#lease, options)
    } catch (error) {
      logger.warn(`The lease of session "${this.#run.sessionId}" could not be released: ${messageOf(error)}`)
    }
  }

  /** Commits that come before the first read of the inbox: the run's own message. */
  beforeInbox(commits: Promise<void>): Promise<void> {
    this.#beforeInbox = commits
    return commits
  }

  /** The session's inbox. */
  inbox(): RunInbox {
    this.#inbox ??= new RunInbox(this.#run, this, this.#beforeInbox)
    return this.#inbox
  }

  /** Reads the inbox once more, after reads that are under way. */
  drainInbox(): Promise<void> {
    return this.inbox().drain()
  }

  /** The items other processes have posted. */
  postedItems(): Promise<PostedItem[]> {
    return this.#run.services.sessionService.drain(this.#lease)
  }

  /** Settles when no read of the inbox is under way; undefined when it was never read. */
  inboxRead(): Promise<void> | undefined {
    return this.#inbox?.drained()
  }

  async checkInbox(): Promise<void> {
    if (this.#isInboxDue()) await this.drainInbox().catch(ignore) // the next append fails too
  }

  #isInboxDue(): boolean {
    const { progress, services } = this.#run
    if (!progress.hasStarted || progress.isFinalizing) return false
    const now = services.ports.monotonicNow()
    if (this.#inboxReadAt !== undefined && now - this.#inboxReadAt < INBOX_MS) return false
    const isFirst = this.#inboxReadAt === undefined // the inbox was read before the run started
    this.#inboxReadAt = now
    return !isFirst
  }
}

function hasMediaIn(entries: readonly NewEntry[]): boolean {
  for (let at = 0; at < entries.length; at++) {
    const parts = (entries[at] as NewEntry).event?.content?.parts
    if (parts && hasMedia(parts)) return true
  }
  return false
}

function ignore(): void {}

registerShape(
  () =>
    new Recorder(
      { services: { eventPlugins: [] } } as unknown as RecordedRun,
      { lease: {}, claimedAt: 0.5, view: { seq: 0 } } as unknown as HeldSession,
      '',
    ),
)
