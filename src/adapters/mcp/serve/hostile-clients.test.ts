// Clients that forge, replay, flood and disappear. Each refusal has a twin in which the honest client is served.
import { request as httpRequest } from 'node:http'
import { InMemorySessionService, tool } from 'toolwright'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { connect, type PostBody, post, silent, startServer } from './serve.test-kit.ts'
import { serveMcp } from './serve-mcp.ts'

const KEY = btoa('k'.repeat(32))
const authenticate = (request: Request): { userId: string } | undefined => {
  const userId = request.headers.get('authorization')?.replace('Bearer ', '')
  return userId ? { userId } : undefined
}
const as = (userId: string): { headers: Record<string, string> } => ({ headers: { authorization: `Bearer ${userId}` } })

const whoAmI = tool({
  name: 'who_am_i',
  description: 'Returns the user',
  parameters: z.object({ secret: z.string() }),
  effect: 'none',
  run: async ({ secret }, { invocation, state }) => {
    const before = state.get('secret') ?? null
    state.set('secret', secret)
    await new Promise((resolve) => setImmediate(resolve))
    return { userId: invocation.userId, session: invocation.session.id, secret, before }
  },
})

function chargeTool() {
  const charged: string[] = []
  const charge = tool({
    name: 'charge',
    description: 'Charges',
    parameters: z.object({ amount: z.number() }),
    requiresConfirmation: true,
    run: ({ amount }, { invocation }) => {
      charged.push(`${invocation.userId} ${amount}`)
      return { charged: amount }
    },
  })
  return { charge, charged }
}

const approved = { confirmation: { action: 'accept', content: { approve: true } } }
const params = { name: 'charge', arguments: { amount: 5 } }
const INVALID = { code: -32602, message: 'Invalid or expired requestState', data: { reason: 'invalid_request_state' } }

async function ask(url: string, options = {}): Promise<string> {
  const { body } = await post(url, params, options)
  const state = body.result?.requestState
  if (!state) throw new Error(JSON.stringify(body))
  return state
}

test('an honest client approves with the state it got', async () => {
  const { charge, charged } = chargeTool()
  const { url } = await startServer({ tools: [charge], authenticate })
  const requestState = await ask(url, as('ada'))
  const { body } = await post(url, { ...params, requestState, inputResponses: approved }, as('ada'))
  expect(body.result).toMatchObject({ content: [{ text: '{"charged":5}' }] })
  expect(charged).toEqual(['ada 5'])
})

test('a state of another user, call or server, a changed, used or expired state get one error, and nothing runs', async () => {
  const { charge, charged } = chargeTool()
  let now = 1_700_000_000_000
  const ports = { now: () => now }
  const { url } = await startServer({ tools: [charge], authenticate, ports })
  const other = await startServer({ tools: [charge], authenticate })
  const answer = (body: object, user = 'ada'): Promise<{ body: PostBody }> =>
    post(url, { ...params, inputResponses: approved, ...body }, as(user))
  const requestState = await ask(url, as('ada'))
  const flipped = `${requestState.slice(0, 20)}${requestState[20] === 'A' ? 'B' : 'A'}${requestState.slice(21)}`
  const forged = [
    await answer({ requestState }, 'eve'),
    await answer({ requestState, arguments: { amount: 500 } }),
    await answer({ requestState: flipped }),
    await answer({ requestState: requestState.slice(0, -4) }),
    await answer({ requestState: '' }),
    await answer({ requestState: 'x'.repeat(100_000) }),
    await answer({ requestState: await ask(other.url, as('ada')) }),
  ]
  expect(forged.map(({ body }) => body.error)).toEqual(forged.map(() => INVALID))
  expect(charged).toEqual([])
  now += 3_600_000
  expect((await answer({ requestState })).body.error).toEqual(INVALID)
  const fresh = await ask(url, as('ada'))
  expect((await answer({ requestState: fresh })).body.result).toMatchObject({ content: [{ text: '{"charged":5}' }] })
  expect((await answer({ requestState: fresh })).body.error).toEqual(INVALID)
  expect(charged).toEqual(['ada 5'])
})

