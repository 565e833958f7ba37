// Types of openaiRealtimeServer(): its options, and the connections that tests drive.
import type { JsonObject } from '../../core/base/json.ts'

/** Options of `openaiRealtimeServer()`. */
export interface OpenAiRealtimeServerOptions {
  /** The valid API key; others are refused with status 401. Default: every key is valid. */
  readonly apiKey?: string | undefined
  /** Whether the server answers the first `session.update`. Default `accept`. */
  readonly setup?: 'accept' | 'ignore' | undefined
  /** Called with each new connection, before its first event is read. */
  readonly onConnection?: ((connection: OpenAiRealtimeConnection) => void) | undefined
}

/** A running local server. */
export interface OpenAiRealtimeServer extends AsyncDisposable {
  /** Pass it to `openaiRealtime()` as `baseUrl`. */
  readonly url: string
  /** All connections so far. */
  readonly connections: readonly OpenAiRealtimeConnection[]
  /** What the API would have refused of the events that clients sent. */
  readonly problems: readonly string[]
  /** The next connection that this method has not returned yet. */
  nextConnection(): Promise<OpenAiRealtimeConnection>
  /** Drops all connections and stops the server. */
  close(): Promise<void>
}

/** A connection of a client to the local server. */
export interface OpenAiRealtimeConnection {
  /** Headers of the handshake, in lower case. */
  readonly headers: { readonly [name: string]: string }
  /** Query parameters of the handshake, such as `model`. */
  readonly query: { readonly [name: string]: string }
  /** All events of the client so far. */
  readonly received: readonly JsonObject[]
  /** The settings of the session. */
  readonly session: JsonObject
  /** The items of the conversation. */
  readonly items: readonly JsonObject[]
  /** Settles with the close code when the connection has ended. */
  readonly closed: Promise<number>
  /** The next event of this type that this method has not returned yet. Rejects when the connection ends before. */
  next(type: string): Promise<JsonObject>
  /** Sends an event, or a frame that is sent as it is: malformed text or bytes. */
  send(event: JsonObject | string | Uint8Array): void
  /** Replies with text. Starts a response if none is active. */
  say(...deltas: readonly string[]): void
  /** Replies with audio and its transcript. Starts a response if none is active. */
  speak(audio: Uint8Array, ...transcript: readonly string[]): void
  /** Calls a function. Returns the id of the call. Starts a response if none is active. */
  call(name: string, options?: RealtimeCallOptions): string
  /** Finishes the active response. */
  finish(options?: RealtimeFinishOptions): void
  /** Sends a transcript of the user's audio. */
  hear(...transcript: readonly string[]): void
  /** Detects that the user starts speaking. Cancels the active response, unless the session forbids it. */
  startSpeech(): void
  /** Detects that the user stops speaking. Starts a response, unless the session forbids it. */
  stopSpeech(): void
  /** Reports an error. */
  fail(error: { readonly message: string; readonly code?: string; readonly type?: string }): void
  /** Closes the connection. */
  close(code?: number, reason?: string): void
  /** Breaks the connection without closing it. */
  drop(): void
}

/** A function call of the local server. */
export interface RealtimeCallOptions {
  /** The arguments. Text is sent as it is. Default: none. */
  readonly args?: JsonObject | string | undefined
  /** The id of the call. Default: a new one. */
  readonly id?: string | undefined
  /** `incomplete` if the response was cut off inside of the call. Default `completed`. */
  readonly status?: 'completed' | 'incomplete' | undefined
}

/** How a response of the local server ends. */
export interface RealtimeFinishOptions {
  /** Default `completed`. */
  readonly status?: 'completed' | 'cancelled' | 'failed' | 'incomplete' | undefined
  /** Why it did not complete, such as `turn_detected` or `max_output_tokens`. */
  readonly reason?: string | undefined
  /** Why it failed. */
  readonly error?: { readonly message: string; readonly code?: string; readonly type?: string } | undefined
  /** Token counts. Default: those of a short reply. */
  readonly usage?: JsonObject | undefined
}
