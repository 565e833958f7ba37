// The one writer of a session: entries go in all or none, one batch after another, and are seen only when they are stored.
import type { SessionView } from '../../agent/loop/session-view.ts'
import type { JsonObject } from '../../base/json.ts'
import { keepShape } from '../../base/keep-shape.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import { messageOf } from '../../error/error.ts'
import type { Event, NewEntry } from '../../event/event.ts'
import { DEFAULT_LEASE_MS } from '../../session/lease.ts'
import type { AppendOptions, Lease, PostedItem } from '../../session/service.ts'
import type { InvocationHost } from '../../tool/host.ts'
import { type EventQueue, MANY_PARTIALS, MAX_PARTIALS } from './event-queue.ts'
import { EventWatch } from '../plugins/event-watch.ts'
import type { RunServices } from '../run-services.ts'
import type { RunState } from './run-state.ts'
import { holdMedia, MediaStore } from './store-media.ts'
import { Turnstile } from './turnstile.ts'
import { concernsWaiting, type Listing, waitingAfter } from '../approvals/waiting.ts'

/** The run that is recorded. */
export interface Recorded extends InvocationHost {
  readonly services: RunServices
  readonly view: SessionView
  readonly events: EventQueue
  readonly stopped: { readonly reason: unknown } | undefined
  stop(reason: unknown): void
}

const NOTHING: readonly NewEntry[] = []

export class Recorder {
  readonly #run: Recorded
  readonly #state: RunState
  readonly #watch: EventWatch | undefined
  readonly #turnstile: Turnstile = new Turnstile()
  /** Made for the first media. */
  #media: MediaStore | undefined
  /** What is being stored, by whoever is inside the turnstile. */
  #storing: readonly NewEntry[] = NOTHING
  /** What goes with the append that is under way. */
  #listing: Listing | undefined
  #lease: Lease
  #renewing: Promise<void> | undefined
  /** A moment before the lease was last claimed or renewed, on the monotonic clock. */
  #renewedAt: number
  #seq: number

  constructor(run: Recorded, lease: Lease, claimedAt: number, state: RunState) {
    const { services, view } = run
    this.#run = run
    this.#state = state
    this.#lease = lease
    this.#renewedAt = claimedAt
    this.#seq = view.seq
    const { watchers, logger } = services
    this.#watch = watchers.length ? new EventWatch(watchers, run, (problem) => logger.warn(problem)) : undefined
  }

  get key(): Lease['key'] {
    return this.#lease.key
  }

  hideFromPlugins(path: string): void {
    this.#watch?.hide(path)
  }

  /** `drained`: items of the inbox that are done with when this is recorded. */
  commit(entries: readonly NewEntry[], drained?: readonly string[]): Promise<void> {
    return this.#watch ? this.#commitShown(this.#watch, entries, drained) : this.#appendStored(entries, drained)
  }

