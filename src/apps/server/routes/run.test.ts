import { getUserChoice, InMemorySessionService, LlmAgent, longRunning, Runner, type Tool, tool } from 'toolwright'
import { bearerTokens } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { approval, createTestServer, runBody, SESSIONS, type TestClient } from '../server.test-kit.ts'

const EMPTY = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} }

async function withSession(client: TestClient): Promise<TestClient> {
  await client.send(`POST ${SESSIONS}`, { sessionId: 's1' })
  return client
}

test('runs an agent and answers with the events in the form of ADK', async () => {
  const look = tool({ name: 'look', description: 'Looks', run: () => ({ snake_key: { nested_key: 1 } }) })
  const steps = [{ calls: [{ id: 'c1', name: 'look' }] }, 'Done.']
  const { send } = await withSession(createTestServer({ tools: [look], steps }))
  const events = (await send('POST /run', runBody('Hi', { customMetadata: { trace_id: 't' } }))).json()
  expect(events).toMatchObject([
    { author: 'clerk', content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: {} } }] } },
    {
      author: 'clerk',
      content: {
        role: 'user',
        parts: [{ functionResponse: { id: 'c1', response: { snake_key: { nested_key: 1 } } } }],
      },
    },
    { author: 'clerk', content: { role: 'model', parts: [{ text: 'Done.' }] } },
  ])
  for (const event of events) {
    expect(event.actions).toEqual(EMPTY)
    expect(event.customMetadata).toEqual({ trace_id: 't' })
    expect(Math.abs(event.timestamp - Date.now() / 1000)).toBeLessThan(3600)
  }
  const session = (await send(`GET ${SESSIONS}/s1`)).json()
  expect(session.events.slice(1)).toEqual(events)
})

test('refuses a part that has a member in both letter cases', async () => {
  const { send } = createTestServer()
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  const answer = { id: 'r1', name: 'adk_request_confirmation', response: { confirmed: true } }
  const { status, text } = await send('POST /run', runBody([{ functionResponse: answer, function_response: answer }]))
  expect(status).toBe(400)
  expect(text).toContain('has functionResponse twice')
})

test('accepts a run request in snake_case', async () => {
  const { send } = await withSession(createTestServer({ steps: [{ text: 'Hello.', deltas: ['Hel', 'lo.'] }] }))
  const parts = [{ text: 'See', thought: null }, { inline_data: { mime_type: 'image/png', data: 'AA==' } }]
  const { frames } = await send('POST /run_sse', {
    app_name: 'desk',
    user_id: 'ada',
    session_id: 's1',
    new_message: { role: 'user', parts },
    streaming: true,
    state_delta: { snake_key: 1 },
    function_call_event_id: null,
  })
  expect(frames().map(({ partial, content }) => [partial, content.parts[0].text])).toEqual([
    [true, 'Hel'],
    [true, 'lo.'],
    [undefined, 'Hello.'],
  ])
  const { state, events } = (await send(`GET ${SESSIONS}/s1`)).json()
  expect(state).toEqual({ snake_key: 1 })
  expect(events[0].content.parts).toEqual([{ text: 'See' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }])
})

test('streams a confirmation, and an approved call runs once [DG-14]', async () => {
  const charged: number[] = []
  const charge = tool({
    name: 'charge',
    description: 'Charges',
    parameters: z.object({ amount: z.number() }),
    requiresConfirmation: true,
    run: ({ amount }, context) => {
      context.progress({ percent: 50 })
      charged.push(amount)
      return { charged: amount }
    },
  })
  const steps = [{ calls: [{ id: 'c1', name: 'charge', args: { amount: 5 } }] }, 'Charged.']
  const { send } = await withSession(createTestServer({ tools: [charge], steps }))
  const [, asked] = (await send('POST /run_sse', runBody('Charge 5'))).frames()
  const [id] = asked.longRunningToolIds
  expect(asked.content.parts[0].functionCall).toMatchObject({ id, name: 'adk_request_confirmation' })
  expect((await send('GET /apps/desk/users/ada/pending?sessionId=s1')).json()).toMatchObject([{ id, tool: 'charge' }])
  expect(charged).toEqual([])

  const answered = (await send('POST /run_sse', runBody([approval(id)]))).frames()
  const responses = answered.flatMap(({ partial, content }) =>
    content.parts.flatMap((part: { functionResponse?: object }) =>
      part.functionResponse ? [[partial, part.functionResponse]] : [],
    ),
  )
  expect(responses).toEqual([
    [true, { id: 'c1', name: 'charge', response: { progress: { percent: 50 } }, willContinue: true }],
    [undefined, { id: 'c1', name: 'charge', response: { charged: 5 } }],
  ])
  const repeated = await send('POST /run_sse', runBody([approval(id)]))
  expect(repeated.status).toBe(200)
  expect(charged).toEqual([5])
})

