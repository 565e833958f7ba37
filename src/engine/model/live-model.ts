// The interface of live models: a connection that takes audio, video and text, and that sends audio, text and tool calls.
import type { JsonObject } from '../../core/base/json.ts'
import type { Content, FunctionResponse, Part } from '../../core/content/content.ts'
import type { LiveInput } from './live-input.ts'
import type { ConfigTool } from './llm-request-config.ts'
import type { Model } from './model.ts'

export type { LiveInput }

/** A message to a live model. */
export type LiveClientMessage =
  | Exclude<LiveInput, { type: 'lagged' }>
  /** Whole messages of the conversation. With `turnComplete` the model replies; with `interrupts` it stops what it says for them. */
  | {
      readonly type: 'content'
      readonly contents: readonly Content[]
      readonly turnComplete: boolean
      readonly interrupts?: boolean
    }
  /** Responses to tool calls. */
  | { readonly type: 'toolResponses'; readonly responses: readonly FunctionResponse[] }
  /** Another instruction or other tools from now on. Sent only to models with `capabilities.updates`. */
  | { readonly type: 'update'; readonly instruction?: string; readonly tools?: readonly ConfigTool[] }

/** A tool call of a live model. Nothing of it is checked yet. */
export interface LiveToolCall {
  /** The id of the call at the provider. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The arguments. */
  readonly args: JsonObject
}

/** A message of a live model. One message of the provider may become several of these, in order. */
export type LiveServerMessage =
  | { readonly type: 'audio'; readonly data: Uint8Array; readonly mimeType: string }
  | { readonly type: 'text'; readonly text: string; readonly thought?: boolean }
  /** Another part of the reply, such as the code of a server-side tool. */
  | { readonly type: 'part'; readonly part: Part }
  /** The words of the user. A delta: `text` is added to the transcript of the turn. */
  | { readonly type: 'inputTranscript'; readonly text: string; readonly finished?: boolean }
  /** The words that the model speaks. A delta. */
  | { readonly type: 'outputTranscript'; readonly text: string; readonly finished?: boolean }
  | { readonly type: 'toolCall'; readonly calls: readonly LiveToolCall[] }
  /** The model no longer waits for these calls. */
  | { readonly type: 'toolCancelled'; readonly ids: readonly string[] }
  /** The model has generated its whole reply. Playback may still continue. */
  | { readonly type: 'generationComplete' }
  | { readonly type: 'turnComplete' }
  /** The user interrupted the reply. */
  | { readonly type: 'interrupted' }
  | { readonly type: 'usage'; readonly usageMetadata: JsonObject }
  | { readonly type: 'grounding'; readonly groundingMetadata: JsonObject }
  /** The handle that resumes the conversation on a new connection. Undefined while it cannot be resumed. */
  | { readonly type: 'resumption'; readonly handle: string | undefined }
  /** The provider closes the connection soon. */
  | { readonly type: 'goAway'; readonly timeLeftMs: number }
  /** The provider heard the user start or stop speaking. */
  | { readonly type: 'activity'; readonly state: 'start' | 'end' }
  /** The provider reports an error and the connection stays open. */
  | { readonly type: 'error'; readonly message: string; readonly code?: string }

/**
 * Why a connection could not be made, or ended. `recover` says what may help: `resume` with the latest handle, a `fresh`
 * connection without a handle, or `nothing`, for example after a wrong key.
 */
export class LiveConnectionError extends Error {
  /** The close code of the WebSocket, or the HTTP status, if there is one. */
  readonly code: number | undefined
  /** What may help. */
  readonly recover: 'resume' | 'fresh' | 'nothing'

  constructor(
    message: string,
    options: { code?: number | undefined; recover: 'resume' | 'fresh' | 'nothing'; cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'LiveConnectionError'
    this.code = options.code
    this.recover = options.recover
  }
}

/** A connection to a live model. Iterated once. The iteration ends when `close()` was called, and throws a `LiveConnectionError` when the connection is lost. */
export interface LiveConnection extends AsyncIterable<LiveServerMessage> {
  /** Sends a message. Returns a promise while the connection is behind. Throws if the connection is closed. */
  send(message: LiveClientMessage): Promise<void> | undefined
  /** Stops reading from the network, where the transport can. Messages that have arrived are still delivered. */
  pause?(): void
  /** Reads from the network again. */
  resume?(): void
  /**
   * Asks the other side for a sign of life. Resolves when it has answered. A session that gets no sign for 30 seconds connects again.
   * Leave it out if the transport cannot ask.
   */
  ping?(): Promise<void> | undefined
  /** Closes the connection. Never throws. */
  close(): void
}

/** What a live session connects with. */
export interface LiveConnectOptions {
  /** The system instruction. */
  readonly instruction: string | undefined
  /** Function declarations and server tools. */
  readonly tools: readonly ConfigTool[]
  /** The newest handle of the conversation to resume. Undefined for a new one. */
  readonly resumeHandle?: string | undefined
  /** What the model replies with. Default: as the model is set up. */
  readonly responseModality?: 'audio' | 'text' | undefined
  /** Ends the attempt to connect. */
  readonly signal: AbortSignal
}

/** A live model: `geminiLive()`, `openaiRealtime()`, a script for tests, or any object with these members. */
export interface LiveModel {
  /** The name of the model. */
  readonly name: string
  /** What the model supports. Default: none of these. */
  readonly capabilities?: NonNullable<Model['capabilities']> & {
    /** Tools may be declared `NON_BLOCKING`, and responses may have `willContinue` and `scheduling`. */
    readonly nonBlocking?: boolean
    /** Instruction and tools may change while the session is live. */
    readonly updates?: boolean
    /** A lost conversation can be resumed with a handle. */
    readonly resumption?: boolean
  }
  /**
   * Connects. Resolves when the provider is ready. Rejects with a `LiveConnectionError`, also when the provider refuses the
   * setup or does not answer in time.
   */
  connect(options: LiveConnectOptions): Promise<LiveConnection>
}
