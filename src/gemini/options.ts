import type { GoogleGenAI, GoogleGenAIOptions } from '@google/genai'
import type { Ports } from '../base/ports.ts'
import type { Model } from '../tool/model.ts'

/** How Gemini is reached. What is left out comes from the environment. */
export interface GeminiOptions {
  /** Default: `GOOGLE_API_KEY`, else `GEMINI_API_KEY`. */
  readonly apiKey?: string | undefined
  /** Vertex AI instead of the Gemini API. Default: when there is a `project`, or `GOOGLE_GENAI_USE_VERTEXAI` is true. */
  readonly vertexai?: boolean | undefined
  /** Of Google Cloud. Default: `GOOGLE_CLOUD_PROJECT`. */
  readonly project?: string | undefined
  /** Default: `GOOGLE_CLOUD_LOCATION`, else `global`. */
  readonly location?: string | undefined
  /** How Vertex AI is signed in to. Default: Google's application default credentials. */
  readonly googleAuthOptions?: GoogleGenAIOptions['googleAuthOptions'] | undefined
  /** Another address: a proxy, a gateway, a test server. */
  readonly baseUrl?: string | undefined
  readonly apiVersion?: string | undefined
  /** Sent with every request. */
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Of one attempt, the whole stream included. Default: none. */
  readonly timeoutMs?: number | undefined
  readonly fetch?: typeof fetch | undefined
  /** A client of yours, instead of everything above but `fetch` and `timeoutMs`. */
  readonly client?: GoogleGenAI | undefined
  readonly retry?: GeminiRetry | undefined
  /** What the model can do, where its name does not tell: a tuned model, an endpoint. */
  readonly capabilities?: Model['capabilities'] | undefined
  /** Time and chance, for tests. */
  readonly ports?: Partial<Ports> | undefined
}

/** When a request is made again: after 408, 429, 5xx and lost connections, and only before anything was said. */
export interface GeminiRetry {
  /** The first one included. Default 3; 1 = never again. */
  readonly attempts?: number | undefined
  /** The longest pause before the second attempt; each further one is up to twice as long. Default 500. */
  readonly delayMs?: number | undefined
  /** Default 8,000. */
  readonly maxDelayMs?: number | undefined
}
