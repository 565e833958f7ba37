// The API allows one response at a time and refuses `response.create` meanwhile. The provider also starts responses by
// itself, after the user has spoken. This class sends `response.create` when the conversation is free.
import type { JsonObject } from '../../../core/base/json.ts'

const ALREADY_ACTIVE = 'conversation_already_has_active_response'
const NOTHING_TO_CANCEL = 'response_cancel_not_active'

/** A response that was started without an event that names it. */
const UNKNOWN = ''

/** Requests responses, one at a time. */
export class ReplyRequests {
  readonly #send: (event: JsonObject) => void
  readonly #newId: () => string
  /** A response that is wanted but not requested yet, and the item it must react to. */
  #wanted: { readonly itemId: string | undefined; readonly item: 'sent' | 'added' } | undefined
  /** The event that requested a response, until the provider answers it. */
  #requestId: string | undefined
  #activeId: string | undefined
  /** While the user speaks, the provider is about to start a response by itself. */
  #user: 'silent' | 'speaking' = 'silent'

  constructor(send: (event: JsonObject) => void, newId: () => string) {
    this.#send = send
    this.#newId = newId
  }

  /** The id of the response that is being generated. */
  get activeId(): string | undefined {
    return this.#activeId
  }

  /** Requests a response to everything up to this item: now, or when the conversation is free. */
  request(itemId: string | undefined): void {
    this.#wanted = { itemId, item: 'sent' }
    this.#flush()
  }

  /** Stops the response that is being generated. */
  cancel(): void {
    if (this.#activeId === undefined) return
    this.#send({ type: 'response.cancel', ...(this.#activeId !== UNKNOWN && { response_id: this.#activeId }) })
  }

  /** The provider has added an item to the conversation. */
  itemAdded(itemId: string): void {
    if (this.#wanted?.itemId === itemId) this.#wanted = { itemId, item: 'added' }
  }

  /** The provider has started a response, requested or not. */
  started(responseId: string): void {
    this.#requestId = undefined
    this.#activeId = responseId
    this.#user = 'silent'
    // a response that starts after the item was added reacts to the item
    if (this.#wanted?.item === 'added') this.#wanted = undefined
  }

  /** The provider has finished a response. */
  finished(responseId: string | undefined): void {
    const isOther = responseId !== undefined && this.#activeId !== undefined && this.#activeId !== UNKNOWN
    if (isOther && responseId !== this.#activeId) return // a response outside of the conversation
    this.#activeId = undefined
    this.#requestId = undefined
    this.#flush()
  }

  /** The user speaks, and the provider replies by itself afterwards. */
  userSpeaks(): void {
    this.#user = 'speaking'
  }

  /** Is the error part of normal operation? Two sides may start or stop a response at the same time. */
  refused(code: unknown, eventId: unknown): boolean {
    const isOwn = this.#requestId !== undefined && eventId === this.#requestId
    if (isOwn) this.#requestId = undefined
    if (code === NOTHING_TO_CANCEL) return true
    if (code === ALREADY_ACTIVE) {
      this.#activeId ??= UNKNOWN
      this.#wanted ??= { itemId: undefined, item: 'sent' }
      return true
    }
    this.#user = 'silent' // the reply to the user may have failed
    this.#flush()
    return false
  }

  #flush(): void {
    const isBusy = this.#activeId !== undefined || this.#requestId !== undefined || this.#user === 'speaking'
    if (!this.#wanted || isBusy) return
    this.#wanted = undefined
    this.#requestId = this.#newId()
    this.#send({ type: 'response.create', event_id: this.#requestId })
  }
}