test('concurrent answers with one state run the call once', async () => {
  const { charge, charged } = chargeTool()
  const { url } = await startServer({ tools: [charge], authenticate })
  const requestState = await ask(url, as('ada'))
  await Promise.all(
    Array.from({ length: 10 }, (_, id) =>
      post(url, { ...params, requestState, inputResponses: approved }, { ...as('ada'), id }),
    ),
  )
  expect(charged).toEqual(['ada 5'])
})

test('an approval that comes with the first request approves nothing', async () => {
  const { charge, charged } = chargeTool()
  const { url } = await startServer({ tools: [charge] })
  const { body } = await post(url, { ...params, inputResponses: approved })
  expect(body.result?.resultType).toBe('input_required')
  expect(charged).toEqual([])
})

test('another process continues a call, with the same key and the stored session', async () => {
  const { charge, charged } = chargeTool()
  const sessionService = new InMemorySessionService()
  const options = { tools: [charge], authenticate, sessionService, stateKey: KEY }
  const first = await startServer(options)
  const requestState = await ask(first.url, as('ada'))
  await first.close()
  const second = await startServer(options)
  const { body } = await post(second.url, { ...params, requestState, inputResponses: approved }, as('ada'))
  expect(body.result).toMatchObject({ content: [{ text: '{"charged":5}' }] })
  expect(charged).toEqual(['ada 5'])
})

test('the state does not show the session', async () => {
  const { charge } = chargeTool()
  const server = await startServer({ tools: [charge] })
  const state = await ask(server.url)
  const [request] = await server.runner.pending()
  expect(atob(state)).not.toContain(request?.sessionId)
})

test('100 clients at the same time get their own users, sessions and results', async () => {
  const { url } = await startServer({ tools: [whoAmI], authenticate, httpSessions: true })
  const results = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      const token = `user-${at % 10}`
      const client = await connect(url, { era: at % 2 ? '2025' : '2026', token })
      const { content } = await client.callTool({
        name: 'who_am_i',
        arguments: { secret: `s${at}` },
        _meta: { userId: 'root', role: 'admin', 'io.modelcontextprotocol/clientInfo': { name: 'root', version: '1' } },
      })
      const [block] = content
      const seen = JSON.parse(block?.type === 'text' ? block.text : '{}')
      expect(seen).toMatchObject({ userId: token, secret: `s${at}`, before: null })
      return seen.session
    }),
  )
  expect(new Set(results).size).toBe(100)
}, 30_000)

test('a request without a valid token is refused with 401', async () => {
  const { url } = await startServer({ tools: [whoAmI], authenticate })
  const response = await fetch(url, { method: 'POST', body: '{}' })
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
  expect((await post(url, {}, { method: 'tools/list', ...as('ada') })).status).toBe(200)
})

test('an authenticate that throws or returns no user refuses the request', async () => {
  const failing = await startServer({ tools: [whoAmI], authenticate: () => Promise.reject(new Error('down')) })
  expect((await post(failing.url, {}, { method: 'tools/list' })).status).toBe(401)
  const empty = await startServer({ tools: [whoAmI], authenticate: () => ({ userId: '' }) })
  expect((await post(empty.url, {}, { method: 'tools/list' })).status).toBe(401)
})

test('a session of another user, and a forged one, are not found', async () => {
  const { url } = await startServer({ tools: [whoAmI], authenticate, httpSessions: true })
  const send = (userId: string, headers: Record<string, string>, body: object): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: {
        ...as(userId).headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    })
  const opened = await send(
    'ada',
    {},
    {
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    },
  )
  const id = opened.headers.get('mcp-session-id') ?? ''
  await opened.text()
  const list = { method: 'tools/list', params: {} }
  expect((await send('ada', { 'mcp-session-id': id }, list)).status).toBe(200)
  const refused = [
    await send('eve', { 'mcp-session-id': id }, list),
    await send('ada', { 'mcp-session-id': 'forged' }, list),
  ]
  expect(refused.map(({ status }) => status)).toEqual([404, 404])
  const bodies = await Promise.all(refused.map((one) => one.text()))
  expect(new Set(bodies).size).toBe(1)
})

test('a Mcp-Name header that differs from the body is refused', async () => {
  const { charge, charged } = chargeTool()
  const { url } = await startServer({ tools: [charge, whoAmI] })
  const { status, body } = await post(url, params, { headers: { 'mcp-name': 'who_am_i' } })
  expect(status).toBe(400)
  expect(body.error?.code).toBe(-32020)
  expect(charged).toEqual([])
})

