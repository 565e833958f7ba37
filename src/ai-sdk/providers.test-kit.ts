// For tests only: the real provider packages, pointed at a local server.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { JsonObject } from '../base/json.ts'
import type { Content } from '../content/content.ts'
import type { Reply } from '../testing/server/providers.ts'
import { anthropic, google, openaiChat, openaiResponses, type Turn } from '../testing/server/wires.ts'
import type { LlmResponse, Model } from '../tool/model.ts'
import type { LlmRequest } from '../tool/tool.ts'
import type { LlmRequestConfig } from '../tool/wire.ts'
import type { AiSdkModel } from './spec.ts'

const apiKey = 'sk-test-0123456789abcdef'

export interface Wire {
  readonly name: string
  model(url: string, modelId?: string): AiSdkModel
  say(turn: Turn): Reply
}

export const chat: Wire = {
  name: 'openai chat',
  model: (url, id = 'gpt-4.1') => createOpenAI({ apiKey, baseURL: url }).chat(id),
  say: openaiChat,
}
export const responses: Wire = {
  name: 'openai responses',
  model: (url, id = 'gpt-5') => createOpenAI({ apiKey, baseURL: url }).responses(id),
  say: openaiResponses,
}
export const claude: Wire = {
  name: 'anthropic',
  model: (url, id = 'claude-sonnet-4-5') => createAnthropic({ apiKey, baseURL: url })(id),
  say: anthropic,
}
export const gemini: Wire = {
  name: 'google',
  model: (url, id = 'gemini-3-pro-preview') => createGoogleGenerativeAI({ apiKey, baseURL: url })(id),
  say: google,
}

export const wires: readonly Wire[] = [chat, responses, claude, gemini]

/** Every provider, streaming and not. */
export const waysToAsk: { wire: Wire; stream: boolean; how: string }[] = wires.flatMap((wire) => [
  { wire, stream: false, how: `${wire.name}, whole` },
  { wire, stream: true, how: `${wire.name}, streamed` },
])

export function user(text: string): Content {
  return { role: 'user', parts: [{ text }] }
}

export function request(contents: readonly Content[], config: LlmRequestConfig = {}): LlmRequest {
  return {
    contents: [...contents],
    config,
    tools: new Map(),
    appendInstruction: () => {},
    appendWireTool: () => {},
  }
}

export interface Heard {
  readonly whole: LlmResponse
  readonly partial: readonly LlmResponse[]
}

/** Asks a model and hears it to the end. */
export async function ask(
  model: Model,
  asked: LlmRequest,
  options: { stream?: boolean; signal?: AbortSignal } = {},
): Promise<Heard> {
  const all: LlmResponse[] = []
  for await (const response of model.generate(asked, options)) all.push(response)
  const whole = all.pop()
  if (!whole || whole.partial || all.some(({ partial }) => !partial)) throw new Error('One whole response, the last.')
  return { whole, partial: all }
}

/** As it comes back from a store. */
export function stored<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

/** A value deep inside a request's body: `at(body, 'messages', 1, 'content')`. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let node: unknown = value
  for (const key of path) node = (node as JsonObject | undefined)?.[key]
  return node
}