test('a long-running call has its id on the event with the call and no response until the result arrives', async () => {
  const declared = longRunning(tool({ name: 'declared', description: 'Orders', run: () => ({ status: 'ordered' }) }))
  const late = tool({
    name: 'late',
    description: 'Reviews',
    run: (_, context) => {
      context.longRunning = true
      context.state.set('review', 'open')
      return { status: 'waiting' }
    },
  })
  const calls = [
    { id: 'c1', name: 'declared' },
    { id: 'c2', name: 'late' },
    { id: 'c3', name: 'get_user_choice', args: { prompt: 'Which?', options: ['red'] } },
  ]
  const { send } = await withSession(
    createTestServer({ tools: [declared, late, getUserChoice()], steps: [{ calls }, 'Done.'] }),
  )
  const frames = (await send('POST /run_sse', runBody('Go'))).frames()
  expect(JSON.stringify(frames)).not.toContain('willContinue')
  const withCalls = frames.filter(({ content }) => content?.role === 'model')
  expect(new Set(withCalls.map(({ id }) => id)).size).toBe(1) // the same event again, with the id of the late call
  expect(withCalls.at(-1).longRunningToolIds).toEqual(['c1', 'c3', 'c2'])
  const { events, state } = (await send(`GET ${SESSIONS}/s1`)).json()
  expect(state).toEqual({ review: 'open' })
  expect(events.find(({ author }: { author: string }) => author === 'clerk').longRunningToolIds).toEqual([
    'c1',
    'c3',
    'c2',
  ])

  const answers = ['declared', 'late'].map((name, at) => ({
    functionResponse: { id: `c${at + 1}`, name, response: { ok: 1 } },
  }))
  const choice = { functionResponse: { id: 'c3', name: 'get_user_choice', response: { result: 'red' } } }
  const done = (await send('POST /run_sse', runBody([...answers, choice]))).frames()
  expect(done.at(-1).content.parts).toEqual([{ text: 'Done.' }])
})

test('a request for consent shows the page of the provider and no secret, on any route', async () => {
  const oauth2 = { clientId: 'desk', clientSecret: 'the-client-secret', redirectUri: 'http://127.0.0.1:9/callback' }
  const flow = { authorizationUrl: 'http://127.0.0.1:9/authorize', tokenUrl: 'http://127.0.0.1:9/token' }
  const mail = tool({
    name: 'mail',
    description: 'Mails',
    authConfig: {
      authScheme: { type: 'oauth2', flows: { authorizationCode: flow } },
      rawAuthCredential: { authType: 'oauth2', oauth2 },
    },
    run: () => 1,
  })
  const client = createTestServer({ dev: true, tools: [mail], steps: [{ calls: [{ id: 'c1', name: 'mail' }] }] })
  const { send } = await withSession(client)
  const run = await send('POST /run_sse', runBody('Mail'))
  const { functionCall } = run.frames().at(-1).content.parts[0]
  expect(functionCall.name).toBe('adk_request_credential')
  expect(functionCall.args).toMatchObject({
    functionCallId: 'c1',
    authConfig: { exchangedAuthCredential: { oauth2: { authUri: expect.stringContaining(flow.authorizationUrl) } } },
  })
  const routes = [
    `${SESSIONS}/s1`,
    `/dev${SESSIONS}/s1/log`,
    '/dev/apps/desk/pending',
    '/dev/apps/desk/agents/clerk/tools',
  ]
  const shown = await Promise.all(routes.map((path) => send(`GET ${path}`)))
  for (const { status, text } of [run, ...shown])
    expect([status, text.includes(oauth2.clientSecret)]).toEqual([200, false])
})

