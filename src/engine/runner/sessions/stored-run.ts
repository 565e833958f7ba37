import type { Entry } from '../../../core/event/event.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import { sessionNotFound } from '../../../services/session/session-errors.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { Next } from '../../agent/loop/next.ts'
import type { SessionView } from '../../agent/loop/session-view.ts'
import { isInterrupted } from '../approvals/pending-requests.ts'
import { EventQueue } from '../run/event-queue.ts'
import type { StartedRun } from '../run/run-handle.ts'
import type { RunServices } from '../run-services.ts'
import { findPositionAfter, forConsumer, positionAfter } from './followed-events.ts'
import { readStoredLog } from './stored-log.ts'
import { viewOfCheckpoint } from './stored-view.ts'

/** How long to wait before the new events of a run in another process are read, in milliseconds. Doubled while there are none. */
const POLL_MS = 500
const MAX_POLL_MS = 2_000

/** Where an event is in the log. */
interface EventPlace {
  readonly id: string
  readonly seq: number
}

const idsOf = (places: readonly EventPlace[]): string[] => places.map(({ id }) => id)

interface Parts {
  readonly services: RunServices
  readonly tree: AgentTree
}

/**
 * The stored events of a session, read again while a run of another process writes them. At no time does it keep more than a piece
 * of them: a client may follow many long sessions.
 */
export class StoredRun implements StartedRun {
  readonly #services: RunServices
  readonly #key: SessionKey
  /** The state of the invocations. Without `readLog` it has no records. Its events are dropped. */
  readonly #view: SessionView
  /** The consumer has the entries up to this one. */
  #seen: number
  #cancelTimer: (() => void) | undefined
  #settle: (() => void) | undefined
  readonly events: EventQueue = new EventQueue()
  readonly userId: string
  readonly sessionId: string
  invocationId: string
  readonly finished: Promise<void>
  isFinished = false
  failure: { readonly reason: unknown } | undefined

  private constructor(key: SessionKey, view: SessionView, { services }: Parts) {
    this.#services = services
    this.invocationId = view.stored.latest?.invocationId ?? ''
    this.#view = view
    this.#seen = view.seq
    this.#key = key
    this.userId = key.userId
    this.sessionId = key.sessionId
    this.finished = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /**
   * Reads the log of a session, from its checkpoint on if the event is not before that: its run yields the events after the event;
   * default: only new ones. Throws NOT_FOUND, and INVALID_REQUEST if there is no such event.
   */
  static async open(key: SessionKey, afterEventId: string | undefined, parts: Parts): Promise<StoredRun> {
    const run = new StoredRun(key, await viewOfCheckpoint(key, parts), parts)
    const { seq, eventsBefore } = run.#view
    const later = await run.#readPlaces(seq + 1)
    let position = findPositionAfter(idsOf(later), afterEventId, eventsBefore)
    let places = later
    if (position === undefined) {
      places = eventsBefore === 0 ? later : await run.#readPlaces(1)
      position = positionAfter(idsOf(places), afterEventId)
    }
    run.#seen = places[position - 1]?.seq ?? (places === later ? seq : 0)
    return run
  }

  /** Reads the log from an entry on: where its events are. */
  async #readPlaces(fromSeq: number): Promise<EventPlace[]> {
    const places: EventPlace[] = []
    let isThere = false
    for await (const { entries, lastSeq } of readStoredLog(this.#key, fromSeq, this.#services)) {
      isThere = lastSeq >= this.#view.seq // a shorter log is that of another session
      this.#fold(entries)
      for (const { seq, event } of entries) {
        if (!event) continue
        places.push({ id: event.id, seq })
        this.invocationId = event.invocationId
      }
    }
    if (!isThere) throw sessionNotFound(this.sessionId)
    return places
  }

  /** Starts to yield the events. */
  follow(): void {
    this.#follow().catch((reason: unknown) => {
      this.failure = { reason }
      this.removeConsumer()
    })
  }

  #fold(entries: readonly Entry[]): void {
    this.#view.catchUp(entries)
    this.#view.events.length = 0
  }

  /** Yields the new events, then waits for more while a run of another process is under way. */
  async #follow(): Promise<void> {
    for (let waitMs = POLL_MS; !this.isFinished; ) {
      if (await this.#readNew()) waitMs = POLL_MS
      if (!(await this.#isUnderWay())) break
      await this.#wait(waitMs)
      waitMs = Math.min(waitMs * 2, MAX_POLL_MS)
    }
    await this.#readNew() // the run may have paused or died after the events were read
    this.removeConsumer()
  }

  /** Yields the events that were stored since the last time, as fast as the consumer takes them. Were there any? */
  async #readNew(): Promise<boolean> {
    if (this.isFinished) return false
    const before = this.#seen
    let isThere = false
    for await (const { entries, lastSeq } of readStoredLog(this.#key, this.#seen + 1, this.#services)) {
      if (lastSeq < this.#view.seq) break // a shorter log is that of another session
      isThere = true
      this.#fold(entries)
      this.#seen = entries.at(-1)?.seq ?? this.#seen
      for (const event of forConsumer(entries.flatMap((entry) => entry.event ?? []))) this.events.push(event)
      await Promise.race([this.events.allTaken(), this.finished])
      if (this.isFinished) return false
    }
    if (!isThere) this.removeConsumer() // the session was deleted
    return this.#seen > before
  }

  /** Does a live process run the session? Neither paused nor interrupted sessions are followed. */
  async #isUnderWay(): Promise<boolean> {
    if (this.isFinished || !isInterrupted(this.#view)) return false
    const { sessionService } = this.#services
    const pending = await sessionService.pending(this.#key)
    if (pending.length) return false
    const interrupted = await sessionService.interrupted({ appName: this.#key.appName })
    return !interrupted.some(({ userId, sessionId }) => userId === this.userId && sessionId === this.sessionId)
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#cancelTimer = this.#services.ports.setTimer(resolve, ms)
      void this.finished.then(resolve)
    })
  }

  next(): Next {
    return { type: 'done' }
  }

  error(): undefined {
    return undefined
  }

  branchedText(): string {
    return ''
  }

  stop(): void {
    this.removeConsumer()
  }

  removeConsumer(): void {
    this.isFinished = true
    this.#cancelTimer?.()
    this.#settle?.()
    this.events.notifyConsumer()
  }
}
