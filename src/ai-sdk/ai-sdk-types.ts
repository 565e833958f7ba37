// What we know of the AI SDK's model specification, versions 2 to 4, in our own words: nothing of it is imported, so
// that these types hold for everybody, with and without `@ai-sdk/provider`. What comes from a provider is read with
// care (unknown parts are passed over): the specification grows inside patch releases.
import type { JsonObject } from '../base/json.ts'

/**
 * A model of an AI SDK provider: `openai('gpt-5')`, `anthropic('claude-sonnet-4-5')`, ... Any object of
 * `specificationVersion` `v2`, `v3` or `v4` will do.
 */
export interface AiSdkModel {
  readonly specificationVersion: string
  /** `openai.responses`, `anthropic.messages`, ... */
  readonly provider: string
  readonly modelId: string
  /** Addresses it reads by itself, by media type. */
  readonly supportedUrls?: PromiseLike<SupportedUrls> | SupportedUrls
  // What it takes differs from version to version: `CallOptions`, in its words.
  doGenerate(options: never): PromiseLike<AiSdkResult>
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<AiSdkPart> }>
}

export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>

/** Something with a type that decides what else it has. */
export interface AiSdkPart {
  readonly type: string
}

/** What an AI SDK model is asked. */
export interface CallOptions {
  prompt: PromptMessage[]
  tools?: object[]
  toolChoice?: object
  responseFormat?: object
  maxOutputTokens?: number
  temperature?: number
  topP?: number
  topK?: number
  presencePenalty?: number
  frequencyPenalty?: number
  stopSequences?: string[]
  seed?: number
  reasoning?: string
  headers?: Record<string, string>
  providerOptions?: Record<string, JsonObject>
  abortSignal?: AbortSignal
}

/** What an AI SDK model answers when it does not stream. */
export interface AiSdkResult {
  readonly content: readonly AiSdkPart[]
  readonly finishReason: unknown
  readonly usage: unknown
  readonly warnings?: unknown
  readonly providerMetadata?: unknown
  readonly response?: { readonly id?: string | undefined; readonly modelId?: string | undefined }
}

/** What a provider hung on a part, by provider: it wants it back on the very same part. */
export type Bag = Record<string, JsonObject>

export type FileData =
  | string
  | URL
  | Uint8Array
  | { type: 'data'; data: string }
  | { type: 'url'; url: URL; originalUrl: string }

export type UserPart = TextPart | FilePart
export interface TextPart {
  type: 'text' | 'reasoning'
  text: string
  providerOptions?: Bag
}
export interface FilePart {
  type: 'file' | 'reasoning-file'
  data: FileData
  mediaType: string
  filename?: string
  providerOptions?: Bag
}
export interface ToolCallPart {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: unknown
  providerOptions?: Bag
}
export interface ToolResultPart {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output: { type: 'json' | 'error-json'; value: unknown } | { type: 'content'; value: object[] }
  providerOptions?: Bag
}

/** One message of a prompt; assistant messages may also hold parts that only their provider understands. */
export type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: UserPart[] }
  | { role: 'assistant'; content: object[] }
  | { role: 'tool'; content: ToolResultPart[] }
