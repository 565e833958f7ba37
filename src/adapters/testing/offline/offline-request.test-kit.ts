import type { JsonObject } from '../../../core/base/json.ts'
import type { Content, FunctionDeclaration, Part } from '../../../core/content/content.ts'
import type { LlmRequest } from '../../../engine/model/llm-request.ts'
import type { LlmRequestConfig } from '../../../engine/model/llm-request-config.ts'
import type { Model } from '../../../engine/model/model.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { offlineModel } from '../offline-model.ts'

/** A Wednesday. */
export const wednesday = (): Date => new Date('2025-03-12T10:00:00Z')

/** A request to the offline model. */
interface OfflineRequest {
  readonly model?: Model | undefined
  readonly tools?: readonly FunctionDeclaration[] | undefined
  /** The user message, or the whole conversation. */
  readonly messages: string | readonly Content[]
  readonly config?: LlmRequestConfig | undefined
  /** The tools themselves. */
  readonly bodies?: ReadonlyMap<string, Tool> | undefined
}

/** Sends a request like an agent and returns the parts of the reply. */
export async function generateParts({ model, ...asking }: OfflineRequest): Promise<readonly Part[]> {
  const asked = model ?? offlineModel({ now: wednesday })
  let parts: readonly Part[] = []
  for await (const { content, partial } of asked.generate(requestOf(asking), {})) {
    if (!partial) parts = content?.parts ?? []
  }
  return parts
}

/** Returns the name and arguments of each call in the reply. */
export async function callsFor(asking: OfflineRequest): Promise<(readonly [name: string, args: JsonObject])[]> {
  const parts = await generateParts(asking)
  return parts.flatMap(({ functionCall }) => (functionCall ? [[functionCall.name, functionCall.args] as const] : []))
}

/** Returns the text of the reply. */
export async function textFor(asking: OfflineRequest): Promise<string> {
  return (await generateParts(asking)).map(({ text = '' }) => text).join('')
}

/** Creates an `LlmRequest`. */
export function requestOf({
  tools = [],
  messages,
  config,
  bodies = new Map(),
}: Omit<OfflineRequest, 'model'>): LlmRequest {
  return {
    contents: typeof messages === 'string' ? [user(messages)] : [...messages],
    config: { ...(tools.length && { tools: [{ functionDeclarations: tools }] }), ...config },
    tools: bodies,
    appendInstruction: () => {},
    appendConfigTool: () => {},
  }
}

/** Creates a user message. */
export function user(text: string): Content {
  return { role: 'user', parts: [{ text }] }
}

/** Creates a call of the model and its response. */
export function exchange(name: string, args: JsonObject, response: JsonObject, id = 'call-1'): Content[] {
  return [
    { role: 'model', parts: [{ functionCall: { id, name, args } }] },
    { role: 'tool', parts: [{ functionResponse: { id, name, response } }] },
  ]
}

/** Creates a declaration. Properties not in `optional` are required. */
export function declare(
  name: string,
  description: string,
  properties: JsonObject = {},
  optional: readonly string[] = [],
): FunctionDeclaration {
  const required = Object.keys(properties).filter((key) => !optional.includes(key))
  return { name, description, parametersJsonSchema: { type: 'object', properties, required } }
}
