// For tests only: one turn of a model in the format of OpenAI's chat completions.
import { argsText, bodyOrEvents, type ModelTurn, splitText } from './model-turn.ts'
import type { Reply } from './provider-server.ts'

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
