import {
  agentTool,
  InMemorySessionService,
  LlmAgent,
  type ReadonlyContext,
  SequentialAgent,
  StaticToolset,
  tool,
} from 'toolwright'
import { bearerTokens } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { SignedSessions } from '../../bench/signed-sessions.ts'
import { approval, createTestServer, runBody, SESSIONS, type TestServerOptions } from '../../server.test-kit.ts'

let charged: number[] = []
const charge = tool({
  name: 'charge',
  description: 'Charges',
  parameters: z.object({ amount: z.number() }),
  requiresConfirmation: true,
  run: ({ amount }, { invocation }) => {
    charged.push(amount)
    return { charged: amount, agent: invocation.agentName }
  },
})

function devServer(options: TestServerOptions = {}) {
  charged = []
  return createTestServer({ dev: true, ...options })
}

test('describes the apps', async () => {
  const { send } = devServer({ tours: { desk: ['Hi'] } })
  const app = { name: 'desk', rootAgent: 'clerk', description: 'Answers', tour: ['Hi'], hasLive: false }
  expect((await send('GET /dev/info')).json()).toEqual({
    version: expect.stringMatching(/^\d/),
    userId: 'user',
    mayActAsAnyUser: true,
    apps: [app],
  })
})

test('pages through the log with records, without what only the body of a tool may see', async () => {
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    run: (_, context) => context.requestInput({ key: 'k', message: 'Which?', sealed: 'a sealed secret' }),
  })
  const { send } = devServer({ tools: [ask], steps: [{ calls: [{ id: 'c1', name: 'ask' }] }] })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  await send('POST /run', runBody('Go'))
  const log = `GET /dev${SESSIONS}/s1/log`
  const { entries, lastSeq } = (await send(log)).json()
  expect(entries.map(({ seq }: { seq: number }) => seq)).toEqual(Array.from({ length: lastSeq }, (_, at) => at + 1))
  expect(entries.map(({ record }: { record?: { type: string } }) => record?.type)).toContain('request')
  expect(JSON.stringify(entries)).not.toContain('a sealed secret')
  expect((await send(`${log}?fromSeq=2&limit=1`)).json()).toEqual({ entries: [entries[1]], lastSeq })
  expect((await send(`${log}?fromSeq=${lastSeq + 1}`)).json()).toEqual({ entries: [], lastSeq })
  for (const query of ['fromSeq=0', 'fromSeq=x', 'limit=-1']) expect((await send(`${log}?${query}`)).status).toBe(400)
  expect((await send(`GET /dev${SESSIONS}/other/log`)).status).toBe(404)
})

test('tells the first messages of sessions, for sessions without a name', async () => {
  const { send } = devServer({ steps: ['One.', 'Two.', 'Three.'] })
  for (const sessionId of ['s1', 's2', 'empty']) await send(`POST ${SESSIONS}`, { sessionId, state: { city: 'Oslo' } })
  await send('POST /run', runBody(' Where is A-7? '))
  await send('POST /run', runBody('And B-2?'))
  await send('POST /run', runBody('x'.repeat(5_000), { sessionId: 's2' }))
  const read = async (...ids: string[]) =>
    await send(
      `GET /dev${SESSIONS.replace(/sessions$/, 'first-messages')}?${ids.map((id) => `session=${id}`).join('&')}`,
    )
  const messages = [
    { sessionId: 's1', text: 'Where is A-7?' },
    { sessionId: 's2', text: 'x'.repeat(200) },
  ]
  expect((await read('s1', 's2', 'empty', 'other')).json()).toEqual({ messages })
  expect((await read()).json()).toEqual({ messages: [] })
  expect((await read(...Array.from({ length: 21 }, (_, at) => `s${at}`))).status).toBe(400)
})

test('copies a session up to the invocation before', async () => {
  const { send } = devServer({ steps: ['One.', 'Two.', 'Another two.'] })
  await send(`POST ${SESSIONS}`, { sessionId: 's1', state: { city: 'Oslo' } })
  await send('POST /run', runBody('First'))
  const [{ invocationId }] = (await send('POST /run', runBody('Second'))).json()
  const copy = (await send(`POST /dev${SESSIONS}/s1/fork`, { invocationId })).json()
  expect(copy.state).toEqual({ city: 'Oslo' })
  expect(copy.events.map(({ content }: { content: { parts: [{ text: string }] } }) => content.parts[0].text)).toEqual([
    'First',
    'One.',
  ])
  const again = (await send('POST /run', runBody('Second', { sessionId: copy.id }))).json()
  expect(again[0].content.parts).toEqual([{ text: 'Another two.' }])
  expect((await send(`POST /dev${SESSIONS}/s1/fork`, { invocationId: 'other' })).status).toBe(404)
})

