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
  /** When everything was sent or heard that the model has not begun to reply to: messages, results and speech. */
  #causes: number[] = []
  /** When the latest of several messages was sent that count as read. It may be what interrupts the reply instead. */
  #doubtful: number | undefined
  /** When the latest result was sent that the model waits for before it speaks again. */
  #resultAt: number | undefined
  /** A reply was owed on an earlier connection. */
  #isOwed = false
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

  /** A message or a result was sent that the model replies to. */
  asked(): void {
    this.#causes.push(this.#now())
  }

  /** A result was sent that the model waits for before it speaks again. */
  answered(): void {
    this.asked()
    this.#resultAt = this.#now()
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
      case 'part':
        return this.#generate()
      case 'outputTranscript': // a late one does not begin a turn
        return this.#isOpen ? this.#generate() : undefined
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
        if (this.#doubtful !== undefined) this.#causes.unshift(this.#doubtful)
        this.#close()
        this.#isInterrupted = true
        if (isHeard) this.#hear()
        return undefined
      }
      case 'turnComplete': {
        const isEmpty = this.#isOpen ? this.#resultAt !== undefined : !this.#isInterrupted
        const read = isEmpty ? this.#begin() : undefined
        this.#close()
        return read
      }
      default:
        return undefined
    }
  }

  #generate(): number | undefined {
    const isFirst = !this.#isGenerating
    this.#isGenerating = true
    return isFirst ? this.#begin() : undefined
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
    const until = Math.max(this.#resultAt ?? first, this.#now() - CROSSING_MS)
    const read = this.#causes.filter((sentAt) => sentAt <= until)
    this.#doubtful = read.length > 1 ? read.at(-1) : undefined
    this.#causes = this.#causes.slice(read.length)
    this.#resultAt = undefined
    this.#isOwed = false
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
    this.#resultAt = undefined
    this.#doubtful = undefined
  }

  /** Is the reply there, and only its end is missing? */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** The connection is gone, and the reply with it. */
  lost(): void {
    this.#isOwed = this.isWaiting
    this.#causes = []
    this.#isHeard = false
    this.#isSpeaking = false
    this.#close()
  }

  /** A new connection was told what it must reply to. */
  told(): void {
    this.#isOwed = false
    this.#causes = [this.#now()]
  }

  /** Does the model owe a reply, or the rest of one? */
  get isWaiting(): boolean {
    return this.#isOwed || this.#causes.length > 0 || this.#isOpen
  }

  /** Does anyone speak, or wait for a reply? */
  get isBusy(): boolean {
    return this.isWaiting || this.#isSpeaking
  }
}
