import type { Ports } from '../../base/ports.ts'
import type { FunctionResponse } from '../../content/content.ts'
import type { LiveClientMessage } from '../../tool/live-model.ts'
import type { HeldResults } from '../conversation/held.ts'
import type { LiveLink } from '../link/live-link.ts'
import type { KnownConversation } from './known-conversation.ts'
import type { ModelCalls } from './model-calls.ts'

/** What telling the model depends on. */
export interface TellerOptions {
  /** The connection. */
  readonly link: Pick<LiveLink, 'tell'>
  /** What is known of the conversation. */
  readonly conversation: KnownConversation
  /** The calls, for which the model may wait. */
  readonly calls: Pick<ModelCalls, 'isBlocking'>
  /** Timers. */
  readonly ports: Ports
  /** Reports a message that the model cannot take. */
  report(problem: string, error: unknown): void
}

/** Tells the model messages of the conversation: now, or once it is idle. */
export class ModelTeller {
  readonly #options: TellerOptions
  /** Stops the wait of held results. */
  #cancelTimer: (() => void) | undefined

  constructor(options: TellerOptions) {
    this.#options = options
  }

  /** Sends a message. A new connection gets it again if the model does not know it by then. */
  tell(message: LiveClientMessage): Promise<void> | undefined {
    const { link, conversation, report } = this.#options
    try {
      const behind = link.tell(message)
      conversation.sent(message)
      return behind
    } catch (error) {
      report('The model cannot take a message', error)
      return undefined
    }
  }

  /** Sends responses to calls as one message. */
  respond(...responses: readonly (FunctionResponse | undefined)[]): void {
    const given = responses.filter((response) => response !== undefined)
    if (given.length > 0) void this.tell({ type: 'toolResponses', responses: given })
  }

  /** Sends results once the model is idle. */
  hold(results: HeldResults): void {
    this.#options.conversation.take({ type: 'held', ...results })
    this.sendHeld()
  }

  /** Sends held results if the model is idle. Otherwise when it has been quiet for long enough. */
  sendHeld(): void {
    const { conversation, calls, ports } = this.#options
    const ms = conversation.heldForMs(calls.isBlocking)
    if (ms === undefined) return
    if (ms === 0) {
      this.close()
      void this.tell(conversation.release())
      return
    }
    const check = (): void => {
      this.#cancelTimer = undefined
      this.sendHeld()
    }
    this.#cancelTimer ??= ports.setTimer(check, ms, { background: true })
  }

  /** Waits no longer. */
  close(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }
}
