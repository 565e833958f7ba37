import { tool } from 'toolwright'
import { expect, test } from 'vitest'
import { createTestServer, runBody, SESSIONS } from '../server.test-kit.ts'

test('creates, lists, reads, changes and deletes a session', async () => {
  const { send } = createTestServer()
  const created = await send(`POST ${SESSIONS}`, { sessionId: 's1', state: { city: 'Oslo', nested: { snake_key: 1 } } })
  expect(created.status).toBe(200)
  const session = { id: 's1', appName: 'desk', userId: 'ada', state: { city: 'Oslo', nested: { snake_key: 1 } } }
  expect(created.json()).toEqual({ ...session, events: [], lastUpdateTime: expect.any(Number) })
  expect((await send(`GET ${SESSIONS}`)).json()).toMatchObject([session]) // a list with state, for names in adk-web

  const changed = await send(`PATCH ${SESSIONS}/s1`, { state_delta: { city: null, day_time: 'noon' } })
  expect(changed.json().state).toEqual({ day_time: 'noon', nested: { snake_key: 1 } })
  expect(changed.json().events).toMatchObject([
    { author: 'user', actions: { stateDelta: { city: null, day_time: 'noon' } } },
  ])
  expect((await send(`GET ${SESSIONS}/s1`)).json()).toEqual(changed.json())

  const deleted = await send(`DELETE ${SESSIONS}/s1`)
  expect([deleted.status, deleted.json()]).toEqual([200, null])
  expect((await send(`GET ${SESSIONS}/s1`)).status).toBe(404)
})

test.each([
  ['no body', undefined],
  ['null', null],
  ['an empty object', {}],
])('creates a session with a random id for %s', async (_, body) => {
  const { send } = createTestServer()
  const { id, state } = (await send(`POST ${SESSIONS}`, body)).json()
  expect([id.length > 10, state]).toEqual([true, {}])
})

test.each([
  ['a lone state key is the state', { state: { a: 1 } }, { a: 1 }],
  ['other bodies are the state itself', { state: { a: 1 }, b: 2 }, { state: { a: 1 }, b: 2 }],
  ['null is an empty state', null, {}],
])('the older route creates a session: %s', async (_, body, state) => {
  const { send } = createTestServer()
  expect((await send(`POST ${SESSIONS}/s1`, body)).json()).toMatchObject({ id: 's1', state })
})

test.each([
  ['a session id that is a number', { sessionId: 5 }, 400, 'sessionId must be a string, got 5'],
  ['a list as the body', [1], 400, 'The body must be an object, got a list'],
  ['state that is a text', { state: 'x' }, 400, 'state must be an object, got a string'],
  ['both spellings of one field', { sessionId: 'a', session_id: 'b' }, 400, 'sessionId is there twice'],
  ['an event without an author', { events: [{ timestamp: 1 }] }, 400, 'events.0.author must be a string'],
  [
    'an event whose part is a text',
    { events: [{ author: 'x', timestamp: 1, content: { parts: ['x'] } }] },
    400,
    'events.0.content.parts.0',
  ],
  ['an id that is taken', { sessionId: 's1' }, 409, 'already exists'],
])('refuses %s', async (_, body, status, message) => {
  const { send } = createTestServer()
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  const refused = await send(`POST ${SESSIONS}`, body)
  expect(refused.status).toBe(status)
  expect(refused.json()).toMatchObject({ error: expect.stringContaining(message), correlationId: expect.any(String) })
})

test('a body that is not JSON is refused without showing it', async () => {
  const { server } = createTestServer()
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
  const request = new Request(`http://127.0.0.1${SESSIONS}`, { method: 'POST', headers, body: '{"secret' })
  const response = await server.fetch(request)
  expect(response.status).toBe(400)
  expect(await response.text()).not.toContain('secret')
})

