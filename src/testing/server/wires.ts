// For tests only: one turn of a model in the wire format of each provider, as one body or as events.
import type { JsonObject } from '../../base/json.ts'
import type { ReceivedRequest, Reply, ServerResponseScript } from './provider-server.ts'

/** One turn of a model. */
export interface ModelTurn {
  /** A thought. */
  readonly thinking?: string
  /** Signature of the thought, and of the first call if the provider signs calls. */
  readonly signature?: string
  /** An encrypted thought. */
  readonly redacted?: string
  /** The text. */
  readonly text?: string
  /** The tool calls. `raw` replaces the arguments and can be invalid JSON. */
  readonly calls?: readonly {
    readonly id: string
    readonly name: string
    readonly args?: JsonObject
    readonly raw?: string
  }[]
  /** The provider's finish reason. */
  readonly finish?: string
}

/** Splits a text into the deltas of a stream. */
export const splitText = (text: string): string[] => text.match(/.{1,4}/gs) ?? []
/** The arguments of a call as text. */
export const argsText = ({ args = {}, raw }: { args?: JsonObject; raw?: string }): string => raw ?? JSON.stringify(args)

/** `/chat/completions` of OpenAI, which has no thoughts. */
export function openaiChat({ text, calls = [], finish }: ModelTurn): Reply {
  return chatCompletions({ text, calls, finish }, {})
}

/** `/chat/completions` of compatible providers, which send token counts and the arguments of calls differently. */
export function chatCompletions(
  { text, calls = [], finish }: { [K in 'text' | 'calls' | 'finish']?: ModelTurn[K] | undefined },
  { counts = 'alone', hasPieces = true }: { counts?: 'alone' | 'with reason' | 'never'; hasPieces?: boolean },
): Reply {
  const head = { id: 'chatcmpl-1', created: 1, model: 'gpt-test' }
  const finish_reason = finish ?? (calls.length ? 'tool_calls' : 'stop')
  const usage = {
    prompt_tokens: 12,
    completion_tokens: 8,
    total_tokens: 20,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 3 },
  }
  const toolCalls = calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: argsText(call) },
  }))
  const message = { role: 'assistant', content: text ?? null, ...(calls.length && { tool_calls: toolCalls }) }
  const chunk = (delta: object, more: object = {}): object => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, ...more }],
  })
  const events = (): object[] => [
    ...splitText(text ?? '').map((content) => chunk({ content })),
    ...(hasPieces ? [] : toolCalls.map((call, index) => chunk({ tool_calls: [{ index, ...call }] }))),
    ...(hasPieces ? toolCalls : []).flatMap(({ id, type, function: { name, arguments: all } }, index) => [
      chunk({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }),
      ...splitText(all).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
    ]),
    { ...chunk({}, { finish_reason }), ...(counts === 'with reason' && { usage }) },
    ...(counts === 'alone' ? [{ ...chunk({}), choices: [], usage }] : []),
  ]
  return bodyOrEvents(
    () => ({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage }),
    () => [...events(), 'data: [DONE]\n\n'],
  )
}

/** `/responses` of OpenAI. */
export function openaiResponses({ thinking, signature, text, calls = [], finish }: ModelTurn): Reply {
  const usage = {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 8,
    output_tokens_details: { reasoning_tokens: 3 },
  }
  const items: JsonObject[] = []
  if (thinking !== undefined) {
    const summary = thinking ? [{ type: 'summary_text', text: thinking }] : []
    items.push({ type: 'reasoning', id: 'rs_1', summary, encrypted_content: signature ?? null })
  }
  if (text !== undefined) {
    const content = [{ type: 'output_text', text, annotations: [] }]
    items.push({ type: 'message', role: 'assistant', id: 'msg_1', status: 'completed', content })
  }
  for (const [at, call] of calls.entries()) {
    const { id, name } = call
    const made = { type: 'function_call', id: `fc_${at}`, call_id: id, name, arguments: argsText(call) }
    items.push({ ...made, status: 'completed' })
  }
  return openaiItems(items, usage, finish)
}

/** Raw output items of OpenAI, for what a `ModelTurn` cannot express. */
export function openaiItems(items: readonly JsonObject[], usage: JsonObject, finish?: string): Reply {
  const head = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-test', output: [] }
  const status = finish === undefined ? 'completed' : 'incomplete'
  const incomplete_details = finish === undefined ? null : { reason: finish }
  return bodyOrEvents(
    () => ({ ...head, status, output: items, usage, incomplete_details }),
    () => [
      { type: 'response.created', response: { ...head, status: 'in_progress' } },
      ...items.flatMap((item, output_index) => itemEvents(item, output_index)),
      { type: 'response.completed', response: { ...head, status, usage, incomplete_details } },
    ],
  )
}

