import { expect, test } from 'vitest'
import type { Part } from '../../content/content.ts'
import type { Event } from '../../event/event.ts'
import type { InvocationHost } from '../../tool/host.ts'
import type { Plugin } from './plugin.ts'
import { showEvent } from './show-event.ts'

const host = {} as InvocationHost // looked at only by a plugin that asks for its context
const call: Part = { functionCall: { id: 'c1', name: 'pay', args: { amount: 5 } } }
const said: Event = {
  id: 'e1',
  invocationId: 'i1',
  author: 'agent',
  timestamp: 1,
  nodeInfo: { path: 'agent' },
  content: { role: 'model', parts: [{ text: 'secret' }, call] },
  actions: { stateDelta: { pin: '1234' }, transferToAgent: 'next' },
}
const answered: Event = {
  ...said,
  content: { role: 'tool', parts: [{ functionResponse: { id: 'c1', name: 'pay', response: { pin: '1234' } } }] },
}
const failed: Event = { ...said, errorCode: 'MODEL_ERROR', errorMessage: 'secret' }
const decided: Event = {
  ...said,
  author: 'user',
  content: {
    role: 'user',
    parts: [{ functionResponse: { id: 'q1', name: 'adk_request_confirmation', response: { confirmed: false } } }],
  },
}
const asks: Event = { ...said, author: 'user', content: { role: 'user', parts: [{ text: 'secret' }] } }
const silent: Event = { id: 'e2', invocationId: 'i1', author: 'agent', timestamp: 1, actions: {} }

async function shown(event: Event, ...changes: Plugin['onEvent'][]): Promise<Event> {
  const plugins = changes.map((onEvent, at) => ({ name: `p${at}`, ...(onEvent && { onEvent }) }))
  return await showEvent(plugins, host, event, () => {})
}

/** As a plugin leaves it that changes these members. */
const changed = (event: Event, change: object): Promise<Event> =>
  shown(event, (given) => ({ ...given.event, ...change }) as Event)

const content = (event: Event, ...parts: object[]) => ({ content: { ...event.content, parts } })

test('an event that no plugin changes stays as it is', async () => {
  expect(await shown(said)).toBe(said)
  expect(await shown(said, undefined, () => undefined)).toEqual(said)
})

test('each plugin sees what the one before left', async () => {
  const add = (letter: string): Required<Plugin>['onEvent'] => {
    return ({ event }) => ({ ...event, customMetadata: { told: `${event.customMetadata?.told ?? ''}${letter}` } })
  }
  expect((await shown(said, add('a'), add('b'))).customMetadata).toEqual({ told: 'ab' })
})

test.each<[string, Event, object]>([
  ['the text beside a call', said, content(said, { text: '***' }, call)],
  ['that there is text', said, content(said, call)],
  ['that there is more text', said, content(said, { text: 'secret' }, call, { text: 'and more' })],
  [
    'what a tool answered',
    answered,
    content(answered, { functionResponse: { id: 'c1', name: 'pay', response: { pin: '****' } } }),
  ],
  ['what a user said', asks, content(asks, { text: '***' })],
  ['state that was written', said, { actions: { ...said.actions, stateDelta: { pin: '****' } } }],
  ['an artifact that was written', said, { actions: { ...said.actions, artifactDelta: { 'a.txt': 1 } } }],
  ['what is noted about it', said, { customMetadata: { seen: true } }],
  ['what it cost', said, { usageMetadata: { totalTokenCount: 1 } }],
  ['what it is grounded on', said, { groundingMetadata: {}, citationMetadata: {} }],
  ['how an error is told', failed, { errorMessage: '***' }],
])('may change %s', async (_what, event, change) => {
  expect(await changed(event, change)).toEqual({ ...event, ...change })
})

test.each<[string, Event, object]>([
  ['its id', said, { id: 'x' }],
  ['whose it is', said, { author: 'user' }],
  ['what it belongs to', said, { invocationId: 'x', nodeInfo: { path: 'x' }, branch: 'x', isolationScope: 'x' }],
  ['when it was', said, { timestamp: 2 }],
  ['that it is whole', said, { partial: true }],
  ['whom it waits for', said, { longRunningToolIds: ['c1'] }],
  ['that nothing failed', said, { errorCode: 'MODEL_ERROR', errorMessage: 'made up' }],
  ['what failed', failed, { errorCode: 'CANCELLED' }],
  ['who speaks', said, { content: { ...said.content, role: 'user' } }],
  ['that it says something', said, { content: undefined }],
  ['that something is called', said, content(said, { text: 'secret' })],
  ['what is called', said, content(said, { functionCall: { id: 'c1', name: 'wipe', args: {} } })],
  ['which call it is', said, content(said, { functionCall: { id: 'c2', name: 'pay', args: {} } })],
  ['the arguments of a call', said, content(said, { functionCall: { id: 'c1', name: 'pay', args: { amount: 500 } } })],
  ['how often it is called', said, content(said, call, { functionCall: { id: 'c2', name: 'pay', args: {} } })],
  ['that nothing is run', said, content(said, call, { executableCode: { language: 'PYTHON', code: '1' } })],
  ['that there is an answer', answered, content(answered)],
  ['to what', answered, content(answered, { functionResponse: { id: 'c2', name: 'pay', response: {} } })],
  [
    'that it is the last',
    answered,
    content(answered, { functionResponse: { id: 'c1', name: 'pay', response: {}, willContinue: true } }),
  ],
  [
    'what a human decided',
    decided,
    content(decided, {
      functionResponse: { id: 'q1', name: 'adk_request_confirmation', response: { confirmed: true } },
    }),
  ],
  ['who goes on', said, { actions: { ...said.actions, transferToAgent: 'other' } }],
  ['that somebody else does', said, { actions: { stateDelta: { pin: '1234' } } }],
  ['that it goes on', said, { actions: { ...said.actions, escalate: true, endOfAgent: true } }],
])('cannot change %s', async (_what, event, change) => {
  expect(await changed(event, change)).toEqual(event)
})

test('may add words to an event that says nothing', async () => {
  const words = { role: 'model', parts: [{ text: 'hello' }] } as const
  expect(await changed(silent, { content: words })).toEqual({ ...silent, content: words })
})
