// Sampling requests of a server: the model that the developer chose answers them.
import type { CreateMessageRequest, CreateMessageResult, SamplingMessage } from '@modelcontextprotocol/client'
import { isRecord, jsonSize } from '../../../core/base/json.ts'
import { TimerTurns } from '../../../core/base/timer-turns.ts'
import type { Content, Part } from '../../../core/content/content.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { LlmRequest } from '../../../engine/model/llm-request.ts'
import type { Model } from '../../../engine/model/model.ts'
import { MAX_SAMPLE_BYTES, MAX_SAMPLE_TOKENS, MAX_SAMPLES } from '../limits.ts'

/** After this many responses that were all ready, timers get a turn. */
const RESPONSES_PER_TURN = 1_000

/** Returns a function that answers the sampling requests of one call. Without a model, every request fails. */
export function sampler(
  model: Model | undefined,
): (params: CreateMessageRequest['params'], signal: AbortSignal) => Promise<CreateMessageResult> {
  let count = 0
  return async (params, signal) => {
    if (!model) throw new ToolError('The MCP server asked for a reply of a model. Sampling is off.')
    if (++count > MAX_SAMPLES) throw new ToolError(`At most ${MAX_SAMPLES} sampling requests are answered in one call.`)
    if (!isRecord(params) || !Array.isArray(params.messages))
      throw new ToolError('The sampling request has no messages.')
    if (jsonSize(params, MAX_SAMPLE_BYTES) > MAX_SAMPLE_BYTES)
      throw new ToolError(`The sampling request has more than ${MAX_SAMPLE_BYTES} bytes.`)
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
      maxOutputTokens: maxTokens > 0 ? Math.min(maxTokens, MAX_SAMPLE_TOKENS) : MAX_SAMPLE_TOKENS,
      ...(temperature !== undefined && { temperature }),
      ...(stopSequences && { stopSequences }),
    },
    tools: new Map(),
    appendInstruction: () => {},
    appendConfigTool: () => {},
  }
  let reply = ''
  const turns = new TimerTurns(RESPONSES_PER_TURN)
  for await (const response of model.generate(request, { signal })) {
    const turn = turns.next() // a model that never waits would keep its own deadline from ending it
    if (turn) await turn
    signal.throwIfAborted()
    if (response.errorCode !== undefined) throw new ToolError('The model that answers sampling requests failed.')
    if (!response.partial) reply = (response.content?.parts ?? []).map(({ text = '' }) => text).join('')
  }
  return reply
}

function toContent(message: SamplingMessage): Content {
  const { role, content } = isRecord(message) ? message : { role: 'user', content: [] }
  const blocks = Array.isArray(content) ? content : [content]
  return { role: role === 'assistant' ? 'model' : 'user', parts: blocks.flatMap(toPart) }
}

function toPart(block: unknown): Part[] {
  if (!isRecord(block)) return []
  const { type, text, data, mimeType } = block
  if (type === 'text' && typeof text === 'string') return [{ text }]
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string')
    return [{ inlineData: { data, mimeType } }]
  return []
}
