// For tests only: the real provider packages, connected to a local server.
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createCohere } from '@ai-sdk/cohere'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createGroq } from '@ai-sdk/groq'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createXai } from '@ai-sdk/xai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { createOllama } from 'ollama-ai-provider-v2'
import { anthropic } from '../../../test/providers/anthropic.ts'
import { bedrock } from '../../../test/providers/bedrock.ts'
import { cohere } from '../../../test/providers/cohere.ts'
import { google } from '../../../test/providers/google.ts'
import type { ModelTurn } from '../../../test/providers/model-turn.ts'
import { ollama } from '../../../test/providers/ollama.ts'
import { chatCompletions, openaiChat } from '../../../test/providers/openai-chat.ts'
import { openaiResponses } from '../../../test/providers/openai-responses.ts'
import type { Reply } from '../../../test/providers/provider-server.ts'
import type { JsonObject } from '../../core/base/json.ts'
import type { Content } from '../../core/content/content.ts'
import type { LlmRequest } from '../../engine/model/llm-request.ts'
import type { LlmRequestConfig } from '../../engine/model/llm-request-config.ts'
import type { LlmResponse, Model } from '../../engine/model/model.ts'
import type { AiSdkModel } from './ai-sdk-types.ts'

const apiKey = 'sk-test-0123456789abcdef'

/** A provider package, and how a server writes its replies. */
export interface ProviderFormat {
  /** Name in test titles. */
  readonly name: string
  /** A model of the provider that sends its requests to `url`. */
  model(url: string, modelId?: string): AiSdkModel
  /** A reply in the format of the provider. */
  say(turn: ModelTurn): Reply
}

/** OpenAI chat completions. */
export const chat: ProviderFormat = {
  name: 'openai chat',
  model: (url, id = 'gpt-4.1') => createOpenAI({ apiKey, baseURL: url }).chat(id),
  say: openaiChat,
}
/** OpenAI responses. */
export const responses: ProviderFormat = {
  name: 'openai responses',
  model: (url, id = 'gpt-5') => createOpenAI({ apiKey, baseURL: url }).responses(id),
  say: openaiResponses,
}
/** Anthropic messages. */
export const claude: ProviderFormat = {
  name: 'anthropic',
  model: (url, id = 'claude-sonnet-4-5') => createAnthropic({ apiKey, baseURL: url })(id),
  say: anthropic,
}
/** Google Generative AI. */
export const gemini: ProviderFormat = {
  name: 'google',
  model: (url, id = 'gemini-3-pro-preview') => createGoogleGenerativeAI({ apiKey, baseURL: url })(id),
  say: google,
}

/** The formats that most tests use. */
export const formats: readonly ProviderFormat[] = [chat, responses, claude, gemini]

/** A format with the differences that the tests of all providers need to know. */
export interface ProviderCase extends ProviderFormat {
  /** An error in the middle of a stream, in the provider's format. */
  readonly error: object
  /** The provider package drops the error message. */
  readonly hidesErrors?: true
  /** The provider supports images in tool results. */
  readonly imagesInResults?: true
  /** The provider sends no response schema: the model answers with a tool call. */
  readonly sendsNoSchema?: true
  /** The provider does not stream the arguments of calls. */
  readonly wholeCalls?: true
}

const chatError = { error: { message: 'The server had an error', type: 'server_error', code: null } }
const compatible = (url: string, supportsStructuredOutputs: boolean) =>
  createOpenAICompatible({ name: 'acme', apiKey, baseURL: url, supportsStructuredOutputs })

