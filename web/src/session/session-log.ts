import type { Part } from '../../../src/core/content/content.ts'
import type { Event } from '../../../src/core/event/event.ts'
import { ApiError, isOffline } from '../api/api-error.ts'
import { cancelRun, followRun, runMessage } from '../api/runs.ts'
import { readLog } from '../api/sessions.ts'
import type { SessionKey } from '../api/types.ts'
import { type Signal, signal } from '../state/signal.ts'
import { EMPTY_VIEW, type LogView, newLocalId, withEntries, withEvent } from './log-view.ts'

/** Entries per request. */
const PAGE = 1000
/** A stream that is open for longer belongs to a run. */
const FOLLOW_MS = 300
const UNREAD = 'The server did not send the whole log of this session. Try again.'

/** The log of one session: reads it page by page from its end, follows its run, and sends messages. */
export class SessionLog {
  /** The session. */
  readonly key: SessionKey
  /** What is known about the log. */
  readonly view: Signal<LogView> = signal(EMPTY_VIEW)
  readonly #closed = new AbortController()
  readonly #onChange: () => void
  #eventIds = new Set<string>()
  #sync: Promise<void> | undefined
  #earlier: Promise<void> | undefined
  #first: Promise<void> | undefined
  #streams = 0
  #following: AbortController | undefined
  /** Events of streams that are not shown yet. */
  readonly #arrived: Event[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `onChange` is called when a run has begun, and when it has ended. */
  constructor(key: SessionKey, onChange: () => void = () => {}) {
    this.key = key
    this.#onChange = onChange
  }