test('lists the tools of every agent, also of agents behind tools and in toolsets', async () => {
  const books = new StaticToolset([tool({ name: 'find_book', description: 'Finds', effect: 'none', run: () => 1 })])
  const inner = new LlmAgent({ name: 'inner', description: 'Inner', tools: [books] })
  const { send } = devServer({ tools: [charge, agentTool(inner)] })
  const tools = async (agent: string) => (await send(`GET /dev/apps/desk/agents/${agent}/tools?userId=ada`)).json()
  expect(await tools('clerk')).toMatchObject([
    { name: 'charge', effect: 'atMostOnce', needsConfirmation: 'always', isLongRunning: false, hasAuth: false },
    { name: 'inner', effect: 'none', needsConfirmation: 'never' },
  ])
  expect(await tools('inner')).toMatchObject([
    { name: 'find_book', toolset: 'static', declaration: { name: 'find_book' } },
  ])
  expect((await send('GET /dev/apps/desk/agents/other/tools')).status).toBe(404)
  expect((await send(`GET ${SESSIONS}`)).json()).toEqual([])
})

test('lists the tools of a toolset in a session of the tool bench, which no recovery sweep continues', async () => {
  const sessions: string[] = []
  const toolset = {
    name: 'books',
    listTools: async ({ invocation }: ReadonlyContext) => {
      sessions.push(invocation.session.id)
      return []
    },
    close: async () => {},
  }
  const sessionService = new InMemorySessionService()
  const { send } = devServer({ tools: [toolset], services: { sessionService } })
  await send('GET /dev/apps/desk/agents/clerk/tools?userId=ada')
  const benches = new SignedSessions('bench', { appName: 'desk', sessionService })
  const agents = sessions.map((sessionId) => benches.agentOf({ userId: 'ada', sessionId }))
  expect(await Promise.all(agents)).toEqual(['clerk'])
})

test('calls a tool through its gates: the call waits for the approval and then runs once', async () => {
  const { send } = devServer({ tools: [charge] })
  const call = await send('POST /dev/apps/desk/agents/clerk/tools/charge/call', { userId: 'ada', args: { amount: 7 } })
  expect(call.frames().at(-1).actions.requestedToolConfirmations).not.toEqual({})
  expect(charged).toEqual([])
  const [request] = (await send('GET /dev/apps/desk/pending')).json()
  expect(request).toMatchObject({ tool: 'charge', args: { amount: 7 }, sessionId: call.headers.get('x-session-id') })
  expect(request.sessionId).toMatch(/^bench-clerk-/)
  const answered = await send('POST /run_sse', runBody([approval(request.id)], { sessionId: request.sessionId }))
  expect(JSON.stringify(answered.frames())).toContain('{"charged":7,"agent":"clerk"}')
  expect(charged).toEqual([7])
  expect((await send(`GET ${SESSIONS}`)).json()).toEqual([]) // not a conversation
  const test = async (id: string, query = '') =>
    await send(`GET /dev${SESSIONS}/${request.sessionId}/calls/${id}/test${query}`)
  const saved = (await test(request.functionCallId, '?runner=vitest&file=./desk.mts')).json()
  expect(saved.name).toBe('charge.test.mts')
  for (const line of ["import app from './desk.mts'", "from 'vitest'", '"amount": 7', '"confirmed": true'])
    expect(saved.code).toContain(line)
  expect((await test(request.functionCallId)).json().code).toContain("from 'node:test'")
  expect((await test('other')).status).toBe(404)
  expect((await test(request.functionCallId, '?runner=jest')).status).toBe(400)
})

test('a call with invalid arguments, or of an unknown tool, is an error result', async () => {
  const { send } = devServer({ tools: [charge] })
  const call = async (name: string, args: object) =>
    (await send(`POST /dev/apps/desk/agents/clerk/tools/${name}/call`, { userId: 'ada', args })).text
  expect(await call('charge', { amount: 'x' })).toContain('INVALID_ARGS')
  expect(await call('charg', {})).toContain('Did you mean \\"charge\\"?')
})

