import type { LiveClientMessage } from '../../tool/live-model.ts'

/** Most messages that are remembered. */
const MAX_MESSAGES = 200

interface SentMessage {
  readonly place: number
  readonly message: LiveClientMessage
  isAnswered: boolean
}

/** Messages of the user that a new connection may have to repeat: the model has not answered them, or has forgotten them. */
export class Unanswered {
  #sent: SentMessage[] = []

  /** Remembers a message. A message that asks for no reply counts as answered. */
  add(message: LiveClientMessage, place: number): void {
    const isAnswered = message.type === 'content' && !message.turnComplete
    this.#sent.push({ place, message, isAnswered })
    if (this.#sent.length > MAX_MESSAGES) this.#sent.shift()
  }

  /** The model has replied to everything up to this place. */
  answered(place: number): void {
    for (const one of this.#sent) if (one.place <= place) one.isAnswered = true
  }

  /** A handle covers everything up to this place: answered messages are never needed again. */
  covered(place: number): void {
    this.#sent = this.#sent.filter((one) => one.place > place || !one.isAnswered)
  }

  /** Does the model owe a reply? */
  get isWaiting(): boolean {
    return this.#sent.some(({ isAnswered }) => !isAnswered)
  }

  /** Has the model answered a message that it knows no more? Then repeating the message would repeat the answer. */
  hasForgottenAnswer(place: number): boolean {
    return this.#sent.some((one) => one.place > place && one.isAnswered && one.message.type !== 'content')
  }

  /** The messages after this place. */
  since(place: number): LiveClientMessage[] {
    return this.#sent.filter((one) => one.place > place).map(({ message }) => message)
  }
}
