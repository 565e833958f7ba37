// For tests only: one turn of a model in the format of Anthropic's messages.
import type { JsonObject } from '../../src/core/base/json.ts'
import { bodyOrEvents, type ModelTurn, splitText } from './model-turn.ts'
import type { Reply } from './provider-server.ts'

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
    const deltas = splitText(String(block.thinking)).map((thinking) => ({ type: 'thinking_delta', thinking }))
    return [...deltas, { type: 'signature_delta', signature: block.signature }]
  }
  if (block.type !== 'tool_use' && block.type !== 'server_tool_use') return []
  const all = typeof block.raw === 'string' ? block.raw : JSON.stringify(block.input)
  return splitText(all).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
}
