import type { CallState } from '../../../core/event/invocation-state.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { findTool } from '../../agent/loop/find-tool.ts'
import { backgroundOf } from '../../policy/background.ts'
import { expired, pendingOf } from '../approvals/pending-requests.ts'
import type { ActiveRun } from '../run/active-run.ts'
import type { RunNews } from './run-news.ts'

/** Hears about requests to a human. */
export interface RequestListener {
  /** Called once for each request, and for each long-running call without a result. */
  on(news: RunNews & { type: 'request' }): void
  /** Called when the denial of expired requests is recorded. */
  onExpired(): void
}

/** How often the inbox is read while a call waits for an answer or a result, in milliseconds. Other processes post there. */
const INBOX_MS = 1_000

/** The longest wait for the next request to expire, in milliseconds. Timers of the platform cannot wait for a month. */
const MAX_EXPIRY_MS = 3_600_000

/** The requests of a live session to a human. They are records of the log, and any process may answer them. */
export class LiveRequests {
  readonly #run: ActiveRun
  readonly #listener: RequestListener
  #cancelTimer: (() => void) | undefined
  #cancelExpiry: (() => void) | undefined
  #state: 'open' | 'closed' = 'open'
  /** Requests that were announced and are still open, by id. */
  readonly open: Map<string, AbortController> = new Map()

  constructor(run: ActiveRun, listener: RequestListener) {
    this.#run = run
    this.#listener = listener
  }

  /** Announces new requests, and withdraws those that are answered or no longer needed. */
  settle(): void {
    if (this.#state === 'closed') return // long-running calls stay open after the session, and were announced
    const { data } = this.#run
    const { userId, sessionId, invocationId } = data
    const pending = pendingOf(this.#waitingForOthers(), { userId, sessionId, invocationId })
    const ids = new Set(pending.map(({ id }) => id))
    for (const [id, controller] of this.open) {
      if (ids.has(id)) continue
      this.open.delete(id)
      controller.abort(new Error('The request no longer needs an answer.'))
    }
    this.#watchInbox()
    this.#watchExpiry(pending)
    for (const request of pending) {
      if (this.open.has(request.id)) continue
      const controller = new AbortController()
      this.open.set(request.id, controller)
      this.#listener.on({ type: 'request', request, signal: controller.signal })
    }
  }

  /** The waiting calls without background tools of agent tools, whose results come from this process. */
  #waitingForOthers(): readonly CallState[] {
    const { data } = this.#run
    return data.fold.waitingCalls().filter((call) => !(call.pending && backgroundOf(findTool(data, call))))
  }

  /** Reads the inbox again and again while a call waits. */
  #watchInbox(): void {
    const { fold, services, recorder, stop } = this.#run.data
    if (this.#cancelTimer || !fold.isWaiting) return
    const read = (): void => {
      this.#cancelTimer = undefined
      if (stop.stopped) return
      recorder.drainInbox().then(
        () => this.#watchInbox(),
        () => {}, // a broken store fails the next append too
      )
    }
    this.#cancelTimer = services.ports.setTimer(read, INBOX_MS, { background: true })
  }

  /** Denies requests that expire without an answer. */
  #watchExpiry(pending: readonly PendingRequest[]): void {
    this.#cancelExpiry?.()
    this.#cancelExpiry = undefined
    const next = Math.min(...pending.map(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt))
    if (next === Number.POSITIVE_INFINITY) return
    const { ports } = this.#run.data.services
    const ms = Math.min(Math.max(0, next * 1_000 - ports.now()), MAX_EXPIRY_MS)
    this.#cancelExpiry = ports.setTimer(() => void this.#expire(), ms, { background: true })
  }

  async #expire(): Promise<void> {
    const { fold, services, recorder, stop } = this.#run.data
    if (stop.stopped) return
    const denials = expired(fold, services.ports.now() / 1_000)
    try {
      if (denials.length) await recorder.commit(denials.map((record) => ({ record })))
      this.#listener.onExpired()
    } catch {
      // the run has stopped
    }
  }

  /** Withdraws all requests. */
  close(): void {
    this.#state = 'closed'
    this.#cancelTimer?.()
    this.#cancelExpiry?.()
    for (const controller of this.open.values()) controller.abort(new Error('The live session has ended.'))
    this.open.clear()
  }
}
