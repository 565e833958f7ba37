// For tests only: one turn of a model in the format of OpenAI's responses.
import type { JsonObject } from '../../src/core/base/json.ts'
import { argsText, bodyOrEvents, type ModelTurn, splitText } from './model-turn.ts'
import type { Reply } from './provider-server.ts'

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
