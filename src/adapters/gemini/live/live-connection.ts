import type { Session } from '@google/genai'
import type { JsonObject } from '../../../core/base/json.ts'
import { MessageQueue } from '../../../core/base/message-queue.ts'
import type { Ports } from '../../../core/base/ports.ts'
import type {
  LiveClientMessage,
  LiveConnection,
  LiveConnectionError,
  LiveServerMessage,
} from '../../../engine/model/live-model.ts'
import { hideKnownSecrets } from '../failure/hide-secrets.ts'
import { type FailedConnection, notOpenError } from './connection-failure.ts'
import { LiveSocket } from './live-socket.ts'
import { type LiveTarget, sendMessage } from './send-message.ts'
import { readServerMessage } from './server-messages.ts'

/** Bytes that may wait in the socket before `send()` returns a promise. */
const MAX_BUFFERED_BYTES = 1024 * 1024
const BUFFER_CHECK_MS = 10
const TAKEN_CHECK_MS = 1_000
/** How long the service has to answer a close frame. */
const CLOSE_TIMEOUT_MS = 2_000

/** What a connection needs to know. */
export interface ConnectionContext extends FailedConnection, LiveTarget {
  /** Timer and ids. */
  readonly ports: Ports
}

/** A connection to a live Gemini model. */
export class GeminiLiveConnection implements LiveConnection {
  /** The WebSocket. */
  readonly socket: LiveSocket = new LiveSocket({ onMessage: (message) => this.receive(message) })
  readonly #context: ConnectionContext
  readonly #queue = new MessageQueue<LiveServerMessage>(() => this.close())
  #session: Session | undefined
  #isIterated = false
  #isClosed = false
  #lost: LiveConnectionError | undefined
  #drained: PromiseWithResolvers<void> | undefined
  #cancelTimer: (() => void) | undefined

  constructor(context: ConnectionContext) {
    this.#context = context
  }

  /** Uses the session of the client from now on. */
  open(session: Session): void {
    this.#session = session
    this.socket.adopt(session)
  }

  /** Adds a message of the service. Never throws: the WebSocket calls it. */
  receive(message: JsonObject | undefined): void {
    const { secrets } = this.#context
    for (const one of this.#read(message))
      this.#queue.push(one.type === 'error' ? { ...one, message: hideKnownSecrets(one.message, secrets) } : one)
  }

  /** Ends the iteration with an error. */
  lose(error: LiveConnectionError): void {
    this.#stopTimer()
    if (this.#isClosed) return
    this.#lost ??= error
    this.#queue.fail(this.#lost)
  }

  /** Sends a message. Returns a promise while more than 1 MiB waits to be sent. */
  send(message: LiveClientMessage): Promise<void> | undefined {
    if (this.#lost) throw this.#lost
    if (this.#isClosed || !this.#session || !this.socket.isOpen) throw notOpenError(this.#context)
    sendMessage(this.#session, message, this.#context)
    return this.socket.bufferedBytes > MAX_BUFFERED_BYTES ? this.#waitUntilSent() : undefined
  }

  /** Stops reading from the network. */
  pause(): void {
    this.socket.pause()
  }

  /** Reads from the network again. */
  resume(): void {
    this.socket.resume()
  }

  /**
   * Asks the service for a sign of life. The WebSocket of a browser has no pings: there the sign is that the network takes what was
   * sent.
   */
  ping(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.socket.ping(resolve)) this.#whenTaken(resolve)
    })
  }

  #whenTaken(taken: () => void): void {
    if (this.#isClosed || this.#lost) return
    if (this.socket.bufferedBytes === 0) taken()
    else this.#context.ports.setTimer(() => this.#whenTaken(taken), TAKEN_CHECK_MS, { background: true })
  }

  /** Closes the connection. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue.close()
    this.#stopTimer()
    if (this.#lost) return
    this.socket.close()
    this.#cancelTimer = this.#context.ports.setTimer(() => this.socket.destroy(), CLOSE_TIMEOUT_MS, {
      background: true,
    })
  }

  /** The messages of the service. */
  [Symbol.asyncIterator](): AsyncIterator<LiveServerMessage> {
    if (this.#isIterated) throw new Error(`The live connection to model "${this.#context.name}" is already iterated.`)
    this.#isIterated = true
    return this.#queue
  }

  #read(message: JsonObject | undefined): readonly LiveServerMessage[] {
    const { name, ports } = this.#context
    try {
      if (message) return readServerMessage(message, ports)
    } catch {} // a member that cannot even be converted to text
    return [{ type: 'error', message: `Model "${name}" sent a malformed frame. The frame is skipped.` }]
  }

  #waitUntilSent(): Promise<void> {
    if (!this.#drained) {
      this.#drained = Promise.withResolvers()
      this.#checkBuffer()
    }
    return this.#drained.promise
  }

  /** A WebSocket has no event for this. */
  #checkBuffer(): void {
    this.#cancelTimer = this.#context.ports.setTimer(() => {
      if (this.socket.bufferedBytes > MAX_BUFFERED_BYTES) this.#checkBuffer()
      else this.#stopTimer()
    }, BUFFER_CHECK_MS)
  }

  /** Also ends the wait for the buffer: the iteration reports why the connection ended. */
  #stopTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#drained?.resolve()
    this.#drained = undefined
  }
}
