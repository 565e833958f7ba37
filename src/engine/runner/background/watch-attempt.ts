import type { StopSignal } from '../../../core/base/stop-signal.ts'
import { sessionGone } from '../../../services/session/session-errors.ts'
import { isInterrupted } from '../approvals/pending-requests.ts'
import { Cancelled } from '../run/cancelled.ts'
import type { RunServices } from '../run-services.ts'
import type { Attempt } from './begin-attempt.ts'
import type { LatestProgress } from './body-recorder.ts'
import type { UnheldLog } from './unheld-log.ts'

/** How often the log is read while a body runs, in milliseconds: a cancel stops the body within this time. */
const EVERY_MS = 1_000

interface Watch {
  readonly services: Pick<RunServices, 'sessionService' | 'ports'>
  /** Stops the body. */
  readonly stop: StopSignal
  /** What the body reports. */
  readonly progress: LatestProgress
}

/** Stops a body whose call was ended, whose session was deleted, or that another worker runs. Posts its progress while a run may show it. */
export class AttemptWatch {
  readonly #log: UnheldLog
  readonly #attempt: Attempt
  readonly #watch: Watch
  #cancelTimer: (() => void) | undefined
  #isClosed = false

  constructor(log: UnheldLog, attempt: Attempt, watch: Watch) {
    this.#log = log
    this.#attempt = attempt
    this.#watch = watch
    this.#schedule()
  }

  /** Ends the watch. */
  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
  }

  #schedule(): void {
    if (this.#isClosed) return
    const look = (): void => {
      this.#look()
        .catch(() => undefined) // the store is away: the next look tells
        .finally(() => this.#schedule())
    }
    this.#cancelTimer = this.#watch.services.ports.setTimer(look, EVERY_MS, { background: true })
  }

  async #look(): Promise<void> {
    const reason = await this.#whyOver()
    if (this.#isClosed) return
    if (reason) this.#watch.stop.stop(reason)
    else await this.#postProgress()
  }

  async #whyOver(): Promise<Error | undefined> {
    const { callId, id } = this.#attempt
    if (!(await this.#log.read())) return sessionGone(this.#log.key.sessionId)
    const found = this.#log.find(callId)
    if (!found) return new Cancelled('The call was ended.')
    return found.call.background?.engine?.attempt?.id === id
      ? undefined
      : new Cancelled('Another worker runs the call.')
  }

  async #postProgress(): Promise<void> {
    const { services, progress } = this.#watch
    // a session that waits has no run that shows progress, and none that empties its inbox
    const response = isInterrupted(this.#log.view) ? progress.take() : undefined
    if (!response) return
    const { sessionService, ports } = services
    const { callId } = this.#attempt
    await sessionService.post(this.#log.key, { id: ports.newId(), type: 'progress', callId, response })
  }
}