/** All tested providers. To test another provider, add a row. */
export const providers: readonly ProviderCase[] = [
  { ...chat, error: chatError },
  {
    ...responses,
    error: { type: 'error', sequence_number: 3, code: 'server_error', message: 'The server had an error' },
    imagesInResults: true,
  },
  {
    ...claude,
    error: { type: 'error', error: { type: 'overloaded_error', message: 'The server had an error' } },
    imagesInResults: true,
  },
  {
    ...gemini,
    error: { error: { code: 503, message: 'The server had an error', status: 'UNAVAILABLE' } },
    imagesInResults: true,
    wholeCalls: true,
  },
  {
    name: 'mistral',
    model: (url, id = 'mistral-large-latest') => createMistral({ apiKey, baseURL: url })(id),
    say: (turn) => chatCompletions(turn, { counts: 'with reason' }),
    error: { object: 'error', message: 'The server had an error', type: 'server_error', code: 3000 },
  },
  {
    name: 'groq',
    model: (url, id = 'llama-3.3-70b-versatile') => createGroq({ apiKey, baseURL: url })(id),
    say: openaiChat,
    error: chatError,
  },
  {
    name: 'xai chat',
    model: (url, id = 'grok-4') => createXai({ apiKey, baseURL: url }).chat(id),
    say: (turn) => chatCompletions(turn, { hasPieces: false }),
    error: chatError,
    wholeCalls: true,
  },
  {
    name: 'xai responses',
    model: (url, id = 'grok-4') => createXai({ apiKey, baseURL: url }).responses(id),
    say: openaiResponses,
    error: { type: 'error', code: 'server_error', message: 'The server had an error', param: null },
    imagesInResults: true,
  },
  {
    name: 'deepseek',
    model: (url, id = 'deepseek-chat') => createDeepSeek({ apiKey, baseURL: url })(id),
    say: openaiChat,
    error: chatError,
  },
  {
    name: 'bedrock',
    model: (url, id = 'anthropic.claude-3-5-sonnet-20240620-v1:0') =>
      createAmazonBedrock({ region: 'us-east-1', accessKeyId: 'AKID', secretAccessKey: 'none', baseURL: url })(id),
    say: bedrock,
    error: { modelStreamErrorException: { message: 'The server had an error' } },
    imagesInResults: true,
  },
  {
    name: 'cohere',
    model: (url, id = 'command-a-03-2025') => createCohere({ apiKey, baseURL: url })(id),
    say: cohere,
    error: { message: 'The server had an error' },
  },
  {
    name: 'openai-compatible',
    model: (url, id = 'acme-1') => compatible(url, true)(id),
    say: (turn) => chatCompletions(turn, { counts: 'never' }),
    error: chatError,
  },
  {
    name: 'openai-compatible without schemas',
    model: (url, id = 'acme-1') => compatible(url, false)(id),
    say: openaiChat,
    error: chatError,
    sendsNoSchema: true,
  },
  {
    name: 'openrouter',
    model: (url, id = 'acme/router-1') => createOpenRouter({ apiKey, baseURL: url }).chat(id),
    say: openaiChat,
    error: { error: { code: 502, message: 'The server had an error' } },
    imagesInResults: true,
  },
  {
    name: 'ollama',
    model: (url, id = 'llama3.2') => createOllama({ baseURL: url })(id),
    say: ollama,
    error: { error: 'The server had an error' },
    hidesErrors: true,
    wholeCalls: true,
  },
]

/** Each of `formats`, with and without streaming. */
export const formatCases: { format: ProviderFormat; stream: boolean; how: string }[] = formats.flatMap((format) => [
  { format, stream: false, how: `${format.name}, not streamed` },
  { format, stream: true, how: `${format.name}, streamed` },
])

/** A user message. */
export function user(text: string): Content {
  return { role: 'user', parts: [{ text }] }
}

/** A request without tools. */
export function request(contents: readonly Content[], config: LlmRequestConfig = {}): LlmRequest {
  return {
    contents: [...contents],
    config,
    tools: new Map(),
    appendInstruction: () => {},
    appendConfigTool: () => {},
  }
}

/** All responses of a model to one request. */
interface ModelReply {
  /** The complete response. */
  readonly whole: LlmResponse
  /** The deltas. */
  readonly partial: readonly LlmResponse[]
}

/** Sends a request to a model and reads all its responses. */
export async function ask(
  model: Model,
  asked: LlmRequest,
  options: { stream?: boolean; signal?: AbortSignal } = {},
): Promise<ModelReply> {
  const all: LlmResponse[] = []
  for await (const response of model.generate(asked, options)) all.push(response)
  const whole = all.pop()
  if (!whole || whole.partial || all.some(({ partial }) => !partial))
    throw new Error('Expected exactly one complete response, the last one.')
  return { whole, partial: all }
}

/** A value after it was stored as JSON. */
export function stored<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

/** A value deep inside a request's body: `at(body, 'messages', 1, 'content')`. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let node: unknown = value
  for (const key of path) node = (node as JsonObject | undefined)?.[key]
  return node
}
