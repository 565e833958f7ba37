// Malformed and interrupted logs, line by line.
import type { Content, Event, JsonObject, Part } from 'toolwright'

/** An event without the members that every event has. */
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
  ['a complete invocation', [hears('go'), calls('a'), answers('a'), says('done')]],
  ['a call without a response', [hears('go'), calls('a')]],
  [
    'a call without a response in an earlier invocation',
    [hears('go'), calls('a'), later(hears('and?')), later(says('what?'))],
  ],
  ['a call without a response, followed by text of the model', [hears('go'), calls('a'), says('done')]],
  ['a response without a call', [hears('go'), answers('a'), says('done')]],
  ['only a response', [answers('a')]],
  ['a response twice', [hears('go'), calls('a'), answers('a'), answers('a'), says('done')]],
  ['a response twice in one event', [hears('go'), calls('a'), answers('a', 'a'), says('done')]],
  [
    'a response repeated in a later invocation',
    [hears('go'), calls('a'), answers('a'), says('done'), later(hears('and?')), later(answers('a'))],
  ],
  ['a response before its call', [hears('go'), answers('a'), calls('a'), says('done')]],
  ['a response before its call and again after it', [hears('go'), answers('a'), calls('a'), answers('a')]],
  ['a batch of three calls with two responses', [hears('go'), calls('a', 'b', 'c'), answers('c', 'a')]],
  [
    'a batch of three calls whose second response comes in a later invocation',
    [hears('go'), calls('a', 'b', 'c'), answers('b'), later(hears('and?')), later(answers('c'))],
  ],
  [
    'text of the user between a call and its response',
    [hears('go'), calls('a'), hears('wait'), answers('a'), says('done')],
  ],
  [
    'text of another agent between a call and its response',
    [hears('go'), calls('a'), { ...says('psst'), author: 'other' }, answers('a')],
  ],
  ['three texts of the model', [hears('go'), says('one'), calls('a'), answers('a'), says('two'), says('three')]],
  ['a confirmation without an answer', [hears('go'), calls('a'), question('q', 'a')]],
  ['an approved confirmation without a response', [hears('go'), calls('a'), question('q', 'a'), decision('q', true)]],
  [
    'a denied confirmation and the response',
    [hears('go'), calls('a'), question('q', 'a'), decision('q', false), answers('a')],
  ],
  ['an answer without a pending request', [hears('go'), decision('q', true)]],
  [
    'a long-running call without a result',
    [hears('go'), calls('a'), handle('a'), later(hears('and?')), later(says('soon'))],
  ],
  [
    'a long-running call with its result in a later invocation',
    [
      hears('go'),
      calls('a'),
      handle('a'),
      later(hears('and?')),
      later(says('soon')),
      { ...decision('a', true), content: { role: 'user', parts: [response('a')] } },
    ],
  ],
  ['a call written by the user', [hears('go'), { ...calls('a'), author: 'user' }, answers('a')]],
  ['only an empty reply', [hears('go'), { author: 'agent', content: { role: 'model', parts: [] } }]],
  [
    'code with its output, and a call in the same reply',
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

/** The events of a log. With a path they belong to an agent of this tree, which may have pending work. */
export const eventsOf = (lines: readonly Line[], path: string | undefined): Event[] =>
  lines.map((line, at) => ({
    id: `old-${at}`,
    invocationId: 'e-1',
    timestamp: at + 1,
    actions: {},
    ...(path !== undefined && line.author !== 'user' && { nodeInfo: { path } }),
    ...line,
  }))
