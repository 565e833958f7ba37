// Logs as nobody should leave them, line by line.
import type { Content, Event, JsonObject, Part } from 'toolwright'

/** An event without what every event has. */
export type Line = {
  readonly author: string
  readonly content: Content
  readonly invocationId?: string
} & Partial<Event>

export const hears = (text: string): Line => ({ author: 'user', content: { role: 'user', parts: [{ text }] } })
export const says = (text: string): Line => ({ author: 'agent', content: { role: 'model', parts: [{ text }] } })
export const call = (id: string, name = 'refund'): Part => ({ functionCall: { id, name, args: { amount: 1 } } })
export const calls = (...ids: string[]): Line => ({
  author: 'agent',
  content: { role: 'model', parts: ids.map((id) => call(id)) },
})
export const response = (id: string, response: JsonObject = { refunded: 1 }): Part => ({
  functionResponse: { id, name: 'refund', response },
})
export const answers = (...ids: string[]): Line => ({
  author: 'agent',
  content: { role: 'tool', parts: ids.map((id) => response(id)) },
})
export const later = (line: Line): Line => ({ ...line, invocationId: 'e-2' })
export const handle = (id: string): Line => ({
  ...calls(id),
  content: {
    role: 'tool',
    parts: [{ functionResponse: { id, name: 'refund', response: { ticket: 7 }, willContinue: true } }],
  },
})

export const question = (id: string, callId: string): Line => ({
  author: 'agent',
  longRunningToolIds: [id],
  content: {
    role: 'model',
    parts: [{ functionCall: { id, name: 'adk_request_confirmation', args: { originalFunctionCall: { id: callId } } } }],
  },
})
export const decision = (id: string, confirmed: boolean): Line => ({
  author: 'user',
  content: {
    role: 'user',
    parts: [{ functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed } } }],
  },
})

export const logs: readonly [name: string, lines: readonly Line[]][] = [
  ['a whole turn', [hears('go'), calls('a'), answers('a'), says('done')]],
  ['a call without a response', [hears('go'), calls('a')]],
  ['a call without a response, in the middle', [hears('go'), calls('a'), later(hears('and?')), later(says('what?'))]],
  ['a call without a response, and the model talks on', [hears('go'), calls('a'), says('done')]],
  ['a response without a call', [hears('go'), answers('a'), says('done')]],
  ['nothing but a response', [answers('a')]],
  ['a response twice', [hears('go'), calls('a'), answers('a'), answers('a'), says('done')]],
  ['a response twice in one event', [hears('go'), calls('a'), answers('a', 'a'), says('done')]],
  [
    'a response again, much later',
    [hears('go'), calls('a'), answers('a'), says('done'), later(hears('and?')), later(answers('a'))],
  ],
  ['a response before its call', [hears('go'), answers('a'), calls('a'), says('done')]],
  ['a response before its call, and one after', [hears('go'), answers('a'), calls('a'), answers('a')]],
  ['two of three calls answered', [hears('go'), calls('a', 'b', 'c'), answers('c', 'a')]],
  [
    'two of three calls answered, and it went on',
    [hears('go'), calls('a', 'b', 'c'), answers('b'), later(hears('and?')), later(answers('c'))],
  ],
  [
    'a word of the user between call and response',
    [hears('go'), calls('a'), hears('wait'), answers('a'), says('done')],
  ],
  [
    'a word of another agent between them',
    [hears('go'), calls('a'), { ...says('psst'), author: 'other' }, answers('a')],
  ],
  ['the model speaks three times', [hears('go'), says('one'), calls('a'), answers('a'), says('two'), says('three')]],
  ['a question nobody answered', [hears('go'), calls('a'), question('q', 'a')]],
  ['a question and a yes, and no response', [hears('go'), calls('a'), question('q', 'a'), decision('q', true)]],
  [
    'a question, a no and the response',
    [hears('go'), calls('a'), question('q', 'a'), decision('q', false), answers('a')],
  ],
  ['an answer to nothing', [hears('go'), decision('q', true)]],
  ['work that goes on', [hears('go'), calls('a'), handle('a'), later(hears('and?')), later(says('soon'))]],
  [
    'work that goes on and ends much later',
    [
      hears('go'),
      calls('a'),
      handle('a'),
      later(hears('and?')),
      later(says('soon')),
      { ...decision('a', true), content: { role: 'user', parts: [response('a')] } },
    ],
  ],
  ['a call a user claims to have made', [hears('go'), { ...calls('a'), author: 'user' }, answers('a')]],
  ['nothing but an empty reply', [hears('go'), { author: 'agent', content: { role: 'model', parts: [] } }]],
  [
    'code, its output and a call beside it',
    [
      hears('go'),
      {
        author: 'agent',
        content: { role: 'model', parts: [{ executableCode: { id: 'x', language: 'PYTHON', code: '1' } }, call('a')] },
      },
      {
        author: 'agent',
        content: {
          role: 'tool',
          parts: [{ codeExecutionResult: { id: 'x', outcome: 'OUTCOME_OK', output: '1' } }, response('a')],
        },
      },
    ],
  ],
  [
    'code without its output',
    [
      hears('go'),
      {
        author: 'agent',
        content: { role: 'model', parts: [{ executableCode: { id: 'x', language: 'PYTHON', code: '1' } }] },
      },
    ],
  ],
]

/** The events of a log, with all an event needs; with a path they are an agent's of this tree, which may have more to do. */
export const eventsOf = (lines: readonly Line[], path: string | undefined): Event[] =>
  lines.map((line, at) => ({
    id: `old-${at}`,
    invocationId: 'e-1',
    timestamp: at + 1,
    actions: {},
    ...(path !== undefined && line.author !== 'user' && { nodeInfo: { path } }),
    ...line,
  }))