test('a body over the limit is refused with 413, and one within it is served', async () => {
  const { url } = await startServer({ tools: [whoAmI], maxRequestBytes: 10_000 })
  const call = (size: number): Promise<{ status: number }> =>
    post(url, { name: 'who_am_i', arguments: { secret: 'x'.repeat(size) } })
  expect((await call(20_000)).status).toBe(413)
  expect((await call(5_000)).status).toBe(200)
})

test.each([
  ['no JSON', '{"jsonrpc":'],
  ['an empty body', ''],
  ['an empty batch', '[]'],
  ['a number', '7'],
  ['no method', '{"jsonrpc":"2.0","id":1}'],
  ['a deep value', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
  ['another prototype', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{"name":"who_am_i"}}}'],
])('%s is refused, and the next request is served', async (_, body) => {
  const { url } = await startServer({ tools: [whoAmI] })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(url, { method: 'POST', headers, body })
  expect(await response.text()).not.toContain('"userId"')
  expect((await post(url, {}, { method: 'tools/list' })).status).toBe(200)
})

test.each([
  ['Host', { host: 'evil.example.com' }],
  ['Origin', { origin: 'http://evil.example.com' }],
])('a foreign %s is refused without authenticate', async (_, headers) => {
  const { url } = await startServer({ tools: [whoAmI] })
  const status = await new Promise((resolve) => {
    httpRequest(url, { method: 'POST', headers }, (response) => resolve(response.resume().statusCode)).end('{}')
  })
  expect(status).toBe(403)
})

test('requests with the same id, of one client or several, get their own results', async () => {
  const { url } = await startServer({ tools: [whoAmI] })
  const all = await Promise.all(
    ['a', 'b', 'c'].map((secret) => post(url, { name: 'who_am_i', arguments: { secret } }, { id: 7 })),
  )
  expect(all.map(({ body }) => JSON.parse(body.result?.content?.[0]?.text ?? '{}').secret)).toEqual(['a', 'b', 'c'])
})

test.each(['2025', '2026'] as const)('a client of %s that disconnects cancels its call', async (era) => {
  const started = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    run: async (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      started.resolve()
      await aborted.promise
    },
  })
  const { url } = await startServer({ tools: [wait] })
  const controller = new AbortController()
  const modern = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const sent = fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(era === '2026' && { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'wait' }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'wait', arguments: {}, ...(era === '2026' && { _meta: modern }) },
    }),
    signal: controller.signal,
  }).then((response) => response.text())
  sent.catch(() => {})
  await started.promise
  controller.abort()
  await aborted.promise
  await expect(sent).rejects.toThrow()
})

test('close() cancels calls, ends connections and leaves nothing open', async () => {
  const started = Promise.withResolvers<void>()
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    run: (_, { signal }) =>
      new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
        started.resolve()
      }),
  })
  const server = serveMcp({ tools: [wait], logger: silent, httpSessions: true })
  onTestFinished(() => server.close())
  const { url, port } = await server.listen({ port: 0 })
  const client = await connect(url, { era: '2025' })
  const call = client.callTool({ name: 'wait' }).catch(() => 'ended')
  await started.promise
  await server.close()
  await client.close()
  expect(await call).toBe('ended')
  await expect(fetch(`http://127.0.0.1:${port}/mcp`)).rejects.toThrow()
  expect((await server.fetch(new Request('http://127.0.0.1/mcp'))).status).toBe(503)
})

test('an error of the server itself reaches the operator, not the client', async () => {
  const sessionService = new InMemorySessionService()
  sessionService.createSession = () => Promise.reject(new Error('disk /var/db/secret.db is full'))
  sessionService.claim = sessionService.createSession as never
  const logged: string[] = []
  const logger = { warn: () => {}, error: (message: string) => void logged.push(message) }
  const { url } = await startServer({ tools: [whoAmI], sessionService, logger })
  const { body } = await post(url, { name: 'who_am_i', arguments: { secret: 's' } })
  expect(body.error).toEqual({ code: -32603, message: 'Internal server error' })
  expect(logged.join()).toContain('secret.db')
})
