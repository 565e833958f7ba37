// The parts of the AI SDK's model specification (versions 2 to 4) that Toolwright uses, as types of our own. Nothing is
// imported, so the types work with and without `@ai-sdk/provider`. The specification grows in patch releases: unknown
// parts of a reply are ignored.
import type { JsonObject } from '../../core/base/json.ts'

/**
 * A model of an AI SDK provider, for example `openai('gpt-5')` or `anthropic('claude-sonnet-4-5')`. Its
 * `specificationVersion` must be `v2`, `v3` or `v4`.
 */
export interface AiSdkModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string
  /** For example `openai.responses` or `anthropic.messages`. */
  readonly provider: string
  /** For example `gpt-5`. */
  readonly modelId: string
  /** URLs the model can read itself, as patterns by media type. */
  readonly supportedUrls?: PromiseLike<SupportedUrls> | SupportedUrls
  /** Generates a whole reply. The parameter is `CallOptions`, whose details depend on the version. */
  doGenerate(options: never): PromiseLike<AiSdkResult>
  /** Streams a reply. The parameter is `CallOptions`, whose details depend on the version. */
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<AiSdkPart> }>
}

/** URL patterns by media type. */
export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>

/** A part of a reply or a stream. The other fields depend on `type`. */
export interface AiSdkPart {
  /** For example `text`, `tool-call` or `text-delta`. */
  readonly type: string
}

/** The options of `doGenerate` and `doStream`. */
export interface CallOptions {
  /** The conversation, system instruction included. */
  prompt: PromptMessage[]
  /** Function tools and provider tools. */
  tools?: object[]
  /** Which tools the model may or must call. */
  toolChoice?: object
  /** Text, or JSON with an optional schema. */
  responseFormat?: object
  /** Maximum number of generated tokens. */
  maxOutputTokens?: number
  /** Sampling temperature. */
  temperature?: number
  /** Nucleus sampling. */
  topP?: number
  /** Top-k sampling. */
  topK?: number
  /** Penalty for tokens that already occurred. */
  presencePenalty?: number
  /** Penalty for tokens that occurred often. */
  frequencyPenalty?: number
  /** Texts that end the reply. */
  stopSequences?: string[]
  /** Seed of the sampling. */
  seed?: number
  /** Reasoning effort (version 4). */
  reasoning?: string
  /** HTTP headers of the request. */
  headers?: Record<string, string>
  /** Options for the provider, by provider name. */
  providerOptions?: ProviderOptions
  /** Aborts the request. */
  abortSignal?: AbortSignal
}

/** The result of `doGenerate`. */
export interface AiSdkResult {
  /** The parts of the reply. */
  readonly content: readonly AiSdkPart[]
  /** A string (version 2) or `{ unified, raw }`. */
  readonly finishReason: unknown
  /** Token counts: flat (version 2) or nested. */
  readonly usage: unknown
  /** What the provider ignored or could not support. */
  readonly warnings?: unknown
  /** Metadata of the whole reply, by provider name. */
  readonly providerMetadata?: unknown
  /** Ids of the response. */
  readonly response?: { readonly id?: string | undefined; readonly modelId?: string | undefined }
}

/** Options or metadata by provider name. A provider needs the metadata of a part back on the same part. */
export type ProviderOptions = Record<string, JsonObject>

/** The data of a file: objects in version 4, the other types in older versions. */
export type FileData =
  | string
  | URL
  | Uint8Array
  | { type: 'data'; data: string }
  | { type: 'url'; url: URL; originalUrl: string }

/** A part of a user message. */
export type UserPart = TextPart | FilePart

/** A text or a thought in a prompt. */
interface TextPart {
  /** The type of the part. */
  type: 'text' | 'reasoning'
  /** The text. */
  text: string
  /** Metadata that the provider attached to the part. */
  providerOptions?: ProviderOptions
}

/** A file in a prompt. */
export interface FilePart {
  /** The type of the part. */
  type: 'file' | 'reasoning-file'
  /** The bytes or the URL. */
  data: FileData
  /** The MIME type. */
  mediaType: string
  /** The name of the file. */
  filename?: string
  /** Metadata that the provider attached to the part. */
  providerOptions?: ProviderOptions
}

/** A tool call in a prompt. */
export interface ToolCallPart {
  /** The type of the part. */
  type: 'tool-call'
  /** Id of the tool call. */
  toolCallId: string
  /** The provider name of the tool. */
  toolName: string
  /** The arguments. */
  input: unknown
  /** Metadata that the provider attached to the part. */
  providerOptions?: ProviderOptions
}

/** A tool result in a prompt. */
export interface ToolResultPart {
  /** The type of the part. */
  type: 'tool-result'
  /** Id of the tool call. */
  toolCallId: string
  /** The provider name of the tool. */
  toolName: string
  /** The result. */
  output: { type: 'json' | 'error-json'; value: unknown } | { type: 'content'; value: object[] }
  /** Metadata that the provider attached to the part. */
  providerOptions?: ProviderOptions
}

/** One message of a prompt. Assistant messages can contain parts that only their provider understands. */
export type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: UserPart[] }
  | { role: 'assistant'; content: object[] }
  | { role: 'tool'; content: ToolResultPart[] }