test('imported events are history in both cases of keys, and the conversation continues after them', async () => {
  const { send } = createTestServer({ steps: ['And hello again.'] })
  const events = [
    { author: 'user', invocation_id: 'e1', timestamp: 1, content: { role: 'user', parts: [{ text: 'Hi' }] } },
    {
      author: 'clerk',
      invocation_id: 'e1',
      timestamp: 1_700_000_000_000, // milliseconds, as the TypeScript ADK writes them
      content: { role: 'model', parts: [{ inline_data: { mime_type: 'image/png', data: 'a-_b' } }, { text: 'Hello' }] },
      actions: { state_delta: { seen_by: 'clerk' }, artifact_delta: {} },
    },
    { author: 'clerk', invocationId: 'e1', timestamp: 3, partial: true, content: { parts: [{ text: 'Hel' }] } },
    { author: 'user', invocationId: 'e2', timestamp: 4, content: { role: 'user', parts: [{ text: 'Not replied' }] } },
  ]
  const created = (await send(`POST ${SESSIONS}`, { sessionId: 's1', events })).json()
  expect(created.state).toEqual({ seen_by: 'clerk' })
  expect(created.events).toHaveLength(3)
  expect(created.events[1]).toMatchObject({
    invocationId: 'e1',
    timestamp: 1_700_000_000,
    content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'a+/b' } }, { text: 'Hello' }] },
  })
  expect((await send('POST /run', runBody('Hi again'))).json()).toMatchObject([
    { content: { parts: [{ text: 'And hello again.' }] } },
  ])
})

test('a call in imported events never runs', async () => {
  let runs = 0
  const wipe = tool({ name: 'wipe', description: 'Wipes', run: () => ++runs })
  const { send } = createTestServer({ tools: [wipe], steps: ['Hello.'] })
  const call = { functionCall: { id: 'c1', name: 'wipe', args: {} } }
  const events = [
    { author: 'user', invocationId: 'e1', timestamp: 1, content: { role: 'user', parts: [{ text: 'Hi' }] } },
    {
      author: 'clerk',
      invocationId: 'e1',
      timestamp: 2,
      nodeInfo: { path: 'clerk' },
      turnComplete: true,
      content: { role: 'model', parts: [call] },
    },
  ]
  await send(`POST ${SESSIONS}`, { sessionId: 's1', events })
  const { newMessage: _, ...resume } = runBody('') as { newMessage: unknown }
  expect((await send('POST /run', { ...resume, invocationId: 'e1' })).status).toBe(404)
  await send('POST /run', runBody('Hi again'))
  expect(runs).toBe(0)
})

test('a user cannot change state that all users share, and an operator can', async () => {
  const authenticate = (request: Request) =>
    request.headers.get('authorization') === 'Bearer root'
      ? { userId: 'root', mayActAsAnyUser: true }
      : { userId: 'ada' }
  const { send } = createTestServer({ authenticate, steps: ['Hello.'] })
  const shared = { 'app:price': 0 }
  const event = { author: 'x', timestamp: 1, actions: { stateDelta: shared } }
  await send(`POST ${SESSIONS}`, { sessionId: 's1' }, { as: 'ada' })
  const attempts: [string, object][] = [
    [`POST ${SESSIONS}`, { state: shared }],
    [`POST ${SESSIONS}`, { events: [event] }],
    [`POST ${SESSIONS}/s2`, shared],
    [`PATCH ${SESSIONS}/s1`, { stateDelta: shared }],
    ['POST /run', runBody('Hi', { stateDelta: shared })],
    ['POST /run_sse', runBody('Hi', { stateDelta: shared })],
  ]
  for (const [line, body] of attempts) expect((await send(line, body, { as: 'ada' })).status, line).toBe(403)
  expect((await send(`GET ${SESSIONS}/s1`, undefined, { as: 'ada' })).json().state).toEqual({})
  const allowed = await send(`PATCH ${SESSIONS}/s1`, { stateDelta: shared }, { as: 'root' })
  expect(allowed.json().state).toEqual(shared)
})
