// For tests only: sends one request to a model on a local server.
import type { Content, Part } from '../../core/content/content.ts'
import type { LlmRequest } from '../../engine/model/llm-request.ts'
import type { LlmRequestConfig } from '../../engine/model/llm-request-config.ts'
import type { LlmResponse } from '../../engine/model/model.ts'
import type { GeminiRequest, GeminiScript, GeminiServer, GeminiServerOptions } from '../testing/gemini-script.ts'
import { geminiServer } from '../testing/gemini-server.ts'
import { gemini } from './gemini.ts'
import type { GeminiOptions } from './options.ts'

/** The version of the Gemini API that the client of the tests uses by default. */
export const API_VERSION: string = process.env.GENAI_MAJOR === '3' ? 'v1' : 'v1beta'

/** The request, the model and the server of a test. */
interface AskOptions {
  /** Name of the model. Default `gemini-2.5-flash`. */
  readonly name?: string
  /** The conversation. Default: one user message. */
  readonly contents?: readonly Content[]
  /** The config of the request. */
  readonly config?: LlmRequestConfig
  /** Default false. */
  readonly stream?: boolean
  /** Aborts the request. */
  readonly signal?: AbortSignal
  /** Options of `gemini()`. */
  readonly options?: GeminiOptions
  /** Options of the server. */
  readonly server?: GeminiServerOptions
}

/** What the model returned and the server received. */
export interface AskResult {
  /** The partial responses. */
  readonly deltas: readonly LlmResponse[]
  /** The complete response. Undefined when the request failed. */
  readonly whole: LlmResponse | undefined
  /** What the model threw. */
  readonly error: unknown
  /** The delays between attempts in milliseconds. Tests do not wait for them. */
  readonly pauses: readonly number[]
  /** The requests that the server received. */
  readonly requests: readonly GeminiRequest[]
  /** The body of the last request. */
  readonly body: { contents?: Content[]; tools?: unknown; toolConfig?: unknown; [field: string]: unknown }
}

/** An API key with the format of a real one. */
export const KEY = 'AIzaSyTestTestTestTestTestTestTestTest0'

/** A user turn. */
export const user = (...parts: (string | Part)[]): Content => ({ role: 'user', parts: parts.map(partOf) })
/** A model turn. */
export const model = (...parts: (string | Part)[]): Content => ({ role: 'model', parts: parts.map(partOf) })
/** A turn with tool results. */
export const tool = (...parts: Part[]): Content => ({ role: 'tool', parts })
const partOf = (part: string | Part): Part => (typeof part === 'string' ? { text: part } : part)

/** A request without tools. */
export function requestOf(contents: readonly Content[] = [user('Hi')], config: LlmRequestConfig = {}): LlmRequest {
  return { contents: [...contents], config, tools: new Map(), appendInstruction: () => {}, appendConfigTool: () => {} }
}

/** Sends a request to a model on a new local server with scripted replies. */
export async function ask(script: GeminiScript, question: AskOptions = {}): Promise<AskResult> {
  await using server = await geminiServer(script, question.server)
  return await askServer(server, question)
}

/** Sends a request to a model on a running local server. */
export async function askServer(server: GeminiServer, question: AskOptions = {}): Promise<AskResult> {
  const { name = 'gemini-2.5-flash', contents, config, stream = false, signal } = question
  const pauses: number[] = []
  const ports = {
    now: () => Date.parse('2026-01-01T00:00:00Z'),
    random: () => 0.5,
    setTimer: (callback: () => void, ms: number) => {
      pauses.push(ms)
      queueMicrotask(callback)
      return () => {}
    },
  }
  const asked = gemini(name, { apiKey: KEY, baseUrl: server.url, ports, ...question.options })
  const deltas: LlmResponse[] = []
  let whole: LlmResponse | undefined
  let error: unknown
  try {
    for await (const response of asked.generate(requestOf(contents, config), { signal, stream })) {
      if (response.partial) deltas.push(response)
      else if (whole) throw new Error('Expected only one complete response.')
      else whole = response
    }
  } catch (thrown) {
    error = thrown
  }
  const { requests } = server
  return { deltas, whole, error, pauses, requests, body: (requests.at(-1)?.body ?? {}) as AskResult['body'] }
}

/** The visible text of the deltas. */
export function streamedText({ deltas }: AskResult): string {
  return deltas
    .flatMap(({ content }) => content?.parts ?? [])
    .map((part) => part.text ?? '')
    .join('|')
}