test('the same request with Last-Event-ID starts nothing and sends what followed that event', async () => {
  const look = tool({ name: 'look', description: 'Looks', run: () => ({ ok: 1 }) })
  const steps = [{ calls: [{ id: 'c1', name: 'look' }] }, 'Done.']
  const { send } = await withSession(createTestServer({ tools: [look], steps }))
  const body = runBody('Hi')
  const frames = (await send('POST /run_sse', body)).frames()
  const follow = (id: string) => send('POST /run_sse', body, { headers: { 'last-event-id': id } })
  expect((await follow(frames[0].id)).frames()).toEqual(frames.slice(1))
  expect((await follow(frames[2].id)).frames()).toEqual([])
  const stream = await send(`GET ${SESSIONS}/s1/stream?after=${frames[1].id}`)
  expect(stream.frames()).toEqual(frames.slice(2))
  expect((await follow('unknown')).status).toBe(400)
  expect((await send(`GET ${SESSIONS}/s1`)).json().events).toHaveLength(4)
})

test('Last-Event-ID of another session is refused', async () => {
  const { send } = await withSession(createTestServer({ steps: ['One.', 'Two.'] }))
  await send(`POST ${SESSIONS}`, { sessionId: 's2' })
  const [other] = (await send('POST /run_sse', runBody('Hi', { sessionId: 's2' }))).frames()
  const answer = await send('POST /run_sse', runBody('Hi'), { headers: { 'last-event-id': other.id } })
  expect(answer.status).toBe(400)
  expect(answer.text).not.toContain('Two')
})

test('an invocationId without a message continues an interrupted invocation', async () => {
  const sessionService = new InMemorySessionService()
  const started = Promise.withResolvers<void>()
  const slow = tool({
    name: 'slow',
    description: 'Waits the first time',
    effect: 'none',
    run: async (_, { signal }) => {
      started.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { ok: 1 }
    },
  })
  const fast = tool({ name: 'slow', description: 'Waits the first time', effect: 'none', run: () => ({ ok: 1 }) })
  const agent = (run: Tool) =>
    new LlmAgent({
      name: 'clerk',
      model: scriptedModel(run === slow ? [{ calls: [{ name: 'slow' }] }] : ['Done.']),
      tools: [run],
    })
  const first = new Runner({ appName: 'desk', agent: agent(slow), sessionService })
  const run = first.run({ userId: 'ada', sessionId: 's1', message: 'Go', runConfig: { detach: true } })
  await started.promise
  await first.close({ interrupt: true })
  const { send } = createTestServer({
    apps: { desk: new Runner({ appName: 'desk', agent: agent(fast), sessionService }) },
  })
  const body = { appName: 'desk', userId: 'ada', sessionId: 's1', newMessage: null, invocationId: run.invocationId }
  const events = (await send('POST /run', body)).json()
  expect(events.at(-1).content.parts).toEqual([{ text: 'Done.' }])
})

test('a session under way refuses another message, and its run is cancelled by the route', async () => {
  const started = Promise.withResolvers<void>()
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    run: async (_, { signal }) => {
      started.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  const { send } = await withSession(createTestServer({ tools: [wait], steps: [{ calls: [{ name: 'wait' }] }] }))
  const running = send('POST /run_sse', runBody('Go'))
  await started.promise
  expect((await send('POST /run_sse', runBody('And now?'))).status).toBe(409)
  const cancelled = await send(`POST ${SESSIONS}/s1/cancel`)
  expect([cancelled.status, cancelled.json()]).toEqual([200, null])
  expect((await running).frames().at(-1)).toMatchObject({ errorCode: 'CANCELLED' })
})

test('changes the state while a run is under way', async () => {
  const started = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    run: async () => {
      started.resolve()
      await gate.promise
    },
  })
  const { send } = await withSession(
    createTestServer({ tools: [wait], steps: [{ calls: [{ name: 'wait' }] }, 'Done.'] }),
  )
  const running = send('POST /run', runBody('Go'))
  await started.promise
  expect((await send(`PATCH ${SESSIONS}/s1`, { stateDelta: { theme: 'dark' } })).json().state).toEqual({
    theme: 'dark',
  })
  gate.resolve()
  expect((await running).json().at(-1).content.parts).toEqual([{ text: 'Done.' }])
})

