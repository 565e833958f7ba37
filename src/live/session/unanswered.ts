import type { LiveServerMessage } from '../../tool/live-model.ts'

/**
 * A reply that begins sooner after a message was begun before the model had the message: messages cross on the network, and no
 * model replies this fast. In milliseconds.
 */
const CROSSING_MS = 200

/**
 * Does the model owe a reply? Follows the messages in both directions. A reply answers what the model had read when it began, so
 * that one reply may answer several messages.
 */
export class Unanswered {
  readonly #now: () => number
  /** When the messages were sent that ask for a reply and that no reply has begun to answer. */
  #waiting: number[] = []
  /** When everything was sent or heard that the model has not begun to react to: messages, results and speech. */
  #causes: number[] = []
  /** The user has said something, and no reply has begun. */
  #isHeard = false
  /** The user was heard during the turn: late words about what it replies to, or the words that interrupt it. */
  #isHeardInTurn = false
  /** The user speaks, or has spoken, and no reply has begun. There may be nothing to reply to, such as a cough. */
  #isSpeaking = false
  /** The model has begun a turn: it speaks, or has called a tool. */
  #isOpen = false
  /** The model speaks. */
  #isGenerating = false
  /** The model has said everything it wanted to say in this turn. */
  #isWhole = false
  /** The user interrupted the turn, whose end follows. */
  #isInterrupted = false

  /** `now`: milliseconds on a clock that is never set. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** A message was sent that asks for a reply. */
  asked(): void {
    this.#waiting.push(this.#now())
    this.#causes.push(this.#now())
  }

  /** The model got a result. A model whose turn is over begins a new one. */
  responded(): void {
    if (!this.#isOpen) this.#waiting.push(this.#now())
    this.#causes.push(this.#now())
  }

  /** The app says that the user starts or stops to speak. */
  spoke(): void {
    this.#isSpeaking = true
  }

  /**
   * Takes a message of the model. If the message shows that the model has read what was sent, returns until when: everything that
   * was sent up to this time.
   */
  receive(message: LiveServerMessage): number | undefined {
    switch (message.type) {
      case 'text':
      case 'audio':
      case 'part': {
        const isFirst = !this.#isGenerating
        this.#isGenerating = true
        return isFirst ? this.#begin() : undefined
      }
      case 'toolCall': {
        const isFirst = !this.#isGenerating
        this.#isGenerating = false // what follows is about the result
        this.#isWhole = false
        this.#isOpen = true
        return isFirst ? this.#begin() : undefined
      }
      case 'inputTranscript':
        if (message.text.trim() !== '') this.#hear()
        return undefined
      case 'activity':
        this.#isSpeaking = true
        return undefined
      case 'generationComplete':
        this.#isWhole = this.#isGenerating
        return undefined
      case 'interrupted': {
        const isHeard = this.#isHeardInTurn
        this.#close()
        this.#isInterrupted = true
        if (isHeard) this.#hear()
        return undefined
      }
      case 'turnComplete': {
        const isEmpty = !this.#isOpen && !this.#isInterrupted
        const read = isEmpty ? this.#begin() : undefined
        this.#close()
        return read
      }
      default:
        return undefined
    }
  }

  #hear(): void {
    if (this.#isOpen) {
      this.#isHeardInTurn = true
      return
    }
    if (!this.#isHeard) this.#causes.push(this.#now())
    this.#isHeard = true
  }

  #begin(): number {
    const [first = 0] = this.#causes
    const until = Math.max(first, this.#now() - CROSSING_MS)
    this.#waiting = this.#waiting.filter((sentAt) => sentAt > until)
    this.#causes = this.#causes.filter((sentAt) => sentAt > until)
    this.#isHeard = false
    this.#isSpeaking = false
    this.#isOpen = true
    this.#isWhole = false
    this.#isInterrupted = false
    return until
  }

  #close(): void {
    this.#isOpen = false
    this.#isGenerating = false
    this.#isWhole = false
    this.#isInterrupted = false
    this.#isHeardInTurn = false
  }

  /** Is the reply there, and only its end is missing? */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** The connection is gone, and the reply with it. */
  lost(): void {
    if (this.#isOpen) this.#waiting.push(this.#now())
    this.#causes = []
    this.#isSpeaking = false
    this.#close()
  }

  /** A new connection was told what it must reply to. */
  told(): void {
    this.#waiting = [this.#now()]
    this.#causes = [this.#now()]
    this.#isHeard = false
  }

  /** Does the model owe a reply, or the rest of one? */
  get isWaiting(): boolean {
    return this.#waiting.length > 0 || this.#isHeard || this.#isOpen
  }

  /** Does anyone speak, or wait for a reply? */
  get isBusy(): boolean {
    return this.isWaiting || this.#isSpeaking
  }
}
