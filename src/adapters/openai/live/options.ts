import type { JsonObject } from '../../../core/base/json.ts'
import type { Ports } from '../../../core/base/ports.ts'
import type { LiveModel } from '../../../engine/model/live-model.ts'

/** Options of `openaiRealtime()`. */
export interface OpenAiRealtimeOptions {
  /** API key. Default: the environment variable `OPENAI_API_KEY`. Not needed if `headers` has `authorization` or `api-key`. */
  readonly apiKey?: string | undefined
  /** URL of a proxy, a gateway or a test server. Default: `wss://api.openai.com/v1/realtime`. */
  readonly baseUrl?: string | undefined
  /** HTTP headers of the WebSocket handshake. Default: none. */
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Time limit of a connection attempt in milliseconds, until the session is ready. Default 15,000. */
  readonly connectTimeoutMs?: number | undefined
  /** Settings of the session: voice, turn detection, audio formats, ... Sent with `session.update`. Default: OpenAI's, with input transcription on. */
  readonly config?: OpenAiRealtimeConfig | undefined
  /** The WebSocket class, for runtimes whose own takes no headers. Default: the global one. */
  readonly webSocket?: WebSocketConstructor | undefined
  /**
   * Asks for the HTTP status of a refused handshake, which a WebSocket does not report. Default: the global `fetch`; none if
   * `webSocket` is set.
   */
  readonly fetch?: typeof fetch | undefined
  /** What the model supports. Default: `updates` only. */
  readonly capabilities?: LiveModel['capabilities'] | undefined
  /** Clock, timer and ids, for tests. Default: those of the system. */
  readonly ports?: Partial<Ports> | undefined
}

/** Settings of an OpenAI Realtime session, with the names of the API. Other members are sent unchanged. */
export interface OpenAiRealtimeConfig {
  /** `['audio']` or `['text']`. Default: audio, with a transcript. */
  readonly output_modalities?: readonly ('audio' | 'text')[] | undefined
  /** Audio formats, transcription, turn detection and voice. */
  readonly audio?: {
    /** Audio of the user. `turn_detection: null` turns turn detection off: then send `activity`. `transcription: null` turns transcripts off. */
    readonly input?: {
      readonly format?: JsonObject
      readonly transcription?: JsonObject | null
      readonly noise_reduction?: JsonObject | null
      readonly turn_detection?: JsonObject | null
    }
    /** Audio of the model. */
    readonly output?: { readonly format?: JsonObject; readonly voice?: string | JsonObject; readonly speed?: number }
  }
  /** Other settings, such as `max_output_tokens`, `tool_choice`, `reasoning`, `truncation`. */
  readonly [setting: string]: unknown
}

/** A WebSocket class that accepts headers, such as that of Node, Bun, Deno or the package `ws`. */
export type WebSocketConstructor = new (
  url: string,
  options: { readonly headers: { readonly [name: string]: string } },
) => OpenAiWebSocket

/** The members of a WebSocket that the transport uses. */
export interface OpenAiWebSocket {
  /** 1 while the socket is open. */
  readonly readyState: number
  /** Bytes that are not sent yet. */
  readonly bufferedAmount: number
  /** Sends a text frame. */
  send(data: string): void
  /** Closes the socket. */
  close(code?: number, reason?: string): void
  /** Adds a listener. */
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: unknown) => void): void
}
