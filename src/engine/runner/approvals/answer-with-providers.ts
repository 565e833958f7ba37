// Tools of a `ToolDispatcher` may bring a confirmation provider. A text run asks it instead of pausing.

import type { Part } from '../../../core/content/content.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { findTool } from '../../agent/loop/find-tool.ts'
import { untilStopped } from '../../agent/loop/run-host.ts'
import type { RunData } from '../run/run-data.ts'
import { deny } from './answer-parts.ts'
import { type Confirmation, confirmationAnswer, confirmationOf } from './confirmation-provider.ts'
import { pendingOf } from './pending-requests.ts'

/** How often the inbox is read while a provider decides, in milliseconds. Other processes may answer, too. */
const INBOX_MS = 1_000

/** The confirmation that the tool of a request brings. Undefined if it brings none, or the request is none. */
export function confirmationFor(run: RunData, { kind, functionCallId }: PendingRequest): Confirmation | undefined {
  const call = kind === 'confirmation' ? run.fold.calls.get(functionCallId) : undefined
  return call && confirmationOf(findTool(run, call))
}

/** The requests of one run that providers are asked about. */
export class ProviderRequests {
  readonly #run: RunData
  /** Requests that a provider decides about. */
  readonly #asked: Map<string, AbortController> = new Map()
  /** Requests that a provider has decided about. It is asked once. */
  readonly #decided: Set<string> = new Set()
  #wake: () => void = () => {}

  constructor(run: RunData) {
    this.#run = run
  }

  /** Asks providers about new requests. Resolves when there is an answer, or none to wait for. */
  async wait(isWaiting: () => boolean): Promise<void> {
    const { recorder, services } = this.#run
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#ask()
      if (this.#asked.size === 0) return
      const cancelTimer = services.ports.setTimer(() => this.#wake(), INBOX_MS, { background: true })
      await untilStopped(this.#run, changed).finally(cancelTimer)
      await recorder.drainInbox()
      if (!isWaiting()) return
    }
  }

  /** Withdraws all requests: the run has ended. */
  close(): void {
    for (const controller of this.#asked.values()) controller.abort(new Error('The run has ended.'))
  }

  #ask(): void {
    const pending = pendingOf(this.#run.fold.waitingCalls(), this.#run)
    const open = new Set(pending.map(({ id }) => id))
    for (const [id, controller] of this.#asked) {
      if (open.has(id)) continue
      this.#asked.delete(id)
      controller.abort(new Error('The request no longer needs an answer.'))
    }
    for (const request of pending) {
      const isKnown = this.#asked.has(request.id) || this.#decided.has(request.id)
      const confirmation = isKnown ? undefined : confirmationFor(this.#run, request)
      if (confirmation) void this.#answer(request, confirmation)
    }
  }

  /** Asks about one request, and records the answer like one from another process. Never rejects. */
  async #answer(request: PendingRequest, confirmation: Confirmation): Promise<void> {
    const controller = new AbortController()
    this.#asked.set(request.id, controller)
    const { logger } = this.#run.services
    const report = (problem: string, error: unknown): void => logger.warn(`${problem}: ${messageOf(error)}`, error)
    try {
      const given = await confirmationAnswer(request, controller.signal, { ...confirmation, report })
      if (given) await this.#post(given)
      // an answer that does not pass the checks denies: the provider would give it again
      if (given && this.#isOpen(request)) await this.#post(deny(request, { reason: 'The confirmation failed.' }))
    } catch (error) {
      if (!controller.signal.aborted) report(`The answer to request "${request.id}" was not recorded`, error)
    }
    this.#asked.delete(request.id)
    this.#decided.add(request.id)
    this.#wake()
  }

  async #post(part: Part): Promise<void> {
    const { appName, userId, sessionId, services, recorder } = this.#run
    const content = { role: 'user', parts: [part] } as const
    const key = { appName, userId, sessionId }
    const { ports, sessionService } = services
    await sessionService.post(key, { id: ports.newId(), postedAt: ports.now(), type: 'answer', content })
    await recorder.drainInbox()
  }

  #isOpen({ id }: PendingRequest): boolean {
    return pendingOf(this.#run.fold.waitingCalls(), this.#run).some((request) => request.id === id)
  }
}