test('a session whose id only looks like one of the tool bench is a normal conversation', async () => {
  const { send } = devServer({ steps: ['Hello.'] })
  const sessionId = 'bench-clerk-1'
  await send(`POST ${SESSIONS}`, { sessionId })
  const events = (await send('POST /run', runBody('Hi', { sessionId }))).json()
  expect(events[0].content.parts).toEqual([{ text: 'Hello.' }])
  expect((await send(`GET ${SESSIONS}`)).json()).toHaveLength(1)
})

test('with `authenticate`, only a client that may act as any user uses the tool bench', async () => {
  const operator = { userId: 'op', mayActAsAnyUser: true }
  const authenticate = bearerTokens({ 'token-of-ada-012345': 'ada', 'token-of-op-0123456': operator })
  const { send } = devServer({ tools: [charge], authenticate })
  const tries = async (as: string): Promise<number[]> => {
    const list = await send('GET /dev/apps/desk/agents/clerk/tools?userId=ada', undefined, { as })
    const body = { userId: 'ada', args: { amount: 9 } }
    const call = await send('POST /dev/apps/desk/agents/clerk/tools/charge/call', body, { as })
    return [list.status, call.status]
  }
  expect(await tries('token-of-ada-012345')).toEqual([403, 403])
  expect(await tries('token-of-op-0123456')).toEqual([200, 200])
  expect((await send('GET /dev/apps/desk/pending', undefined, { as: 'token-of-op-0123456' })).json()).toHaveLength(1)
})

test('shows the agents as a tree and as graphs', async () => {
  const model = scriptedModel([{ calls: [{ id: 'c1', name: 'look' }] }, 'Done.', 'Checked.'])
  const look = tool({ name: 'look', description: 'Looks', run: () => 1 })
  const writer = new LlmAgent({ name: 'writer', model, tools: [look] })
  const expert = new LlmAgent({ name: 'expert', model, tools: [look] })
  const checker = new LlmAgent({ name: 'checker', model, tools: [agentTool(expert)] })
  const { send } = devServer({ apps: { desk: new SequentialAgent({ name: 'team', subAgents: [writer, checker] }) } })
  const tree = (await send('GET /dev/apps/desk/build_graph')).json()
  expect(tree).toMatchObject({
    name: 'desk',
    root_agent: {
      name: 'team',
      type: 'SequentialAgent',
      sub_agents: [
        { name: 'writer', type: 'LlmAgent', tools: [{ name: 'look', type: 'FunctionTool' }] },
        {
          name: 'checker',
          tools: [{ name: 'expert', type: 'AgentTool', agent: { name: 'expert', tools: [{ name: 'look' }] } }],
        },
      ],
    },
  })
  const images = (await send('GET /dev/apps/desk/build_graph_image?dark_mode=true')).json()
  expect(images[''].dotSrc).toBe(images.dotSrc)
  expect(images.dotSrc).toMatch(/^digraph \{[\s\S]*"writer" -> "look"[\s\S]*\}$/)
  expect((await send('GET /dev/apps/desk/build_graph_image?node=team/writer')).json().dotSrc).not.toContain('checker')
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  const [called] = (await send('POST /run', runBody('Hi'))).json()
  const drawn = (await send(`GET /dev${SESSIONS}/s1/events/${called.id}/graph`)).json()
  expect(drawn.dotSrc).toMatch(/"writer" -> "look" \[[^\]]*penwidth/)
  expect((await send(`GET /dev${SESSIONS}/s1/events/other/graph`)).json()).toEqual({})
})

test('the span of each parallel tool call ends at its own time', async () => {
  const quick = tool({ name: 'quick', description: 'Quick', run: () => 1 })
  const slow = tool({ name: 'slow', description: 'Slow', run: () => new Promise((done) => setTimeout(done, 30)) })
  const { send } = devServer({
    tools: [quick, slow],
    steps: [{ calls: [{ name: 'quick' }, { name: 'slow' }] }, 'Done.'],
  })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  await send('POST /run', runBody('Hi'))
  const spans = (await send('GET /dev/apps/desk/debug/trace/session/s1')).json()
  const endOf = (tool: string) => spans.find(({ name }: { name: string }) => name === `execute_tool ${tool}`).end_time
  expect(endOf('quick')).toBeLessThan(endOf('slow'))
})