  /** Reads the end of the log, then follows the run under way. Called again, it reads what was added. */
  async open(): Promise<void> {
    try {
      if (this.view.value.status === 'ready') await this.sync()
      else await this.#readFirst()
    } catch (error) {
      this.#fail(error, this.view.value.status === 'ready' ? 'ready' : 'failed')
      if (!isOffline(error) && this.#streams === 0) this.view.update((view) => ({ ...view, isRunning: false }))
      return
    }
    if (this.#streams === 0) await this.#follow()
  }

  /** Reads the end of the log once. Reading what was added since waits for it. */
  #readFirst(): Promise<void> {
    if (!this.#first) {
      this.#first = this.#readEnd().finally(() => {
        this.#first = undefined
      })
      this.#sync = this.#first.catch(() => {})
    }
    return this.#first
  }

  async #readEnd(): Promise<void> {
    const { lastSeq } = await readLog(this.key, { fromSeq: 1, limit: 1 }, this.#closed.signal)
    const fromSeq = Math.max(1, lastSeq - PAGE + 1)
    await this.#readFrom(fromSeq)
    this.view.update((view) => ({ ...view, status: 'ready', hasEarlier: fromSeq > 1 }))
  }

  /** Reads the page before the first known entry. */
  loadEarlier(): Promise<void> {
    this.#earlier ??= this.#readEarlier().finally(() => {
      this.#earlier = undefined
    })
    return this.#earlier
  }

  /** Reads the whole log. Rejects if a page of it cannot be read. */
  async loadAll(): Promise<void> {
    await this.open()
    if (this.view.value.status !== 'ready') throw this.view.value.error ?? new Error(UNREAD)
    while (this.view.value.hasEarlier) {
      const before = this.view.value
      await this.loadEarlier()
      const { entries, error } = this.view.value
      // a failure leaves the view as it was, and one of the connection is not in it
      if (entries[0]?.seq === before.entries[0]?.seq) throw error === before.error ? new Error(UNREAD) : error
    }
  }

  /** Reads what was added up to an entry, unless a stream brings it. */
  update(lastSeq: number): void {
    if (lastSeq > this.#lastSeq && this.#streams === 0) void this.open()
  }

  /** Sends a message, or answers, and adds the events of the run to the view. Rejects if the server refuses the message. */
  async send(parts: readonly Part[]): Promise<void> {
    const message = localMessage(parts)
    this.view.update((view) => ({ ...view, recent: [...view.recent, message], error: undefined }))
    this.#following?.abort()
    this.#setRunning()
    const { signal } = this.#closed
    const refusal = await this.#consume(runMessage(this.key, parts, signal), signal)
    if (!refusal) return
    const isRunning = this.#streams > 0
    this.view.update((view) => ({ ...view, isRunning, recent: view.recent.filter((event) => event !== message) }))
    throw refusal
  }

  /** Cancels the run. */
  async stop(): Promise<void> {
    await cancelRun(this.key)
  }

  /** Reads what was added to the log since it was read. */
  sync(): Promise<void> {
    const next = (this.#sync ?? Promise.resolve()).then(() => this.#readFrom(this.#lastSeq + 1))
    this.#sync = next.catch(() => {})
    return next
  }

  /** Ends all requests. A run that was started here is cancelled, unless the server detaches it. */
  close(): void {
    this.#closed.abort()
  }

  get #lastSeq(): number {
    return this.view.value.entries.at(-1)?.seq ?? 0
  }

  async #readFrom(first: number): Promise<void> {
    for (let fromSeq = first; ; ) {
      const { entries, lastSeq } = await readLog(this.key, { fromSeq, limit: PAGE }, this.#closed.signal)
      for (const { event } of entries) if (event) this.#eventIds.add(event.id)
      this.view.update((view) => withEntries(view, entries))
      const last = entries.at(-1)?.seq
      if (last === undefined || last >= lastSeq) return
      fromSeq = last + 1
    }
  }

  async #readEarlier(): Promise<void> {
    const first = this.view.value.entries[0]?.seq ?? 1
    if (first <= 1) return
    const fromSeq = Math.max(1, first - PAGE)
    try {
      const { entries } = await readLog(this.key, { fromSeq, limit: first - fromSeq }, this.#closed.signal)
      const earlier = entries.filter(({ seq }) => seq < first)
      this.view.update((view) => ({ ...view, entries: [...earlier, ...view.entries], hasEarlier: fromSeq > 1 }))
    } catch (error) {
      this.#fail(error, 'ready')
    }
  }

  async #follow(): Promise<void> {
    this.#following = new AbortController()
    const signal = AbortSignal.any([this.#closed.signal, this.#following.signal])
    const last = this.view.value.entries.findLast(({ event }) => event)?.event?.id
    // the stream of a session without a run ends at once, so that the page would only flicker
    const timer = setTimeout(() => this.#setRunning(), FOLLOW_MS)
    await this.#consume(followRun(this.key, last, signal), signal)
    clearTimeout(timer)
  }

  /**
   * Adds the events of a stream. Beside another stream it adds no partial events, because that one has them, too. Returns the
   * error of a server that refused the request.
   */
  async #consume(events: AsyncIterable<Event>, signal: AbortSignal): Promise<ApiError | undefined> {
    let refusal: ApiError | undefined
    let isBroken = false
    const isMain = this.#streams++ === 0
    try {
      let isFirst = true
      for await (const event of events) {
        if (signal.aborted) break
        if (event.partial && !isMain) continue
        this.#setRunning()
        this.#arrived.push(event)
        this.#timer ??= setTimeout(() => this.#showArrived())
        if (isFirst) this.#beginRun()
        isFirst = false
      }
    } catch (error) {
      if (error instanceof ApiError && (error.status >= 400 || error.code === 'OFFLINE')) refusal = error
      // the run continues, or resumes when the server is back: then the log is opened again
      else if (isOffline(error)) isBroken = true
      else if (!signal.aborted) this.#fail(error, 'ready')
    }
    this.#streams--
    this.#showArrived()
    if (!signal.aborted && !isBroken) await this.#endRun()
    return refusal
  }

  /** Events that arrived together are shown together: a quick run would otherwise render the page for each of them. */
  #showArrived(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const events = this.#arrived.splice(0)
    const add = (view: LogView, event: Event): LogView => withEvent(view, event, this.#eventIds.has(event.id))
    if (events.length > 0) this.view.update((view) => events.reduce(add, view))
  }

  /** The user's message gets its place in the log, and an answered request is gone. */
  #beginRun(): void {
    void this.sync()
      .catch(() => {})
      .then(this.#onChange)
  }

  async #endRun(): Promise<void> {
    try {
      await this.sync()
    } catch (error) {
      if (isOffline(error)) return // the log is opened again when the server is back
      this.#fail(error, 'ready')
    }
    if (this.#streams === 0) this.view.update((view) => ({ ...view, isRunning: false, streaming: [], recent: [] }))
    this.#onChange()
  }

  #setRunning(): void {
    if (!this.view.value.isRunning) this.view.update((view) => ({ ...view, isRunning: true }))
  }

  #fail(error: unknown, status: LogView['status']): void {
    if (this.#closed.signal.aborted || isOffline(error)) return
    this.view.update((view) => ({ ...view, status, error }))
  }
}

function localMessage(parts: readonly Part[]): Event {
  return {
    id: newLocalId(),
    invocationId: '',
    author: 'user',
    timestamp: Date.now() / 1000,
    content: { role: 'user', parts },
    actions: {},
  }
}
