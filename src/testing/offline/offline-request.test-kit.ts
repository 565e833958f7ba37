import type { JsonObject } from '../../base/json.ts'
import type { Content, FunctionDeclaration, Part } from '../../content/content.ts'
import type { Model } from '../../tool/model.ts'
import type { LlmRequest, Tool } from '../../tool/tool.ts'
import type { LlmRequestConfig } from '../../tool/wire.ts'
import { offlineModel } from '../offline-model.ts'

/** A Wednesday. */
export const wednesday = (): Date => new Date('2025-03-12T10:00:00Z')

export interface OfflineRequest {
  readonly model?: Model | undefined
  readonly tools?: readonly FunctionDeclaration[] | undefined
  /** What was said before, the message last. */
  readonly messages: string | readonly Content[]
  readonly config?: LlmRequestConfig | undefined
  /** The tools themselves. */
  readonly bodies?: ReadonlyMap<string, Tool> | undefined
}

/** One request, as an agent makes it; the parts of the reply. */
export async function generateParts({ model, ...asking }: OfflineRequest): Promise<readonly Part[]> {
  const asked = model ?? offlineModel({ now: wednesday })
  let parts: readonly Part[] = []
  for await (const { content, partial } of asked.generate(requestOf(asking), {})) {
    if (!partial) parts = content?.parts ?? []
  }
  return parts
}

/** The calls of a reply: name and arguments. */
export async function callsFor(asking: OfflineRequest): Promise<(readonly [name: string, args: JsonObject])[]> {
  const parts = await generateParts(asking)
  return parts.flatMap(({ functionCall }) => (functionCall ? [[functionCall.name, functionCall.args] as const] : []))
}

/** The text of a reply. */
export async function textFor(asking: OfflineRequest): Promise<string> {
  return (await generateParts(asking)).map(({ text = '' }) => text).join('')
}

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
    appendWireTool: () => {},
  }
}

export function user(text: string): Content {
  return { role: 'user', parts: [{ text }] }
}

/** A call of the model and its answer. */
export function exchange(name: string, args: JsonObject, response: JsonObject, id = 'call-1'): Content[] {
  return [
    { role: 'model', parts: [{ functionCall: { id, name, args } }] },
    { role: 'tool', parts: [{ functionResponse: { id, name, response } }] },
  ]
}

/** A declaration with these properties; those in `optional` need not be there. */
export function declare(
  name: string,
  description: string,
  properties: JsonObject = {},
  optional: readonly string[] = [],
): FunctionDeclaration {
  const required = Object.keys(properties).filter((key) => !optional.includes(key))
  return { name, description, parametersJsonSchema: { type: 'object', properties, required } }
}
