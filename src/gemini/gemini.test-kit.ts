// For tests only: a model on a local server, asked once.

import type { Content, Part } from '../content/content.ts'
import type { GeminiRequest, GeminiScript, GeminiServer, GeminiServerOptions } from '../testing/gemini-script.ts'
import { geminiServer } from '../testing/gemini-server.ts'
import type { LlmResponse } from '../tool/model.ts'
import type { LlmRequest } from '../tool/tool.ts'
import type { LlmRequestConfig } from '../tool/wire.ts'
import { gemini } from './gemini.ts'
import type { GeminiOptions } from './options.ts'

export interface Question {
  readonly name?: string
  readonly contents?: readonly Content[]
  readonly config?: LlmRequestConfig
  readonly stream?: boolean
  readonly signal?: AbortSignal
  readonly options?: GeminiOptions
  readonly server?: GeminiServerOptions
}

export interface Asked {
  readonly deltas: readonly LlmResponse[]
  /** Undefined when it failed. */
  readonly whole: LlmResponse | undefined
  readonly error: unknown
  /** Pauses between attempts, none of which was waited for. */
  readonly pauses: readonly number[]
  readonly requests: readonly GeminiRequest[]
  /** The body of the last request. */
  readonly body: { contents?: Content[]; tools?: unknown; toolConfig?: unknown; [field: string]: unknown }
}

export const KEY = 'AIzaSyTestTestTestTestTestTestTestTest0'

export const user = (...parts: (string | Part)[]): Content => ({ role: 'user', parts: parts.map(partOf) })
export const model = (...parts: (string | Part)[]): Content => ({ role: 'model', parts: parts.map(partOf) })
export const tool = (...parts: Part[]): Content => ({ role: 'tool', parts })
const partOf = (part: string | Part): Part => (typeof part === 'string' ? { text: part } : part)

export function requestOf(contents: readonly Content[] = [user('Hi')], config: LlmRequestConfig = {}): LlmRequest {
  return { contents: [...contents], config, tools: new Map(), appendInstruction: () => {}, appendWireTool: () => {} }
}

/** Asks a model on a local server that says what the script says. */
export async function ask(script: GeminiScript, question: Question = {}): Promise<Asked> {
  await using server = await geminiServer(script, question.server)
  return await askServer(server, question)
}

export async function askServer(server: GeminiServer, question: Question = {}): Promise<Asked> {
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
      else if (whole) throw new Error('There are two whole responses.')
      else whole = response
    }
  } catch (thrown) {
    error = thrown
  }
  const { requests } = server
  return { deltas, whole, error, pauses, requests, body: (requests.at(-1)?.body ?? {}) as Asked['body'] }
}

/** The visible text of the deltas. */
export function said({ deltas }: Asked): string {
  return deltas
    .flatMap(({ content }) => content?.parts ?? [])
    .map((part) => part.text ?? '')
    .join('|')
}
