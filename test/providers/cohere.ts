// For tests only: one turn of a model in the format of Cohere's chat API, version 2.

import { argsText, bodyOrEvents, type ModelTurn, splitText } from './model-turn.ts'
import type { Reply } from './provider-server.ts'

/** `/chat` of Cohere. */
export function cohere({ text, calls = [], finish }: ModelTurn): Reply {
  const finish_reason = finish ?? (calls.length ? 'TOOL_CALL' : 'COMPLETE')
  const usage = { tokens: { input_tokens: 12, output_tokens: 8 } }
  const tool_calls = calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: argsText(call) },
  }))
  const content = text === undefined ? [] : [{ type: 'text', text }]
  const ofMessage = (type: string, index: number, message: object): object => ({ type, index, delta: { message } })
  const said = text === undefined ? [] : splitText(text)
  const events = (): object[] => [
    { type: 'message-start', id: 'm1' },
    ...(text === undefined ? [] : [ofMessage('content-start', 0, { content: { type: 'text', text: '' } })]),
    ...said.map((one) => ofMessage('content-delta', 0, { content: { text: one } })),
    ...(text === undefined ? [] : [{ type: 'content-end', index: 0 }]),
    ...tool_calls.flatMap(({ function: { name, arguments: all }, ...call }, index) => [
      ofMessage('tool-call-start', index, { tool_calls: { ...call, function: { name, arguments: '' } } }),
      ...splitText(all).map((part) =>
        ofMessage('tool-call-delta', index, { tool_calls: { function: { arguments: part } } }),
      ),
      { type: 'tool-call-end', index },
    ]),
    { type: 'message-end', delta: { finish_reason, usage } },
  ]
  const message = { role: 'assistant', content, ...(calls.length && { tool_calls }) }
  return bodyOrEvents(() => ({ generation_id: 'm1', message, finish_reason, usage }), events)
}
