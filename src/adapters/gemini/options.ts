import type { GoogleGenAI, GoogleGenAIOptions } from '@google/genai'
import type { Ports } from '../../core/base/ports.ts'
import type { Model } from '../../engine/model/model.ts'

/** Options of `gemini()`. Missing credentials are read from environment variables. */
export interface GeminiOptions {
  /** API key. Default: the environment variable `GOOGLE_API_KEY`, otherwise `GEMINI_API_KEY`. */
  readonly apiKey?: string | undefined
  /** Whether to use Vertex AI instead of the Gemini API. Default: true if `project` or `GOOGLE_GENAI_USE_VERTEXAI` is set. */
  readonly vertexai?: boolean | undefined
  /** Google Cloud project for Vertex AI. Default: the environment variable `GOOGLE_CLOUD_PROJECT`. */
  readonly project?: string | undefined
  /** Google Cloud location for Vertex AI. Default: the environment variable `GOOGLE_CLOUD_LOCATION`, otherwise `global`. */
  readonly location?: string | undefined
  /** Credentials for Vertex AI. Default: Google's application default credentials. */
  readonly googleAuthOptions?: GoogleGenAIOptions['googleAuthOptions'] | undefined
  /** URL of a proxy, a gateway or a test server. Default: the URL of Google's service. */
  readonly baseUrl?: string | undefined
  /** API version, for example `v1`. Default: that of `@google/genai`. */
  readonly apiVersion?: string | undefined
  /** HTTP headers of every request. Default: none. */
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Time limit of one attempt in milliseconds, until the whole reply is read. Default: no limit. */
  readonly timeoutMs?: number | undefined
  /** The fetch function for requests. Default: the fetch of the client, otherwise the global one. */
  readonly fetch?: typeof fetch | undefined
  /** A client to use. Replaces all options above except `fetch` and `timeoutMs`. Default: a new client. */
  readonly client?: GoogleGenAI | undefined
  /** When and how often a failed request is sent again. Default: 3 attempts. */
  readonly retry?: GeminiRetry | undefined
  /** What the model supports. Default: derived from its name. Set it for tuned models and endpoints. */
  readonly capabilities?: Model['capabilities'] | undefined
  /** Clock, timer and random numbers, for tests. Default: those of the system. */
  readonly ports?: Partial<Ports> | undefined
}

/** Retries after status 408, 429 and 5xx, lost connections and unusable replies. Never after the first output. */
export interface GeminiRetry {
  /** Number of attempts, the first one included. 1 disables retries. Default 3. */
  readonly attempts?: number | undefined
  /** Maximum delay before the second attempt in milliseconds. It doubles with each further attempt. Default 500. */
  readonly delayMs?: number | undefined
  /** Upper limit of the delay in milliseconds, at most 60,000. Default 8,000. */
  readonly maxDelayMs?: number | undefined
}

/** The options that say where the service is and how to get access to it. */
export type GeminiAccessOptions = Pick<
  GeminiOptions,
  'apiKey' | 'vertexai' | 'project' | 'location' | 'googleAuthOptions' | 'baseUrl' | 'apiVersion' | 'headers' | 'client'
>
