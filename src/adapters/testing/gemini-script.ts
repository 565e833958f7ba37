// Types of geminiServer(): its script, its options and the requests it received.
import type { JsonObject } from '../../core/base/json.ts'
import type { Part } from '../../core/content/content.ts'

/** The next response of the server: a text, a reply, or a function that returns either for a request. */
export type GeminiStep = string | GeminiReply | ((request: GeminiRequest) => GeminiStep | Promise<GeminiStep>)

/** The responses in order, or one function for all requests. */
export type GeminiScript = readonly GeminiStep[] | ((request: GeminiRequest) => GeminiStep | Promise<GeminiStep>)

/** A response of the server. */
export interface GeminiReply {
  /** Text of the reply. */
  readonly text?: string | undefined
  /** Function calls of the reply. */
  readonly calls?:
    | readonly {
        readonly name: string
        readonly args?: JsonObject | undefined
        readonly id?: string | undefined
        readonly thoughtSignature?: string | undefined
      }[]
    | undefined
  /** Other parts, before text and calls. */
  readonly parts?: readonly Part[] | undefined
  /** The chunks of the stream, instead of `text`, `calls` and `parts`: a text, parts, or a complete chunk sent unchanged. */
  readonly chunks?: readonly (string | readonly Part[] | JsonObject)[] | undefined
  /** Default: `STOP`. */
  readonly finishReason?: string | undefined
  /** Other members of the candidate, e.g. `groundingMetadata`, `safetyRatings`. */
  readonly candidate?: JsonObject | undefined
  /** Other members of the last chunk, e.g. `usageMetadata`, `promptFeedback`. */
  readonly response?: JsonObject | undefined
  /** A fault to simulate. Default: none. */
  readonly fault?: GeminiFault | undefined
  /** Sends the body in pieces of this many bytes. Small pieces split lines and characters. Default: unsplit. */
  readonly dripBytes?: number | undefined
}

/** A fault of the server or the connection. `after` is the number of chunks sent before the fault; default 0. */
export type GeminiFault =
  /** An error status. `retryAfter` sets the header, `retryDelay` the `google.rpc.RetryInfo` of the body (`'1.5s'`). */
  | {
      readonly type: 'status'
      readonly status: number
      readonly message?: string | undefined
      readonly retryAfter?: string | number | undefined
      readonly retryDelay?: string | undefined
      readonly details?: readonly JsonObject[] | undefined
      /** An HTML body instead of the JSON error, as proxies send it. */
      readonly html?: string | undefined
    }
  /** An `{"error": ...}` chunk in the stream. */
  | { readonly type: 'error-event'; readonly status: number; readonly message?: string; readonly after?: number }
  /** A chunk with invalid JSON. */
  | { readonly type: 'malformed'; readonly after?: number }
  /** The connection breaks in the middle of a chunk. */
  | { readonly type: 'cut'; readonly after?: number }
  /** A complete stream without a finish reason. */
  | { readonly type: 'unfinished' }
  /** A complete stream without chunks. */
  | { readonly type: 'empty' }
  /** A chunk whose text continues until the client disconnects. */
  | { readonly type: 'endless'; readonly after?: number }
  /** No data until the client disconnects. */
  | { readonly type: 'hang'; readonly after?: number }

/** A request that the server received. */
export interface GeminiRequest {
  /** HTTP method. */
  readonly method: string
  /** Path of the URL. */
  readonly path: string
  /** Query parameters. */
  readonly query: { readonly [name: string]: string }
  /** HTTP headers, in lower case. */
  readonly headers: { readonly [name: string]: string }
  /** The JSON body. */
  readonly body: JsonObject
  /** The model in the path. */
  readonly model: string
  /** The client asked for a stream. */
  readonly isStream: boolean
  /** The path is a Vertex AI path. */
  readonly isVertex: boolean
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal
}

/** Rules that differ between models. The defaults depend on the version in the model name. */
export interface GeminiRules {
  /** Built-in tools can be combined with functions. Default: true for Gemini 3 and later. */
  readonly mixesTools: boolean
  /** A function call without its thought signature is rejected. Default: true for Gemini 3 and later. */
  readonly needsSignatures: boolean
}

/** Options of `geminiServer()`. */
export interface GeminiServerOptions {
  /** The known models; others are 404. Default: every model is known. */
  readonly models?: readonly string[] | undefined
  /** The valid API key; others are rejected. Default: every key is valid. */
  readonly apiKey?: string | undefined
  /** Overrides the rules of a model. */
  readonly rules?: ((model: string) => Partial<GeminiRules>) | undefined
}

/** A running local server. */
export interface GeminiServer extends AsyncDisposable {
  /** Pass it to `gemini()` as `baseUrl`. */
  readonly url: string
  /** All requests so far, rejected ones included. */
  readonly requests: readonly GeminiRequest[]
  /** Throws when the script has unused steps. */
  assertComplete(): void
  /** Closes all connections and stops the server. */
  close(): Promise<void>
}
