// Malformed and interrupted logs, line by line.
import type { Content, Event, JsonObject, Part } from 'toolwright'

/** An event without the members that every event has. */
export type Line = {
  readonly author: string
  readonly content: Content
  readonly invocationId?: string
} & Partial<Event>

export const userText = (text: string): Line => ({ author: 'user', content: { role: 'user', parts: [{ text }] } })
export const modelText = (text: string): Line => ({ author: 'agent', content: { role: 'model', parts: [{ text }] } })
export const callPart = (id: string, name = 'refund'): Part => ({ functionCall: { id, name, args: { amount: 1 } } })
export const modelCalls = (...ids: string[]): Line => ({
  author: 'agent',
  content: { role: 'model', parts: ids.map((id) => callPart(id)) },
})
export const responsePart = (id: string, response: JsonObject = { refunded: 1 }): Part => ({
  functionResponse: { id, name: 'refund', response },
})
export const toolResponses = (...ids: string[]): Line => ({
  author: 'agent',
  content: { role: 'tool', parts: ids.map((id) => responsePart(id)) },
})
export const inLaterInvocation = (line: Line): Line => ({ ...line, invocationId: 'e-2' })
export const pendingHandle = (id: string): Line => ({
  ...modelCalls(id),
  content: {
    role: 'tool',
    parts: [{ functionResponse: { id, name: 'refund', response: { ticket: 7 }, willContinue: true } }],
  },
})

export const confirmationRequest = (id: string, callId: string): Line => ({
  author: 'agent',
  longRunningToolIds: [id],
  content: {
    role: 'model',
    parts: [{ functionCall: { id, name: 'adk_request_confirmation', args: { originalFunctionCall: { id: callId } } } }],
  },
})
export const confirmationAnswer = (id: string, confirmed: boolean): Line => ({
  author: 'user',
  content: {
    role: 'user',
    parts: [{ functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed } } }],
  },
})

export const malformedLogs: readonly [name: string, lines: readonly Line[]][] = [
  ['a complete invocation', [userText('go'), modelCalls('a'), toolResponses('a'), modelText('done')]],
  ['a call without a response', [userText('go'), modelCalls('a')]],
  [
    'a call without a response in an earlier invocation',
    [userText('go'), modelCalls('a'), inLaterInvocation(userText('and?')), inLaterInvocation(modelText('what?'))],
  ],
  ['a call without a response, followed by text of the model', [userText('go'), modelCalls('a'), modelText('done')]],
  ['a response without a call', [userText('go'), toolResponses('a'), modelText('done')]],
  ['only a response', [toolResponses('a')]],
  ['a response twice', [userText('go'), modelCalls('a'), toolResponses('a'), toolResponses('a'), modelText('done')]],
  ['a response twice in one event', [userText('go'), modelCalls('a'), toolResponses('a', 'a'), modelText('done')]],
  [
    'a response repeated in a later invocation',
    [
      userText('go'),
      modelCalls('a'),
      toolResponses('a'),
      modelText('done'),
      inLaterInvocation(userText('and?')),
      inLaterInvocation(toolResponses('a')),
    ],
  ],
  ['a response before its call', [userText('go'), toolResponses('a'), modelCalls('a'), modelText('done')]],
  [
    'a response before its call and again after it',
    [userText('go'), toolResponses('a'), modelCalls('a'), toolResponses('a')],
  ],
  ['a batch of three calls with two responses', [userText('go'), modelCalls('a', 'b', 'c'), toolResponses('c', 'a')]],
  [
    'a batch of three calls whose second response comes in a later invocation',
    [
      userText('go'),
      modelCalls('a', 'b', 'c'),
      toolResponses('b'),
      inLaterInvocation(userText('and?')),
      inLaterInvocation(toolResponses('c')),
    ],
  ],
  [
    'text of the user between a call and its response',
    [userText('go'), modelCalls('a'), userText('wait'), toolResponses('a'), modelText('done')],
  ],
  [
    'text of another agent between a call and its response',
    [userText('go'), modelCalls('a'), { ...modelText('psst'), author: 'other' }, toolResponses('a')],
  ],
  [
    'three texts of the model',
    [userText('go'), modelText('one'), modelCalls('a'), toolResponses('a'), modelText('two'), modelText('three')],
  ],
  ['a confirmation without an answer', [userText('go'), modelCalls('a'), confirmationRequest('q', 'a')]],
  [
    'an approved confirmation without a response',
    [userText('go'), modelCalls('a'), confirmationRequest('q', 'a'), confirmationAnswer('q', true)],
  ],
  [
    'a denied confirmation and the response',
    [
      userText('go'),
      modelCalls('a'),
      confirmationRequest('q', 'a'),
      confirmationAnswer('q', false),
      toolResponses('a'),
    ],
  ],
  ['an answer without a pending request', [userText('go'), confirmationAnswer('q', true)]],
  [
    'a long-running call without a result',
    [
      userText('go'),
      modelCalls('a'),
      pendingHandle('a'),
      inLaterInvocation(userText('and?')),
      inLaterInvocation(modelText('soon')),
    ],
  ],
  [
    'a long-running call with its result in a later invocation',
    [
      userText('go'),
      modelCalls('a'),
      pendingHandle('a'),
      inLaterInvocation(userText('and?')),
      inLaterInvocation(modelText('soon')),
      { ...confirmationAnswer('a', true), content: { role: 'user', parts: [responsePart('a')] } },
    ],
  ],
  ['a call written by the user', [userText('go'), { ...modelCalls('a'), author: 'user' }, toolResponses('a')]],
  ['only an empty reply', [userText('go'), { author: 'agent', content: { role: 'model', parts: [] } }]],
  [
    'code with its output, and a call in the same reply',
    [
      userText('go'),
      {
        author: 'agent',
        content: {
          role: 'model',
          parts: [{ executableCode: { id: 'x', language: 'PYTHON', code: '1' } }, callPart('a')],
        },
      },
      {
        author: 'agent',
        content: {
          role: 'tool',
          parts: [{ codeExecutionResult: { id: 'x', outcome: 'OUTCOME_OK', output: '1' } }, responsePart('a')],
        },
      },
    ],
  ],
  [
    'code without its output',
    [
      userText('go'),
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