function itemEvents(item: JsonObject, output_index: number): object[] {
  const item_id = item.id
  const added = (shown: object): object => ({ type: 'response.output_item.added', output_index, item: shown })
  const done = { type: 'response.output_item.done', output_index, item }
  if (item.type === 'message') {
    const [{ text = '' } = {}] = item.content as { text?: string }[]
    const deltas = splitText(text).map((delta) => ({
      type: 'response.output_text.delta',
      item_id,
      output_index,
      content_index: 0,
      delta,
    }))
    return [added({ ...item, content: [] }), ...deltas, done]
  }
  if (item.type === 'reasoning') {
    const [{ text = '' } = {}] = item.summary as { text?: string }[]
    const type = 'response.reasoning_summary_text.delta'
    const deltas = splitText(text).map((delta) => ({ type, item_id, output_index, summary_index: 0, delta }))
    return [added({ ...item, encrypted_content: null }), ...deltas, done]
  }
  if (item.type === 'function_call') {
    const type = 'response.function_call_arguments.delta'
    const deltas = splitText(String(item.arguments)).map((delta) => ({ type, item_id, output_index, delta }))
    return [added({ ...item, arguments: '' }), ...deltas, done]
  }
  return [added(item), done]
}

/** `/messages` of Anthropic. */
export function anthropic({ thinking, signature, redacted, text, calls = [], finish }: ModelTurn): Reply {
  const blocks: JsonObject[] = []
  if (thinking !== undefined) blocks.push({ type: 'thinking', thinking, signature })
  if (redacted !== undefined) blocks.push({ type: 'redacted_thinking', data: redacted })
  if (text !== undefined) blocks.push({ type: 'text', text })
  for (const call of calls)
    blocks.push({ type: 'tool_use', id: call.id, name: call.name, input: call.args ?? {}, raw: call.raw })
  return anthropicBlocks(blocks, finish ?? (calls.length ? 'tool_use' : 'end_turn'))
}

/** Raw content blocks of Anthropic, for what a `ModelTurn` cannot express. */
export function anthropicBlocks(blocks: readonly JsonObject[], stop_reason = 'end_turn'): Reply {
  const head = { type: 'message', id: 'msg_1', model: 'claude-test', role: 'assistant' }
  const usage = { input_tokens: 8, output_tokens: 8, cache_read_input_tokens: 4, cache_creation_input_tokens: 0 }
  return bodyOrEvents(
    () => ({ ...head, content: blocks, stop_reason, stop_sequence: null, usage }),
    () => [
      { type: 'message_start', message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage } },
      ...blocks.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: blockStart(block) },
        ...blockDeltas(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
  )
}

function blockStart(block: JsonObject): object {
  if (block.type === 'text') return { type: 'text', text: '' }
  if (block.type === 'thinking') return { type: 'thinking', thinking: '' }
  return block.type === 'tool_use' || block.type === 'server_tool_use' ? { ...block, input: {} } : block
}

function blockDeltas(block: JsonObject): object[] {
  if (block.type === 'text') return splitText(String(block.text)).map((text) => ({ type: 'text_delta', text }))
  if (block.type === 'thinking') {
    const said = splitText(String(block.thinking)).map((thinking) => ({ type: 'thinking_delta', thinking }))
    return [...said, { type: 'signature_delta', signature: block.signature }]
  }
  if (block.type !== 'tool_use' && block.type !== 'server_tool_use') return []
  const all = typeof block.raw === 'string' ? block.raw : JSON.stringify(block.input)
  return splitText(all).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
}

/** `:generateContent` and `:streamGenerateContent` of Google. */
export function google({ thinking, signature, text, calls = [], finish = 'STOP' }: ModelTurn): Reply {
  const sign = signature === undefined ? {} : { thoughtSignature: signature }
  const parts: JsonObject[] = []
  if (thinking !== undefined) parts.push({ text: thinking, thought: true, ...(calls.length ? {} : sign) })
  if (text !== undefined) parts.push({ text })
  for (const [at, { id, name, args = {} }] of calls.entries())
    parts.push({ functionCall: { id, name, args }, ...(at === 0 && sign) })
  return googleParts(parts, finish)
}

/** Raw parts of Google, for what a `ModelTurn` cannot express. */
export function googleParts(parts: readonly JsonObject[], finishReason = 'STOP', more: JsonObject = {}): Reply {
  const head = { responseId: 'g-1', modelVersion: 'gemini-test' }
  const usageMetadata = {
    promptTokenCount: 12,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 3,
    cachedContentTokenCount: 4,
    totalTokenCount: 20,
  }
  const candidate = (some: readonly JsonObject[], end: object): object => ({
    ...head,
    candidates: [{ index: 0, content: { role: 'model', parts: some }, ...end }],
    usageMetadata,
  })
  return bodyOrEvents(
    () => candidate(parts, { finishReason, ...more }),
    () => [...parts.map((part) => candidate([part], {})), candidate([], { finishReason, ...more })],
  )
}

/** A reply with one body, or with events if the request asks for a stream. */
export function bodyOrEvents(
  whole: () => object,
  events: () => (object | string)[],
  framing: Pick<ServerResponseScript, 'frame' | 'headers'> = {},
): Reply {
  return ({ isStream }: ReceivedRequest) => (isStream ? { events: events(), ...framing } : { json: whole() })
}