test('the trace of an imported session ends, whatever its events say about their scopes', async () => {
  const { send } = createTestServer({ dev: true, steps: ['Hello.'] })
  const call = (id: string, author: string) => ({
    id: `e-${id}`,
    invocationId: 'i1',
    timestamp: 1,
    author,
    actions: {},
    turnComplete: true,
    usageMetadata: { promptTokenCount: 1 },
    content: { role: 'model', parts: [{ functionCall: { id, name: 'pay', args: {} } }] },
  })
  const deep = Array.from({ length: 2_000 }, (_, at) => `a@c${at}`).join('/')
  const events = [
    call('c1', 'clerk/x@c1'),
    call('c2', 'clerk/x@c1'),
    ...Array.from({ length: 50 }, (_, at) => call(`d${at}`, deep)),
  ]
  await send(`POST ${SESSIONS}`, { sessionId: 's1', events })
  await send('POST /run', runBody('Hi'))
  const spans = (await send('GET /dev/apps/desk/debug/trace/session/s1')).json()
  expect(spans.filter(({ name }: { name: string }) => name === 'call_llm')).toHaveLength(53)
})

test('the trace of a long session is refused, and the spans of other sessions are still found', async () => {
  const { send } = devServer({ steps: Array(14).fill('Hello.'), limits: { responseBytes: 100_000 } })
  const long = 'x'.repeat(9_000)
  for (const sessionId of ['short', 's1']) await send(`POST ${SESSIONS}`, { sessionId })
  const [event] = (await send('POST /run', runBody('Hi', { sessionId: 'short' }))).json()
  for (let n = 0; n < 12; n++) await send('POST /run', runBody(long)) // more than a response may have
  const imported = Array.from({ length: 14 }, (_, n) => ({
    ...{ id: `i${n}`, invocationId: 'v', author: n === 0 ? 'user' : 'clerk', timestamp: n, turnComplete: n > 0 },
    content: { role: n === 0 ? 'user' : 'model', parts: [{ text: 'x'.repeat(3_000) }] },
  }))
  await send(`POST ${SESSIONS}`, { sessionId: 's3', events: imported }) // its spans repeat the messages
  for (const session of ['s1', 's3']) {
    await send(`GET ${SESSIONS}/${session}?limit=1`)
    const refused = await send(`GET /dev/apps/desk/debug/trace/session/${session}`)
    expect([session, refused.status, refused.text]).toEqual([session, 413, expect.stringContaining('TOO_LARGE')])
  }
  expect((await send('GET /dev/apps/desk/debug/trace/session/short')).json()).toHaveLength(3)
  expect((await send(`GET /dev/apps/desk/debug/trace/${event.id}`)).json()).toMatchObject({
    'gcp.vertex.agent.event_id': event.id,
  })
})

test('derives spans of a session from its log', async () => {
  const look = tool({ name: 'look', description: 'Looks', run: () => ({ ok: 1 }) })
  const { send } = devServer({ tools: [look], steps: [{ calls: [{ id: 'c1', name: 'look' }] }, 'Done.'] })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  const events = (await send('POST /run', runBody('Hi'))).json()
  const spans = (await send('GET /dev/apps/desk/debug/trace/session/s1')).json()
  expect(spans.map(({ name }: { name: string }) => name)).toEqual([
    'invocation',
    'invoke_agent clerk',
    'call_llm',
    'execute_tool look',
    'call_llm',
  ])
  const ids = new Set(spans.map(({ span_id }: { span_id: string }) => span_id))
  expect(ids.size).toBe(spans.length)
  for (const span of spans) {
    expect(span.end_time).toBeGreaterThanOrEqual(span.start_time)
    expect(span.start_time).toBeGreaterThan(1e18) // nanoseconds
    expect(span.parent_span_id === null || ids.has(span.parent_span_id)).toBe(true)
    // adk-web shows no trace at all if one of these is missing
    expect(span.attributes).toMatchObject({
      'gen_ai.conversation.id': 's1',
      'gcp.vertex.agent.invocation_id': events[0].invocationId,
    })
  }
  expect(spans[2].attributes['gcp.vertex.agent.event_id']).toBe(events[0].id)
  expect(JSON.parse(spans[4].attributes['gcp.vertex.agent.llm_request']).contents).toHaveLength(3)
  expect((await send(`GET /dev/apps/desk/debug/trace/${events[1].id}`)).json()).toMatchObject({
    'gen_ai.tool.name': 'look',
    'gcp.vertex.agent.tool_response': '{"ok":1}',
  })
  expect((await send('GET /dev/apps/desk/debug/trace/other')).status).toBe(404)
  expect((await send('GET /dev/apps/desk/debug/trace/session/other')).json()).toEqual([])
  // ids that a client made up push no session out of those that are searched
  await Promise.all(Array.from({ length: 1_001 }, (_, n) => send(`GET ${SESSIONS}/made-up-${n}`)))
  expect((await send('GET /dev/apps/desk/debug/trace/session/s1')).json()).toEqual(spans)
})

