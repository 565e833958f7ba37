// Types of scriptedLive(): its script, its options and its connections.
import type { JsonObject } from '../../core/base/json.ts'
import type {
  LiveClientMessage,
  LiveConnection,
  LiveConnectionError,
  LiveConnectOptions,
  LiveModel,
  LiveServerMessage,
} from '../../engine/model/live-model.ts'

/** What a step answers: a user input that ends a turn, or the last responses to the calls of the step before. */
export type ScriptedLiveInput = Extract<LiveClientMessage, { type: 'text' | 'content' | 'activity' | 'toolResponses' }>

/** The next reply of the model: a text, a reply, or a function that returns either for an input. */
export type ScriptedLiveStep =
  | string
  | ScriptedLiveReply
  | ((
      input: ScriptedLiveInput,
      connection: ScriptedLiveConnection,
    ) => ScriptedLiveStep | undefined | Promise<ScriptedLiveStep | undefined>)

/** The steps in order, or one function for all inputs. A function that returns undefined does not reply. */
export type ScriptedLiveScript = readonly ScriptedLiveStep[] | Extract<ScriptedLiveStep, (...args: never) => unknown>

/** A reply of a scripted live model. `turnComplete` follows, unless the reply has `calls` or `drop`. */
export interface ScriptedLiveReply {
  /** The transcript of what the user said. */
  readonly heard?: string | undefined
  /** Text of the reply. */
  readonly text?: string | undefined
  /** Audio of the reply. Bytes alone are `audio/pcm;rate=24000`. */
  readonly audio?: Uint8Array | { readonly data: Uint8Array; readonly mimeType: string } | undefined
  /** The transcript of the audio. */
  readonly transcript?: string | undefined
  /** Other messages, after text and audio. A `turnComplete` in them replaces the one of the script. */
  readonly messages?: readonly LiveServerMessage[] | undefined
  /** Tool calls. The next step answers their responses and continues the turn. */
  readonly calls?:
    | readonly { readonly name: string; readonly args?: JsonObject | undefined; readonly id?: string | undefined }[]
    | undefined
  /** Announces that the connection ends in this many milliseconds. It does not end by itself. */
  readonly goAway?: number | undefined
  /** Loses the connection after the reply. */
  readonly drop?: boolean | LiveConnectionError | undefined
  /** Delay before the reply in milliseconds. Default: none. */
  readonly delayMs?: number | undefined
}

/** Options of `scriptedLive()`. */
export interface ScriptedLiveOptions {
  /** The name of the model. Default `scripted-live`. */
  readonly name?: string | undefined
  /** What the model supports. Members that are not set are true. */
  readonly capabilities?: LiveModel['capabilities'] | undefined
  /** How many attempts to connect fail before one succeeds. Default: none; all if `connectError` is set. */
  readonly failConnects?: number | undefined
  /** Why an attempt fails. Default: an error after which a new connection may help. */
  readonly connectError?: LiveConnectionError | undefined
}

/** A live model that replies from a script. */
export interface ScriptedLive extends LiveModel {
  /** All connections so far. */
  readonly connections: readonly ScriptedLiveConnection[]
  /** The options of all attempts to connect, failed ones included. */
  readonly requests: readonly LiveConnectOptions[]
  /** The next connection that this method has not returned yet. */
  nextConnection(): Promise<ScriptedLiveConnection>
  /**
   * What the live session sent that a provider ignores: a second response to a call that the model waits for. The connection ends with
   * an error then, so that every test notices it.
   */
  readonly problems: readonly string[]
  /** Throws when the script has unused steps, had no step for an input, or when there are `problems`. */
  assertComplete(): void
}

/** A connection to a scripted live model, with the side of the model for tests. */
export interface ScriptedLiveConnection extends LiveConnection {
  /** What the live session connected with. */
  readonly options: LiveConnectOptions
  /** All messages of the live session so far. */
  readonly sent: readonly LiveClientMessage[]
  /** Has the connection ended? */
  readonly isClosed: boolean
  /** The next message of this type that this method has not returned yet. Rejects when the connection ends before. */
  next<T extends LiveClientMessage['type']>(type: T): Promise<Extract<LiveClientMessage, { type: T }>>
  /** Sends messages of the model. Ignored after the end. */
  emit(...messages: readonly LiveServerMessage[]): void
  /** Loses the connection. Default: with an error after which the conversation can be resumed, if the model supports it. */
  lose(error?: LiveConnectionError): void
}
