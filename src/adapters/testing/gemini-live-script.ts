// Types of geminiLiveServer(): its options, its connections and the conversations it had.
import type { JsonObject } from '../../core/base/json.ts'

/** A tool call of the server. A call without `id` or `args` shows how a client handles it. */
export interface GeminiLiveCall {
  /** The id of the call. */
  readonly id?: string | undefined
  /** The name of the tool. */
  readonly name: string
  /** The arguments. */
  readonly args?: JsonObject | undefined
}

/** A call of a conversation and the responses that clients sent. */
export interface GeminiLiveCallRecord {
  /** The call. */
  readonly call: GeminiLiveCall
  /** The responses in order. More than one if the client sends progress. */
  readonly responses: readonly JsonObject[]
  /** The model takes one response: the tool was declared, and not as `NON_BLOCKING`, when the model called it. */
  readonly isBlocking: boolean
}

/** A conversation. A connection that resumes with a handle continues the conversation of the handle. */
export interface GeminiLiveConversation {
  /** The id of the conversation. */
  readonly id: string
  /** The texts of the user, in order. */
  readonly turns: readonly string[]
  /** The calls that have an id, by id. */
  readonly calls: ReadonlyMap<string, GeminiLiveCallRecord>
  /** The number of audio bytes that the client sent. */
  readonly audioBytesIn: number
}

/** A connection of a client to the server. */
export interface GeminiLiveConnection {
  /** The setup of the client: the value of its first message. Undefined until it arrives. */
  readonly setup: JsonObject | undefined
  /** The path of the URL. */
  readonly path: string
  /** HTTP headers of the handshake, in lower case. */
  readonly headers: { readonly [name: string]: string }
  /** The path is a Vertex AI path. */
  readonly isVertex: boolean
  /** The handle that the client resumed with. */
  readonly handle: string | undefined
  /** The conversation that the connection belongs to. */
  readonly conversation: GeminiLiveConversation
  /** The latest 1,000 client messages in order. Media is replaced by `{ mimeType, bytes }`, the number of bytes. */
  readonly received: readonly JsonObject[]
  /** Whether the connection is open. */
  readonly isOpen: boolean
  /** The next client message with this key that `next()` has not returned yet. Rejects when the connection closes. */
  next(key: string): Promise<JsonObject>
  /** Sends an object as a JSON text frame, a string as a text frame, and bytes as a binary frame. */
  send(message: JsonObject | string | Uint8Array): void
  /** Sends a text of the model. */
  say(text: string): void
  /** Sends audio of the model. Default `mimeType`: 16-bit PCM with 24 kHz. */
  audio(bytes: Uint8Array, mimeType?: string): void
  /** Sends a piece of the user's transcript. */
  inputTranscript(text: string, finished?: boolean): void
  /** Sends a piece of the model's transcript. */
  outputTranscript(text: string, finished?: boolean): void
  /** Sends tool calls. */
  call(calls: readonly GeminiLiveCall[]): void
  /** Cancels tool calls. */
  cancelCalls(ids: readonly string[]): void
  /** Sends that the model has generated its whole reply. */
  generationComplete(): void
  /** Sends that the turn of the model is complete. */
  turnComplete(usageMetadata?: JsonObject): void
  /** Sends that the user interrupted the reply. */
  interrupted(): void
  /** Sends that the server closes the connection after this duration, such as `9.5s`. */
  goAway(timeLeft: string): void
  /** Sends a new handle of the conversation and returns it. */
  newHandle(): string
  /** Stops reading from the socket, so that the buffers of the client fill. */
  stopReading(): void
  /** Reads from the socket again. */
  resumeReading(): void
  /** Closes the connection. Default code: 1000. */
  close(code?: number, reason?: string): void
  /** Destroys the socket without a close frame. The client sees the code 1006. */
  drop(): void
}

/** Options of `geminiLiveServer()`. */
export interface GeminiLiveServerOptions {
  /** Called when the setup of a client has arrived and, with `acceptSetup`, is answered. */
  readonly onConnection?: ((connection: GeminiLiveConnection) => void | Promise<void>) | undefined
  /** Called for every later message of a client. */
  readonly onMessage?: ((message: JsonObject, connection: GeminiLiveConnection) => void | Promise<void>) | undefined
  /** The valid API key, also as access token of Vertex AI; others are refused. Default: every key is valid. */
  readonly apiKey?: string | undefined
  /** Handles that are refused with the code 1007. Read at each setup, so that a test can add handles later. Default: none. */
  readonly rejectHandles?: readonly string[] | undefined
  /** Answers the setup of each client with `setupComplete`. Default true. */
  readonly acceptSetup?: boolean | undefined
  /** Sends a new handle after the setup and after each `turnComplete()`. Default true. */
  readonly sendHandles?: boolean | undefined
}

/** A running local server. */
export interface GeminiLiveServer extends AsyncDisposable {
  /** Pass it to `geminiLive()` as `baseUrl`. */
  readonly url: string
  /** All connections so far, in order. */
  readonly connections: readonly GeminiLiveConnection[]
  /** What the clients sent that a strict server refuses, as sentences. */
  readonly problems: readonly string[]
  /** All conversations so far, in order. */
  readonly conversations: readonly GeminiLiveConversation[]
  /** The next connection that was not returned yet, as soon as its setup has arrived and is answered. */
  nextConnection(): Promise<GeminiLiveConnection>
  /** Destroys all connections and stops the server. */
  close(): Promise<void>
}
