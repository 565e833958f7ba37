import type { JsonObject } from '../../../core/base/json.ts'
import { MessageQueue } from '../../../core/base/message-queue.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import {
  type LiveClientMessage,
  type LiveConnection,
  LiveConnectionError,
  type LiveServerMessage,
} from '../../../engine/model/live-model.ts'
import { CallLedger } from './call-ledger.ts'
import { lostConnection } from './connection-error.ts'
import { type ReaderState, readEvent } from './event-reader.ts'
import { MessageSender } from './message-sender.ts'
import type { OpenAiWebSocket } from './options.ts'
import { ReplyRequests } from './reply-requests.ts'
import { readSessionState } from './session-state.ts'
import type { Settings } from './settings.ts'
import type { ToolNames } from './tool-names.ts'

/** With this many unsent bytes, `send` returns a promise. */
const MAX_BUFFERED = 1_000_000
const DRAIN_CHECK_MS = 20
const OPEN = 1

/** A connection to OpenAI Realtime. */
export class RealtimeConnection implements LiveConnection {
  readonly #socket: OpenAiWebSocket
  readonly #settings: Settings
  readonly #queue: MessageQueue<LiveServerMessage> = new MessageQueue(() => this.#queue.close())
  readonly #state: ReaderState
  readonly #sender: MessageSender
  readonly #reported: Set<string> = new Set()
  #lastError: JsonObject | undefined
  #lifecycle: 'open' | 'closed' = 'open'
  #reader: 'none' | 'iterating' = 'none'
  /** Called with the next event: the provider is alive. */
  #onEvent: (() => void) | undefined

  constructor(socket: OpenAiWebSocket, settings: Settings, names: ToolNames) {
    this.#socket = socket
    this.#settings = settings
    const newId = (): string => settings.ports.newId().slice(0, 32) // the API refuses longer ids
    const write = (event: JsonObject): void => this.#write(event)
    this.#state = {
      replies: new ReplyRequests(write, newId),
      calls: new CallLedger(),
      names,
      texts: new Map(),
      session: readSessionState(settings.config),
      interruptedId: undefined,
    }
    this.#sender = new MessageSender({ state: this.#state, config: settings.config, newId, write })
  }

  /** Reads an event of the provider. */
  receive(event: JsonObject): void {
    this.#onEvent?.()
    this.#onEvent = undefined
    this.#lastError = event.type === 'error' ? event : undefined
    for (const message of readEvent(event, this.#state)) this.#queue.push(message)
  }

  /** Ends the iteration with an error, unless the connection was closed on purpose. */
  lose(closed: unknown): void {
    this.#lifecycle = 'closed'
    this.#queue.fail(lostConnection(this.#settings.name, closed, this.#lastError))
  }

  /** Sends a message. What the provider cannot read is reported as an error message. */
  send(message: LiveClientMessage): Promise<void> | undefined {
    if (!this.#isOpen())
      throw new LiveConnectionError(
        `The connection to model "${this.#settings.name}" is closed. Connect again to send messages.`,
        { recover: 'fresh' },
      )
    try {
      this.#sender.send(message)
    } catch (error) {
      this.#report(error)
    }
    return this.#socket.bufferedAmount > MAX_BUFFERED ? this.#drained() : undefined
  }

  /**
   * Asks the provider for a sign of life: an update of the session that changes nothing, which the provider answers. The WebSocket of
   * the platform has no pings.
   */
  ping(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEvent = resolve
      this.#write({ type: 'session.update', session: { type: 'realtime' } })
    })
  }

  /** Iterates the messages of the model. Only once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<LiveServerMessage, void, undefined> {
    if (this.#reader === 'iterating')
      throw new Error('A live connection can be iterated once. Read its messages in one loop.')
    this.#reader = 'iterating'
    yield* this.#queue
  }

  /** Closes the connection. */
  close(): void {
    this.#lifecycle = 'closed'
    this.#queue.close()
    try {
      this.#socket.close(1000)
    } catch {} // some WebSockets throw when they are closed while they connect
  }

  /** Reports media that the provider cannot read: once, because a microphone sends many chunks a second. */
  #report(error: unknown): void {
    if (!(error instanceof ToolwrightError)) throw error
    const { message, code } = error
    if (this.#reported.has(message)) return
    this.#reported.add(message)
    this.#queue.push({ type: 'error', message, code })
  }

  #isOpen(): boolean {
    return this.#lifecycle === 'open' && this.#socket.readyState === OPEN
  }

  #write(event: JsonObject): void {
    if (this.#isOpen()) this.#socket.send(JSON.stringify(event))
  }

  async #drained(): Promise<void> {
    while (this.#isOpen() && this.#socket.bufferedAmount > MAX_BUFFERED)
      await new Promise<void>((resolve) => void this.#settings.ports.setTimer(resolve, DRAIN_CHECK_MS))
  }
}
