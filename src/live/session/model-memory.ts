import type { Content, FunctionResponse, Part } from '../../content/content.ts'
import {
  type LiveClientMessage,
  LiveConnectionError,
  type LiveServerMessage,
  type LiveToolCall,
} from '../../tool/live-model.ts'
import { Quiet } from './quiet.ts'
import { seedContents, toldMessage } from './seed.ts'
import { SinceHandle } from './since-handle.ts'
import { Unanswered } from './unanswered.ts'

/** What a new connection can be told from. */
export interface IntroductionSource {
  /** The model knows what the newest handle covers. Otherwise it knows nothing. */
  readonly isResumed: boolean
  /** The calls. */
  readonly wire: {
    forget(place: number | undefined): void
    isOpen(callId: string): boolean
    readonly isBlocking: boolean
  }
  /** A result that the log has was about to be told, and the model replies to it. */
  readonly hasResult?: boolean
  /** The whole conversation, as the log has it. */
  history(): Content[]
}

/** What the model knows of the conversation, and what it must be told after a reconnect. */
export class ModelMemory {
  readonly #now: () => number
  readonly #since = new SinceHandle(() => this.#time)
  readonly #unanswered = new Unanswered(() => this.#time)
  readonly #quiet = new Quiet()
  /** The time of the latest message: everything that follows from one message happens at one time. */
  #time = 0
  /** Counts the messages with calls, so that a handle can say which calls it covers. */
  #place = 0
  #coveredPlace = 0

  /** `now`: milliseconds on a clock that is never set. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The place of the latest calls. */
  get place(): number {
    return this.#place
  }

  /** Does the model owe a reply, or the rest of one? */
  get isWaiting(): boolean {
    return this.#unanswered.isWaiting
  }

  /** Does anyone speak, or wait for a reply? */
  get isBusy(): boolean {
    return this.#unanswered.isBusy
  }

  /** Milliseconds since anyone spoke or wrote; 0 while someone speaks. */
  get quietMs(): number {
    return this.#quiet.forMs(this.#now())
  }

  /** A message was sent, or waits for a connection. */
  sent(message: LiveClientMessage): void {
    this.#time = this.#now()
    this.#quiet.sent(message, this.#time)
    switch (message.type) {
      case 'text':
        this.#since.sent([{ role: 'user', parts: [{ text: message.text }] }])
        this.#unanswered.asked()
        return
      case 'content':
        this.#since.sent(message.contents)
        if (message.turnComplete) this.#unanswered.asked()
        return
      case 'toolResponses':
        for (const response of message.responses) this.#responded(response)
        return
      case 'activity':
        this.#unanswered.spoke()
        return
      default:
    }
  }

  #responded(response: FunctionResponse): void {
    const { willContinue, scheduling } = response
    this.#since.responded(response)
    if (willContinue === undefined) this.#unanswered.answered()
    else if (!willContinue && scheduling !== 'SILENT') this.#unanswered.asked()
  }

  /** Takes a message of the model. */
  receive(message: LiveServerMessage): void {
    this.#time = this.#now()
    this.#quiet.receive(message, this.#time)
    const readUntil = this.#unanswered.receive(message)
    if (readUntil !== undefined) this.#since.read(readUntil)
    if (message.type === 'toolCall') this.#place++
    if (message.type === 'toolCancelled') this.#since.cancelled(message.ids)
    if (message.type === 'turnComplete') this.#since.turnEnded()
  }

  /** The model heard the user say something. */
  heard(text: string): void {
    if (text !== '') this.#since.said({ role: 'user', parts: [{ text }] })
  }

  /** The model said something. */
  said(parts: readonly Part[]): void {
    if (parts.length > 0) this.#since.said({ role: 'model', parts })
  }

  /** The model made calls that it had not made before. */
  called(calls: readonly LiveToolCall[]): void {
    for (const call of calls) this.#since.called(call)
  }

  /** Is the reply there, and only its end is missing? */
  get isReplyWhole(): boolean {
    return this.#unanswered.isWhole
  }

  /** The connection is gone, and the reply with it. */
  lost(): void {
    this.#time = this.#now()
    this.#unanswered.lost()
  }

  /** A new handle has arrived. Returns false if it may miss a part of the conversation. */
  cover(): boolean {
    const isCovering = this.#since.cover()
    if (isCovering) this.#coveredPlace = this.#place
    return isCovering
  }

  /** Can the conversation go on from the newest handle? */
  get canResume(): boolean {
    return this.#since.canResume
  }

  /** What a new connection must be told first. */
  introduction({ isResumed, wire, hasResult = false, history }: IntroductionSource): LiveClientMessage[] {
    if (isResumed && !this.canResume) {
      // something happened while the connection was made
      throw new LiveConnectionError('The handle no longer fits the conversation.', { recover: 'fresh' })
    }
    this.#time = this.#now()
    wire.forget(isResumed ? this.#coveredPlace : undefined)
    const isOwed = (this.isWaiting || hasResult) && !wire.isBlocking
    if (isOwed) this.#unanswered.told()
    if (isResumed) return this.#since.repeat(isOwed)
    const contents = seedContents(history(), (callId) => wire.isOpen(callId))
    this.#since.restart(contents.length > 0)
    return contents.length > 0 ? [toldMessage(contents, isOwed)] : []
  }
}
