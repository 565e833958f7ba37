import type { LiveServerMessage } from '../../tool/live-model.ts'

/**
 * Does the model owe a reply? Follows the messages in both directions. A model may answer several messages with one reply: a reply
 * answers what was sent before it began.
 */
export class Unanswered {
  /** Messages that no reply has begun to answer. */
  #waiting = 0
  /** Messages that the current reply answers. */
  #replying = 0
  /** The user has said something, and no reply has begun. */
  #isHeard = false
  /** The user speaks, or has spoken, and no reply has begun. There may be nothing to reply to, such as a cough. */
  #isSpeaking = false
  /** The model has begun a turn: it speaks, or has called a tool. */
  #isOpen = false
  /** The model speaks. */
  #isGenerating = false
  /** The user interrupted the turn, whose end follows. */
  #isInterrupted = false

  /** A message was sent that asks for a reply. */
  asked(): void {
    this.#waiting++
  }

  /** The app says that the user starts or stops to speak. */
  spoke(): void {
    this.#isSpeaking = true
  }

  /** The model got a result. A model whose turn is over begins a new one. */
  responded(): void {
    if (!this.#isOpen) this.#waiting++
  }

  /** Takes a message of the model. Returns whether it shows that the model has read what was sent before. */
  receive(message: LiveServerMessage): boolean {
    switch (message.type) {
      case 'text':
      case 'audio':
      case 'part': {
        const isFirst = !this.#isGenerating
        this.#isGenerating = true
        if (isFirst) this.#begin()
        return isFirst
      }
      case 'toolCall': {
        const isFirst = !this.#isGenerating
        this.#isGenerating = false // what follows is about the result
        this.#begin()
        return isFirst
      }
      case 'inputTranscript':
        if (message.text !== '' && !this.#isOpen) this.#isHeard = true
        return false
      case 'activity':
        this.#isSpeaking = true
        return false
      case 'interrupted':
        this.#interrupt()
        return false
      case 'turnComplete':
        this.#end()
        return false
      default:
        return false
    }
  }

  #begin(): void {
    this.#replying += this.#waiting
    this.#waiting = 0
    this.#isHeard = false
    this.#isSpeaking = false
    this.#isOpen = true
    this.#isInterrupted = false
  }

  #interrupt(): void {
    this.#waiting += this.#replying > 1 ? 1 : 0 // the last one may be what interrupted the reply
    this.#replying = 0
    this.#isOpen = false
    this.#isGenerating = false
    this.#isInterrupted = true
  }

  #end(): void {
    const isEmpty = !this.#isOpen && !this.#isInterrupted
    if (isEmpty) {
      this.#waiting = 0
      this.#isHeard = false
      this.#isSpeaking = false
    }
    this.#replying = 0
    this.#isOpen = false
    this.#isGenerating = false
    this.#isInterrupted = false
  }

  /** The connection is gone, and the reply with it. */
  lost(): void {
    if (this.#isOpen) this.#waiting += Math.max(1, this.#replying)
    this.#isSpeaking = false
    this.#replying = 0
    this.#isOpen = false
    this.#isGenerating = false
    this.#isInterrupted = false
  }

  /** Does the model owe a reply, or the rest of one? */
  get isWaiting(): boolean {
    return this.#waiting > 0 || this.#isHeard || this.#isOpen
  }

  /** Does anyone speak, or wait for a reply? */
  get isBusy(): boolean {
    return this.isWaiting || this.#isSpeaking
  }
}
