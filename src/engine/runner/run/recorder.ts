// The one writer of a run: entries are appended all or none, one batch after another, then folded, then yielded.

import { loadLater } from '../../../core/base/load-later.ts'
import { type Content, hasMedia } from '../../../core/content/content.ts'
import type { Event, EventActions, NewEntry } from '../../../core/event/event.ts'
import { partialId } from '../../../core/event/partial-id.ts'
import type { ScopePath } from '../../../core/event/scope.ts'
import type { PostedItem } from '../../../services/session/service.ts'
import type { LoopRecorder } from '../../agent/loop/run-host.ts'
import type { EventDraft, UnrecordedResult } from '../../dispatch/host.ts'
import { RunInbox } from '../inbox/run-inbox.ts'
import { EventPlugins } from '../plugins/event-plugins.ts'
import type { HeldSession } from '../session/held-session.ts'
import { MANY_PARTIALS, MAX_PARTIALS } from './event-queue.ts'
import type { RecordedRun } from './recorded-run.ts'
import type { MediaStore } from './store-media.ts'

const mediaStores = loadLater(() => import('./store-media.ts'))

/** A run reads its inbox between two steps, but not more often than this. */
const INBOX_MS = 500

/** Records one run: drafts its events, passes them to plugins, stores media, appends and yields them, and reads the inbox. */
export class Recorder implements LoopRecorder {
  readonly #run: RecordedRun
  readonly #held: HeldSession
  readonly #nonce: string
  readonly #eventPlugins: EventPlugins | undefined
  /** Created when it is first read. */
  #inbox: RunInbox | undefined
  /** When the inbox was last read, on the monotonic clock. */
  #inboxReadAt: number | undefined
  /** Created for the first media. */
  #media: MediaStore | undefined
  #unrecorded: (readonly (UnrecordedResult | undefined)[])[] | undefined
  #drafts = 0
  /** The trace context to record with the next message of the user. */
  trace: string | undefined

  constructor(run: RecordedRun, held: HeldSession, nonce: string) {
    this.#run = run
    this.#held = held
    this.#nonce = nonce
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
    if (this.trace !== undefined && author === 'user') {
      event.trace = this.trace
      this.trace = undefined
    }
    return event
  }

  /** Appends entries to the log. `drained`: inbox items that this append removes. */
  commit(entries: readonly NewEntry[], drained?: readonly string[]): Promise<void> {
    if (!drained && this.#isInboxDue()) {
      // a broken store fails the append too
      return this.drainInbox().then(
        () => this.#prepareAndAppend(entries, drained),
        () => this.#prepareAndAppend(entries, drained),
      )
    }
    if (this.#eventPlugins || hasMediaIn(entries)) return this.#prepareAndAppend(entries, drained)
    return this.#held.append(entries, drained, this.#run)
  }

  async #prepareAndAppend(entries: readonly NewEntry[], drained: readonly string[] | undefined): Promise<void> {
    await this.#held.append(await this.#prepare(entries), drained, this.#run)
  }

  /** Commits only if `isStillWanted` once all earlier commits are recorded; false = nothing was recorded. */
  async commitIf(
    isStillWanted: () => boolean,
    entries: readonly NewEntry[],
    drained: readonly string[],
  ): Promise<boolean> {
    return await this.#held.appendIf(isStillWanted, await this.#prepare(entries), drained, this.#run)
  }

  /** Records the end of a stopped run, after the pending appends. */
  async close(entries: () => readonly NewEntry[], drained: readonly string[] | undefined): Promise<void> {
    await this.#held.appended()
    const last = entries()
    const { ports } = this.#run.services
    const shown = this.#eventPlugins ? await this.#eventPlugins.applyWithTimeout(last, ports) : last
    await this.#held.appendLast(shown, drained, this.#run)
  }

  /** Passes entries to plugins, then moves large media to artifacts. */
  async #prepare(entries: readonly NewEntry[]): Promise<readonly NewEntry[]> {
    const { stop, services } = this.#run
    if (this.#eventPlugins && stop.stopped) throw stop.stopped.reason
    const changed = this.#eventPlugins ? await this.#eventPlugins.apply(entries) : entries
    if (!hasMediaIn(changed)) return changed
    this.#run.view.noteMedia()
    const { MediaStore } = await mediaStores()
    this.#media ??= new MediaStore(this.#run, (problem) => services.logger.warn(problem))
    return await this.#media.store(changed)
  }

  emit(event: EventDraft): Promise<void> | undefined {
    const { events, stop, view } = this.#run
    if (stop.stopped) return undefined
    event.id = partialId(event.id, view.eventsBefore + view.events.length)
    event.partial = true
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
    return this.#held.renewIfDue()?.catch((error) => {
      this.#run.stop.stop(error)
      throw error
    })
  }

  /** The session's inbox. */
  inbox(): RunInbox {
    this.#inbox ??= new RunInbox(this.#run, this)
    return this.#inbox
  }

  /** Reads the inbox once more, after reads that are under way. */
  drainInbox(): Promise<void> {
    return this.inbox().drain()
  }

  /** The items other processes have posted. */
  postedItems(): Promise<PostedItem[]> {
    return this.#held.inbox()
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
