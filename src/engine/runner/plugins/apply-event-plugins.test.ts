import { expect, test } from 'vitest'
import type { Part } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import type { InvocationHost } from '../../context/invocation-host.ts'
import { applyEventPlugins } from './apply-event-plugins.ts'
import type { Plugin } from './plugin.ts'

const host = {} as InvocationHost // read only by a plugin that uses its context
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

async function applied(event: Event, ...changes: Plugin['onEvent'][]): Promise<Event> {
  const plugins = changes.map((onEvent, at) => ({ name: `p${at}`, ...(onEvent && { onEvent }) }))
  return await applyEventPlugins(plugins, host, event, () => {})
}

/** The event after a plugin has changed these members. */
const changed = (event: Event, change: object): Promise<Event> =>
  applied(event, ({ event: copy }) => ({ ...copy, ...change }) as Event)

const content = (event: Event, ...parts: object[]) => ({ content: { ...event.content, parts } })

test('applyEventPlugins() returns an event unchanged if no plugin changes it', async () => {
  expect(await applied(said)).toBe(said)
  expect(await applied(said, undefined, () => undefined)).toEqual(said)
})

test('applyEventPlugins() passes the event of one plugin to the next', async () => {
  const add = (letter: string): Required<Plugin>['onEvent'] => {
    return ({ event }) => ({ ...event, customMetadata: { seenBy: `${event.customMetadata?.seenBy ?? ''}${letter}` } })
  }
  expect((await applied(said, add('a'), add('b'))).customMetadata).toEqual({ seenBy: 'ab' })
})

test.each<[string, Event, object]>([
  ['the text next to a call', said, content(said, { text: '***' }, call)],
  ['the presence of text', said, content(said, call)],
  ['the number of texts', said, content(said, { text: 'secret' }, call, { text: 'and more' })],
  [
    'the response of a tool',
    answered,
    content(answered, { functionResponse: { id: 'c1', name: 'pay', response: { pin: '****' } } }),
  ],
  ['the text of a user', asks, content(asks, { text: '***' })],
  ['the state delta', said, { actions: { ...said.actions, stateDelta: { pin: '****' } } }],
  ['the artifact delta', said, { actions: { ...said.actions, artifactDelta: { 'a.txt': 1 } } }],
  ['customMetadata', said, { customMetadata: { seen: true } }],
  ['usageMetadata', said, { usageMetadata: { totalTokenCount: 1 } }],
  ['groundingMetadata', said, { groundingMetadata: {}, citationMetadata: {} }],
  ['the error message', failed, { errorMessage: '***' }],
])('onEvent may change %s', async (_what, event, change) => {
  expect(await changed(event, change)).toEqual({ ...event, ...change })
})

test.each<[string, Event, object]>([
  ['the id', said, { id: 'x' }],
  ['the author', said, { author: 'user' }],
  [
    'the invocation, path, branch and scope',
    said,
    { invocationId: 'x', nodeInfo: { path: 'x' }, branch: 'x', isolationScope: 'x' },
  ],
  ['the timestamp', said, { timestamp: 2 }],
  ['partial', said, { partial: true }],
  ['longRunningToolIds', said, { longRunningToolIds: ['c1'] }],
  ['a success into an error', said, { errorCode: 'MODEL_ERROR', errorMessage: 'made up' }],
  ['the error code', failed, { errorCode: 'CANCELLED' }],
  ['the role', said, { content: { ...said.content, role: 'user' } }],
  ['the presence of content', said, { content: undefined }],
  ['the presence of a call', said, content(said, { text: 'secret' })],
  ['the name of a call', said, content(said, { functionCall: { id: 'c1', name: 'wipe', args: {} } })],
  ['the id of a call', said, content(said, { functionCall: { id: 'c2', name: 'pay', args: {} } })],
  ['the arguments of a call', said, content(said, { functionCall: { id: 'c1', name: 'pay', args: { amount: 500 } } })],
  ['the number of calls', said, content(said, call, { functionCall: { id: 'c2', name: 'pay', args: {} } })],
  ['the presence of code', said, content(said, call, { executableCode: { language: 'PYTHON', code: '1' } })],
  ['the presence of a response', answered, content(answered)],
  [
    'the call id of a response',
    answered,
    content(answered, { functionResponse: { id: 'c2', name: 'pay', response: {} } }),
  ],
  [
    'willContinue of a response',
    answered,
    content(answered, { functionResponse: { id: 'c1', name: 'pay', response: {}, willContinue: true } }),
  ],
  [
    'an approver’s decision',
    decided,
    content(decided, {
      functionResponse: { id: 'q1', name: 'adk_request_confirmation', response: { confirmed: true } },
    }),
  ],
  ['the target of a transfer', said, { actions: { ...said.actions, transferToAgent: 'other' } }],
  ['the presence of a transfer', said, { actions: { stateDelta: { pin: '1234' } } }],
  ['escalate and endOfAgent', said, { actions: { ...said.actions, escalate: true, endOfAgent: true } }],
])('onEvent cannot change %s', async (_what, event, change) => {
  expect(await changed(event, change)).toEqual(event)
})

test('onEvent may add text to an event without content', async () => {
  const text = { role: 'model', parts: [{ text: 'hello' }] } as const
  expect(await changed(silent, { content: text })).toEqual({ ...silent, content: text })
})
