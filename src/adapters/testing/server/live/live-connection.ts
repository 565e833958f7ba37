import type { WebSocket } from 'ws'
import { encodeBase64 } from '../../../../core/base/base64.ts'
import { isRecord, type JsonObject } from '../../../../core/base/json.ts'
import type { GeminiLiveCall, GeminiLiveConnection } from '../../gemini-live-script.ts'
import type { Conversation } from './conversation.ts'
import { ReceivedMessages } from './received-messages.ts'

/** What is known of a connection before its first message. */
export interface Handshake {
  /** The path of the URL. */
  readonly path: string
  /** HTTP headers, in lower case. */
  readonly headers: { readonly [name: string]: string }
  /** The path is a Vertex AI path. */
  readonly isVertex: boolean
  /** The API keys and access tokens of the query and of the headers. */
  readonly keys: readonly string[]
}

/** The conversation of a connection and its handles. */
interface ConnectionContext {
  /** Sends a new handle after each turn. */
  readonly sendHandles: boolean
  /** Creates a handle that resumes the conversation. */
  issueHandle(conversation: Conversation): string
}

/** A connection of a client, with the messages it received and the messages that a test sends. */
export class LiveServerConnection implements GeminiLiveConnection {
  /** The path of the URL. */
  readonly path: string
  /** HTTP headers of the handshake, in lower case. */
  readonly headers: { readonly [name: string]: string }
  /** The path is a Vertex AI path. */
  readonly isVertex: boolean
  /** The setup message of the client. Undefined until it arrives. */
  setup: JsonObject | undefined
  /** The conversation that the connection belongs to. */
  conversation: Conversation
  /** The messages of the client. */
  readonly messages: ReceivedMessages = new ReceivedMessages()
  readonly #socket: WebSocket
  readonly #context: ConnectionContext

  constructor(socket: WebSocket, handshake: Handshake, conversation: Conversation, context: ConnectionContext) {
    this.path = handshake.path
    this.headers = handshake.headers
    this.isVertex = handshake.isVertex
    this.conversation = conversation
    this.#socket = socket
    this.#context = context
  }

  /** The latest client messages in order. */
  get received(): readonly JsonObject[] {
    return this.messages.all
  }

  /** Whether the connection is open. */
  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  /** The handle that the client resumed with. */
  get handle(): string | undefined {
    const resumption = this.setup?.sessionResumption
    const handle = isRecord(resumption) ? resumption.handle : undefined
    return typeof handle === 'string' && handle !== '' ? handle : undefined
  }

  /** The next client message with this key. */
  next(key: string): Promise<JsonObject> {
    return this.messages.next(key)
  }

  /** Sends a frame. */
  send(message: JsonObject | string | Uint8Array): void {
    this.#socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message))
  }

  /** Sends a text of the model. */
  say(text: string): void {
    this.send({ serverContent: { modelTurn: { role: 'model', parts: [{ text }] } } })
  }

  /** Sends audio of the model. */
  audio(bytes: Uint8Array, mimeType = 'audio/pcm;rate=24000'): void {
    const inlineData = { mimeType, data: encodeBase64(bytes) }
    this.send({ serverContent: { modelTurn: { role: 'model', parts: [{ inlineData }] } } })
  }

  /** Sends a piece of the user's transcript. */
  inputTranscript(text: string, finished?: boolean): void {
    this.send({ serverContent: { inputTranscription: { text, finished } } })
  }

  /** Sends a piece of the model's transcript. */
  outputTranscript(text: string, finished?: boolean): void {
    this.send({ serverContent: { outputTranscription: { text, finished } } })
  }

  /** Sends tool calls. */
  call(calls: readonly GeminiLiveCall[]): void {
    this.conversation.addCalls(calls)
    this.send({ toolCall: { functionCalls: calls } })
  }

  /** Cancels tool calls. */
  cancelCalls(ids: readonly string[]): void {
    this.send({ toolCallCancellation: { ids } })
  }

  /** Sends that the model has generated its whole reply. */
  generationComplete(): void {
    this.send({ serverContent: { generationComplete: true } })
  }

  /** Sends that the turn of the model is complete, and then a new handle. */
  turnComplete(usageMetadata?: JsonObject): void {
    this.send({ serverContent: { turnComplete: true }, usageMetadata })
    if (this.#context.sendHandles) this.newHandle()
  }

  /** Sends that the user interrupted the reply. */
  interrupted(): void {
    this.send({ serverContent: { interrupted: true } })
  }

  /** Sends that the server closes the connection soon. */
  goAway(timeLeft: string): void {
    this.send({ goAway: { timeLeft } })
  }

  /** Sends a new handle of the conversation and returns it. */
  newHandle(): string {
    const newHandle = this.#context.issueHandle(this.conversation)
    this.send({ sessionResumptionUpdate: { newHandle, resumable: true } })
    return newHandle
  }

  /** Stops reading from the socket. */
  stopReading(): void {
    this.#socket.pause()
  }

  /** Reads from the socket again. */
  resumeReading(): void {
    this.#socket.resume()
  }

  /** Closes the connection. */
  close(code = 1000, reason = ''): void {
    this.#socket.close(code, reason)
  }

  /** Destroys the socket without a close frame. */
  drop(): void {
    this.#socket.terminate()
  }
}