  /** Plugins have seen the media itself; from here on it is a reference. */
  #appendStored(entries: readonly NewEntry[], drained: readonly string[] | undefined): Promise<void> {
    if (!holdMedia(entries)) return this.#append(entries, drained)
    this.#media ??= new MediaStore(this.#run, (problem) => this.#run.services.logger.warn(problem))
    return this.#media.store(entries).then((stored) => this.#append(stored, drained))
  }

  /** Records only when it is so once everything before it is recorded. */
  async commitIf(isSo: () => boolean, entries: readonly NewEntry[], drained: readonly string[]): Promise<boolean> {
    const shown = this.#watch ? await this.#watch.show(entries) : entries
    if (!this.#turnstile.enter()) await this.#turnstile.turn()
    if (!isSo()) {
      this.#turnstile.leave()
      return false
    }
    await this.#appendNow(shown, drained)
    return true
  }

  async #commitShown(watch: EventWatch, entries: readonly NewEntry[], drained?: readonly string[]): Promise<void> {
    if (this.#run.stopped) throw this.#run.stopped.reason
    await this.#appendStored(await watch.show(entries), drained)
  }

  /** A promise when plugins or the consumer are behind. */
  emit(event: Event): Promise<void> | undefined {
    const { events, stopped } = this.#run
    if (stopped) return undefined
    return this.#watch ? this.#emitShown(this.#watch, event) : events.push(event)
  }

  #emitShown(watch: EventWatch, event: Event): Promise<void> | undefined {
    if (watch.passing >= MAX_PARTIALS) return undefined // dropped: the whole follows
    const { events } = this.#run
    watch.pass(
      event,
      (shown) => void events.push(shown),
      (error) => this.#run.stop(error),
    )
    return watch.passing >= MANY_PARTIALS ? watch.passed() : events.drained()
  }

  /** Settles when every partial event is out. */
  async emitted(): Promise<void> {
    await this.#watch?.passed()
  }

  /** Records the end of a run that was stopped, after whatever was being recorded then. */
  async close(entries: () => readonly NewEntry[], drained: readonly string[] | undefined): Promise<void> {
    if (!this.#turnstile.enter()) await this.#turnstile.turn()
    try {
      const { sessionService, ports } = this.#run.services
      const last = entries()
      const shown = this.#watch ? await this.#watch.showBriefly(last, ports) : last
      this.#keepTemp(shown)
      this.#took(shown, await sessionService.append(this.#lease, this.#seq, shown, this.#alongWith(shown, drained)))
    } finally {
      this.#turnstile.leave()
    }
  }

  /** Brings the list of what the session waits for up to date, if it is not. */
  async listWaiting(): Promise<void> {
    const options = this.#alongWith(NOTHING, undefined)
    if (!options) return
    this.#took(NOTHING, await this.#run.services.sessionService.append(this.#lease, this.#seq, NOTHING, options))
  }

  /** What goes with an append: the list of what is waited for changes together with the log. */
  #alongWith(entries: readonly NewEntry[], drained: readonly string[] | undefined): AppendOptions | undefined {
    if (!concernsWaiting(this.#run.view, entries)) return drained && { drained }
    this.#listing = waitingAfter(this.#run, entries)
    return this.#listing ? { drained, pending: this.#listing.pending } : drained && { drained }
  }

  /**
   * Undefined while the lease lives for certain. After a stall longer than the lease, another process may have taken the
   * session: a promise that renews the lease, or stops the run.
   */
  checkLease(): Promise<void> | undefined {
    const age = this.#run.services.ports.monotonicNow() - this.#renewedAt
    if (age < (this.#lease.leaseMs || DEFAULT_LEASE_MS)) return undefined
    return this.renew().catch((error) => {
      this.#run.stop(error)
      throw error
    })
  }

  /** Keeps the lease alive. A renewal that waits for the store is not joined by a second one. */
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

  /** What others have left for the session. */
  drain(): Promise<PostedItem[]> {
    return this.#run.services.sessionService.drain(this.#lease)
  }

  /** `interrupted`: it is for somebody else to go on with what is unfinished. */
  release(options?: { interrupted: boolean }): Promise<void> {
    const { sessionService, logger } = this.#run.services
    return sessionService.release(this.#lease, options).catch((error) => {
      logger.warn(`The lease of session "${this.key.sessionId}" could not be given back: ${messageOf(error)}`)
    })
  }

  // callbacks instead of an async function: it is called five times a turn, and its frame would be the largest of all
  #append(entries: readonly NewEntry[], drained: readonly string[] | undefined): Promise<void> {
    if (!this.#turnstile.enter()) return this.#turnstile.turn().then(() => this.#appendNow(entries, drained))
    return this.#appendNow(entries, drained)
  }

  #appendNow(entries: readonly NewEntry[], drained: readonly string[] | undefined): Promise<void> {
    const { stopped, services } = this.#run
    if (stopped) {
      this.#turnstile.leave()
      return Promise.reject(stopped.reason)
    }
    this.#keepTemp(entries)
    this.#storing = entries
    try {
      const options = this.#alongWith(entries, drained)
      return services.sessionService.append(this.#lease, this.#seq, entries, options).then(this.#stored, this.#failed)
    } catch (error) {
      return Promise.resolve(error).then(this.#failed) // a store that throws fails like one that rejects
    }
  }

  readonly #stored = (seq: number): void => {
    const entries = this.#storing
    this.#turnstile.leave()
    try {
      this.#took(entries, seq)
    } catch (error) {
      this.#run.stop(error) // nor after one that could not be understood
      throw error
    }
  }

  readonly #failed = (error: unknown): never => {
    this.#turnstile.leave()
    this.#run.stop(error) // nothing may be recorded after a failed append
    throw error
  }

  /** They are stored: now they count, and may be seen. */
  #took(entries: readonly NewEntry[], seq: number): void {
    const { view, events } = this.#run
    const before = this.#seq
    this.#seq = seq
    // a run of this runner that has lost its lease may hear late of its last append: others have listed more since
    if (this.#listing && seq >= view.seq) view.listed = this.#listing.listed
    this.#listing = undefined
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as NewEntry
      view.add(entry, before + at + 1)
      if (entry.event && entry.event.author !== 'user') events.push(entry.event)
    }
  }

  /** `temp:` values live as long as the run and are in no event. */
  #keepTemp(entries: readonly NewEntry[]): void {
    for (let at = 0; at < entries.length; at++) {
      const event = (entries[at] as NewEntry).event
      if (event?.actions.stateDelta) this.#keepTempOf(event, event.actions.stateDelta)
    }
  }

  #keepTempOf(event: EventDraft, delta: JsonObject): void {
    const temporary = Object.keys(delta).filter((key) => key.startsWith('temp:'))
    if (temporary.length === 0) return
    const kept = { ...delta }
    for (const key of temporary) {
      this.#state.setTemp(key, delta[key])
      delete kept[key]
    }
    const { stateDelta: _, ...actions } = event.actions
    event.actions = Object.keys(kept).length ? { ...actions, stateDelta: kept } : actions
  }
}

keepShape(
  () =>
    new Recorder(
      { services: { watchers: [] }, view: { seq: 0 } } as unknown as Recorded,
      {} as Lease,
      0.5,
      {} as RunState,
    ),
)
