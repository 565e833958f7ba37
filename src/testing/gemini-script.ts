// What the local Gemini server is told to say, and what it heard.
import type { JsonObject } from '../base/json.ts'
import type { Part } from '../content/content.ts'

/** What the server answers next: a text, a reply, or a function of the request that gives either. */
export type GeminiStep = string | GeminiReply | ((request: GeminiRequest) => GeminiStep | Promise<GeminiStep>)

/** The steps in order, or one function that answers every request. */
export type GeminiScript = readonly GeminiStep[] | ((request: GeminiRequest) => GeminiStep | Promise<GeminiStep>)

export interface GeminiReply {
  readonly text?: string | undefined
  readonly calls?:
    | readonly {
        readonly name: string
        readonly args?: JsonObject | undefined
        readonly id?: string | undefined
        readonly thoughtSignature?: string | undefined
      }[]
    | undefined
  /** Anything else a model can say, before text and calls. */
  readonly parts?: readonly Part[] | undefined
  /** The stream in pieces, instead of the three above: a text, parts, or a whole chunk exactly as it is sent. */
  readonly chunks?: readonly (string | readonly Part[] | JsonObject)[] | undefined
  /** Default `STOP`. */
  readonly finishReason?: string | undefined
  /** Whatever else the candidate holds: groundingMetadata, safetyRatings, ... */
  readonly candidate?: JsonObject | undefined
  /** Whatever else the last chunk holds: usageMetadata, promptFeedback, ... */
  readonly response?: JsonObject | undefined
  /** What goes wrong. */
  readonly fault?: GeminiFault | undefined
  /** Bytes per piece of the body: few of them cut lines, and characters, in two. */
  readonly dripBytes?: number | undefined
}

/** What can go wrong on the way. `after` counts the chunks that arrive before it; default none. */
export type GeminiFault =
  /** Refused: `retryAfter` is the header, `retryDelay` the `google.rpc.RetryInfo` of the body (`'1.5s'`). */
  | {
      readonly type: 'status'
      readonly status: number
      readonly message?: string | undefined
      readonly retryAfter?: string | number | undefined
      readonly retryDelay?: string | undefined
      readonly details?: readonly JsonObject[] | undefined
      /** Sent instead of the JSON error, as proxies do. */
      readonly html?: string | undefined
    }
  /** An `{"error": ...}` among the chunks. */
  | { readonly type: 'error-event'; readonly status: number; readonly message?: string; readonly after?: number }
  /** A chunk that is no JSON. */
  | { readonly type: 'malformed'; readonly after?: number }
  /** The connection breaks in the middle of a chunk. */
  | { readonly type: 'cut'; readonly after?: number }
  /** It ends politely, but no chunk has a finish reason. */
  | { readonly type: 'unfinished' }
  /** It ends politely before it began. */
  | { readonly type: 'empty' }
  /** A chunk whose text goes on until the client goes away. */
  | { readonly type: 'endless'; readonly after?: number }
  /** Nothing more comes until the client goes away. */
  | { readonly type: 'hang'; readonly after?: number }

/** A request as it came over the wire. */
export interface GeminiRequest {
  readonly method: string
  readonly path: string
  readonly query: { readonly [name: string]: string }
  readonly headers: { readonly [name: string]: string }
  readonly body: JsonObject
  readonly model: string
  readonly isStream: boolean
  readonly isVertex: boolean
  /** Aborted when the client goes away before the answer is complete. */
  readonly signal: AbortSignal
}

/** What differs between models; the defaults go by the number in a model's name. */
export interface GeminiRules {
  /** Built-in tools may stand beside functions. Default: from Gemini 3 on. */
  readonly mixesTools: boolean
  /** A function call without its thought signature is refused. Default: from Gemini 3 on. */
  readonly needsSignatures: boolean
}

export interface GeminiServerOptions {
  /** Other models are not found. Default: any model is. */
  readonly models?: readonly string[] | undefined
  /** Any other key is refused. Default: any key is good. */
  readonly apiKey?: string | undefined
  readonly rules?: ((model: string) => Partial<GeminiRules>) | undefined
}

export interface GeminiServer extends AsyncDisposable {
  /** For `baseUrl`. */
  readonly url: string
  /** Every request so far, refused ones too. */
  readonly requests: readonly GeminiRequest[]
  /** Throws when steps are left over. */
  assertComplete(): void
  /** Breaks what is open and stops listening. */
  close(): Promise<void>
}