test.each([
  ['no message', { newMessage: null }, 400, 'newMessage is missing'],
  ['a message without parts', { newMessage: { role: 'user' } }, 400, 'newMessage.parts must be a list'],
  [
    'a message with a call',
    { newMessage: { parts: [{ function_call: { name: 'x', args: {} } }] } },
    400,
    'functionCall',
  ],
  ['an unknown role', { newMessage: { role: 'system', parts: [] } }, 400, 'newMessage.role'],
  ['streaming that is a text', { streaming: 'yes' }, 400, 'streaming must be true or false'],
  ['an unknown app', { appName: 'other' }, 404, 'There is no app "other"'],
  ['an unknown session', { sessionId: 'other' }, 404, 'This user has no session "other"'],
  ['an inherited name as app', { appName: 'constructor' }, 404, 'There is no app'],
])('refuses a run with %s', async (_, more, status, message) => {
  const { send } = await withSession(createTestServer())
  for (const path of ['/run', '/run_sse']) {
    const refused = await send(`POST ${path}`, runBody('Hi', more), { headers: { accept: 'application/json' } })
    expect([refused.status, refused.json().error]).toEqual([status, expect.stringContaining(message)])
  }
  // a client that accepts a stream gets the same as one frame
  const framed = await send('POST /run_sse', runBody('Hi', more), { headers: { accept: 'text/event-stream' } })
  expect([framed.status, framed.frames()]).toEqual([
    status,
    [expect.objectContaining({ errorCode: expect.any(String) })],
  ])
})

test('previews the question about edited arguments, for those who may answer', async () => {
  const refund = tool({
    name: 'refund',
    description: 'Refunds',
    parameters: z.object({ amount: z.number().max(500) }),
    requiresConfirmation: true,
    allowEditedArgs: true,
    confirmationHint: ({ amount }) => `Refund ${amount} EUR?`,
    run: (_, { toolConfirmation }) => ({ asked: toolConfirmation?.hint }),
  })
  const steps = [{ calls: [{ id: 'c1', name: 'refund', args: { amount: 250 } }] }, 'Done.']
  const authenticate = bearerTokens({ 'token-of-ada-0123456789': 'ada', 'token-of-eve-0123456789': 'eve' })
  const { send } = createTestServer({ tools: [refund], steps, authenticate })
  const ada = { as: 'token-of-ada-0123456789' }
  await send(`POST ${SESSIONS}`, { sessionId: 's1' }, ada)
  await send('POST /run', runBody('Refund'), ada)
  const [request] = (await send('GET /apps/desk/users/ada/pending', undefined, ada)).json()
  expect(request.hint).toBe('Refund 250 EUR?')
  const preview = (user: string, body: object, as: object): ReturnType<typeof send> =>
    send(`POST /apps/desk/users/${user}/sessions/s1/pending/${request.id}/preview`, body, as)
  const { status, json } = await preview('ada', { args: { amount: 200 } }, ada)
  expect([status, json()]).toEqual([200, { hint: 'Refund 200 EUR?', args: { amount: 200 } }])
  const eve = { as: 'token-of-eve-0123456789' }
  expect((await preview('ada', { args: { amount: 200 } }, eve)).status).toBe(403)
  expect((await preview('eve', { args: { amount: 200 } }, eve)).status).toBe(404)
  for (const body of [{}, { args: 5 }, { args: [200] }, { args: { amount: 'all' } }, { args: { amount: 501 } }]) {
    expect((await preview('ada', body, ada)).status).toBe(400)
  }
  const response = { confirmed: true, args: { amount: 200 } }
  const answer = { functionResponse: { id: request.id, name: 'adk_request_confirmation', response } }
  expect((await send('POST /run', runBody([answer]), ada)).text).toContain('"asked":"Refund 200 EUR?"')
  expect((await send(`GET ${SESSIONS}/s1`, undefined, ada)).text).toContain('"hint":"Refund 200 EUR?"')
})