test('answers the requests of adk-web about features that do not exist', async () => {
  const { send } = devServer()
  const empty = { eval_sets: [], eval_results: [], tests: [] }
  for (const [path, answer] of Object.entries(empty))
    expect((await send(`GET /dev/apps/desk/${path}`)).json()).toEqual(answer)
  const builder = await send('GET /dev/apps/desk/builder?ts=1')
  expect([builder.status, builder.text]).toEqual([200, ''])
  expect((await send('GET /config/telemetry')).json()).toEqual({ telemetry: false })
})

test('describes an app to ADK clients', async () => {
  const { send } = devServer({ tools: [charge] })
  expect((await send('GET /list-apps?relative_path=./')).json()).toEqual(['desk'])
  const app = { name: 'desk', rootAgentName: 'clerk', description: 'Answers', language: 'typescript' }
  expect((await send('GET /list-apps?detailed=true')).json()).toEqual({ apps: [app] })
  const info = (await send('GET /apps/desk/app-info')).json()
  expect(info).toMatchObject({ ...app, agents: { clerk: { tools: [{ name: 'charge' }] } } })
  expect((await send('GET /version')).json()).toMatchObject({ language: 'typescript' })
})

test('shows the instructions of an agent to operators, not to every user of the app', async () => {
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel([]), instruction: 'Never offer more than 10 %.' })
  const operator = { userId: 'op', mayActAsAnyUser: true }
  const authenticate = bearerTokens({ 'token-of-ada-012345': 'ada', 'token-of-op-0123456': operator })
  const { send } = createTestServer({ apps: { desk: agent }, authenticate })
  const info = async (as: string) => (await send('GET /apps/desk/app-info', undefined, { as })).json().agents.clerk
  expect(await info('token-of-op-0123456')).toMatchObject({ name: 'clerk', instruction: 'Never offer more than 10 %.' })
  const shown = await info('token-of-ada-012345')
  expect(shown).toMatchObject({ name: 'clerk', tools: [] })
  expect(shown).not.toHaveProperty('instruction')
})

test('shows a developer where a tool threw, of runs and of the tool bench, and refuses other users', async () => {
  const ship = tool({
    name: 'ship',
    description: 'Ships',
    run: function loadVan() {
      throw new Error('The van is full.')
    },
  })
  const operator = { userId: 'op', mayActAsAnyUser: true }
  const authenticate = bearerTokens({ 'token-of-ada-012345': 'ada', 'token-of-op-0123456': operator })
  const steps = [{ calls: [{ id: 'c1', name: 'ship' }] }, 'Later.']
  const parts = { tools: [ship], steps, authenticate, services: { logger: { warn: () => {}, error: () => {} } } }
  const { send } = devServer(parts)
  const [ada, op] = [{ as: 'token-of-ada-012345' }, { as: 'token-of-op-0123456' }]
  await send(`POST ${SESSIONS}`, { sessionId: 's1' }, ada)
  const events = await send('POST /run', runBody('Go'), ada)
  expect(events.text).toContain('The van is full.')
  expect(events.text).not.toContain('loadVan')
  const stack = expect.stringMatching(/^Error: The van is full\.\n +at .*loadVan .*dev-routes\.test\.ts/)
  const read = async (session: string, options: { as: string }) =>
    await send(`GET /dev${SESSIONS}/${session}/stacks`, undefined, options)
  expect((await read('s1', op)).json()).toEqual({ stacks: [{ functionCallId: 'c1', toolName: 'ship', stack }] })
  expect((await read('other', op)).json()).toEqual({ stacks: [] })
  const refused = await read('s1', ada)
  expect([refused.status, refused.text.includes('loadVan')]).toEqual([403, false])

  const call = { userId: 'ada', args: {} }
  const bench = await send('POST /dev/apps/desk/agents/clerk/tools/ship/call', call, op)
  const session = /"sessionId":"(bench-[^"]+)"/.exec(bench.text)?.[1] ?? bench.headers.get('x-session-id') ?? ''
  expect((await read(session, op)).json()).toMatchObject({ stacks: [{ toolName: 'ship', stack }] })

  const plain = createTestServer(parts)
  expect((await plain.send(`GET /dev${SESSIONS}/s1/stacks`, undefined, op)).status).toBe(404)
})
