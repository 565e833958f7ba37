// Sampling requests of a server: the model that the developer chose answers them.
import type { CreateMessageRequest, CreateMessageResult, SamplingMessage } from '@modelcontextprotocol/client'
import type { Content, Part } from '../../content/content.ts'
import type { Model } from '../../tool/model.ts'
import type { LlmRequest } from '../../tool/tool.ts'

/** How many sampling requests one call may make. */
const MAX_SAMPLES = 10
/** The most tokens of one reply, also if the server asks for more. */
const MAX_TOKENS = 8_192

/** Returns a function that answers the sampling requests of one call. Without a model, every request fails. */
export function sampler(
  model: Model | undefined,
): (params: CreateMessageRequest['params'], signal: AbortSignal) => Promise<CreateMessageResult> {
  let count = 0
  return async (params, signal) => {
    if (!model) throw new Error('Sampling is off.')
    if (++count > MAX_SAMPLES) throw new Error(`At most ${MAX_SAMPLES} sampling requests are answered in one call.`)
    const text = await generate(model, params, signal)
    return { model: model.name, role: 'assistant', content: { type: 'text', text }, stopReason: 'endTurn' }
  }
}

async function generate(model: Model, params: CreateMessageRequest['params'], signal: AbortSignal): Promise<string> {
  const { messages, systemPrompt, maxTokens, temperature, stopSequences } = params
  const request: LlmRequest = {
    model: model.name,
    contents: messages.map(toContent),
    config: {
      ...(systemPrompt !== undefined && { systemInstruction: systemPrompt }),
      maxOutputTokens: Math.min(maxTokens, MAX_TOKENS),
      ...(temperature !== undefined && { temperature }),
      ...(stopSequences && { stopSequences }),
    },
    tools: new Map(),
    appendInstruction: () => {},
    appendWireTool: () => {},
  }
  let reply = ''
  for await (const response of model.generate(request, { signal })) {
    if (response.errorCode !== undefined) throw new Error('The model failed.')
    if (!response.partial) reply = (response.content?.parts ?? []).map(({ text = '' }) => text).join('')
  }
  return reply
}

function toContent({ role, content }: SamplingMessage): Content {
  const blocks = Array.isArray(content) ? content : [content]
  return { role: role === 'assistant' ? 'model' : 'user', parts: blocks.flatMap(toPart) }
}

function toPart(block: (SamplingMessage['content'] & object) | unknown): Part[] {
  const { type, text, data, mimeType } = block as { type?: string; text?: string; data?: string; mimeType?: string }
  if (type === 'text' && typeof text === 'string') return [{ text }]
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string')
    return [{ inlineData: { data, mimeType } }]
  return []
}
