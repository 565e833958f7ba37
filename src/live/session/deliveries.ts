import type { Ports } from '../../base/ports.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import type { FunctionResponse } from '../../content/content.ts'
import type { Event } from '../../event/event.ts'
import { resultText } from '../conversation/seed.ts'
import type { HeldMessage } from './held-results.ts'
import type { WireCalls } from './wire-calls.ts'

/** What deliveries need from the session. */
export interface DeliveryOptions {
  /** The calls of the model. */
  readonly wire: WireCalls
  /** Timers. */
  readonly ports: Ports
  /** Was the call made in this session? */
  isOwnCall(callId: string): boolean
  /** Sends results as a message once the model is idle. */
  tellWhenIdle(message: HeldMessage): void
  /** Called after each delivery. */
  onDelivered(): void
  /** Reports a failure. */
  report(problem: string, error: unknown): void
}

/** How long a new connection waits for results that are on their way to the model. */
const DELIVERY_MS = 2_000

/** Recorded results on their way to the model. */
export class Deliveries {
  readonly #options: DeliveryOptions
  /** Results that are recorded and not sent yet. */
  readonly #underWay: Set<Promise<void>> = new Set()

  constructor(options: DeliveryOptions) {
    this.#options = options
  }

  /** Sends the responses of a recorded event to the model. */
  deliver(responses: readonly FunctionResponse[], event: Event): void {
    const { wire, report, onDelivered } = this.#options
    const delivery = wire
      .deliver(responses, event)
      .catch((error) => report('Tool responses could not be sent', error))
      .finally(() => {
        this.#underWay.delete(delivery)
        onDelivered()
      })
    this.#underWay.add(delivery)
  }

  /** Sends results of long-running calls. The model gets a result of an earlier session as a message. */
  deliverResults(responses: readonly FunctionResponse[], event: Event, isOfThisSession: boolean): void {
    const { isOwnCall, tellWhenIdle } = this.#options
    const own = responses.filter(({ id = '' }) => isOwnCall(id))
    if (own.length) this.deliver(own, event)
    if (isOfThisSession) return
    const contents = responses.map(({ name, response }) => ({
      role: 'user' as const,
      parts: [{ text: resultText(name, response) }],
    }))
    tellWhenIdle({ contents, turnComplete: true })
  }

  /** Settles when no result is on its way, soon at the latest. */
  async settled(): Promise<void> {
    await withTimeout(Promise.all(this.#underWay), DELIVERY_MS, this.#options.ports, () => undefined)
  }
}
