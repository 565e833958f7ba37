// For tests only: one turn of a model in the format of Ollama, a line of JSON for each event.

import { bodyOrEvents, type ModelTurn, splitText } from './model-turn.ts'
import type { Reply } from './provider-server.ts'

/** The `/chat` endpoint of Ollama. Calls are not streamed: their arguments are an object. */
export function ollama({ text, calls = [], finish = 'stop' }: ModelTurn): Reply {
  const head = { model: 'llama-test', created_at: '2026-01-01T00:00:00Z' }
  const counts = { prompt_eval_count: 12, eval_count: 8, total_duration: 1 }
  const tool_calls = calls.map(({ id, name, args = {} }) => ({ id, function: { name, arguments: args } }))
  const line = (message: object): object => ({
    ...head,
    message: { role: 'assistant', content: '', ...message },
    done: false,
  })
  const last = { done: true, done_reason: finish, ...counts }
  const events = (): object[] => [
    ...splitText(text ?? '').map((content) => line({ content })),
    ...tool_calls.map((call) => line({ tool_calls: [call] })),
    { ...line({}), ...last },
  ]
  const message = { role: 'assistant', content: text ?? '', ...(calls.length && { tool_calls }) }
  return bodyOrEvents(() => ({ ...head, message, ...last }), events, {
    frame: (event) => `${JSON.stringify(event)}\n`,
    headers: { 'content-type': 'application/x-ndjson' },
  })
}
