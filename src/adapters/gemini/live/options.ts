import type { LiveConnectConfig, Modality } from '@google/genai'
import type { Ports } from '../../../core/base/ports.ts'
import type { LiveModel } from '../../../engine/model/live-model.ts'
import type { GeminiAccessOptions } from '../options.ts'

/** Settings of the session that `geminiLive()` sets itself. */
type OwnSetting =
  | 'httpOptions'
  | 'abortSignal'
  | 'systemInstruction'
  | 'tools'
  | 'sessionResumption'
  | 'responseModalities'

/** Settings of a live session, with the names of `@google/genai`: `speechConfig`, `temperature`, `realtimeInputConfig`, ... */
export type GeminiLiveConfig = {
  readonly [K in Exclude<keyof LiveConnectConfig, OwnSetting>]?: LiveConnectConfig[K] | undefined
} & {
  /** What the model replies with. Default: `['AUDIO']`. */
  readonly responseModalities?: readonly `${Modality}`[] | undefined
}

/** Options of `geminiLive()`. Missing credentials are read from environment variables. */
export interface GeminiLiveOptions extends GeminiAccessOptions {
  /** An access token for Vertex AI, or a function that returns one for each connection. Replaces `googleAuthOptions`. */
  readonly accessToken?: string | (() => string | Promise<string>) | undefined
  /** Time limit until the service accepts a connection, in milliseconds. Default 15,000. */
  readonly connectTimeoutMs?: number | undefined
  /**
   * Settings of the session. Default: audio replies with transcripts of both sides. Set `inputAudioTranscription` or
   * `outputAudioTranscription` to undefined to turn it off.
   */
  readonly config?: GeminiLiveConfig | undefined
  /** What the model supports. Replaces single members. Default: derived from the name of the model. */
  readonly capabilities?: LiveModel['capabilities'] | undefined
  /** Timer and ids, for tests. Default: those of the system. */
  readonly ports?: Partial<Ports> | undefined
}
