// MCP servers that lose their sessions, for example because they restart, or answer 400 for other reasons.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Effect, type JsonObject, LlmAgent, Runner } from 'toolwright'
import { McpToolset, type McpToolsetOptions } from 'toolwright/mcp'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { type Call, responsesOf, silentLogger } from './kit.ts'

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: JsonObject
}

/** A server that answers an unknown session with a status. `restart` makes it forget all sessions. */
async function sessionServer(status: number, hook: (message: Message, reply: Reply) => boolean = () => false) {
  const sessions = new Set<string>()
  const server = createServer(async (request, response) => {
    const message = await messageOf(request)
    const reply = replyTo(response)
    if (request.method !== 'POST' || !message) return reply.send(request.method === 'DELETE' ? 200 : 405)
    const session = String(request.headers['mcp-session-id'] ?? '')
    const { id, method } = message
    if (method === 'initialize' && !session) {
      const made = randomUUID()
      sessions.add(made)
      seen.opened++
      return reply.send(200, { jsonrpc: '2.0', id, result: INITIALIZED }, { 'mcp-session-id': made })
    }
    if (!sessions.has(session)) {
      const error = { code: -32_000, message: 'Bad Request: No valid session ID provided' }
      return reply.send(session ? status : 400, { jsonrpc: '2.0', error, id: null })
    }
    if (id === undefined) return reply.send(202)
    if (hook(message, reply)) return
    if (method === 'tools/call') seen.ran++
    if (RESULTS[method]) return reply.send(200, { jsonrpc: '2.0', id, result: RESULTS[method] })
    return reply.send(200, { jsonrpc: '2.0', id, error: { code: -32_601, message: 'unknown method' } })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const seen = { opened: 0, ran: 0 }
  return {
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    restart: () => sessions.clear(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
  serverInfo: { name: 'clock', version: '1' },
}
const RESULTS: { [method: string]: JsonObject } = {
  'tools/list': {
    tools: ['now', 'other'].map((name) => ({ name, description: 'Tells the time', inputSchema: { type: 'object' } })),
  },
  'tools/call': { content: [{ type: 'text', text: 'noon' }] },
  'resources/read': { contents: [{ uri: 'memo://1', text: 'noon' }] },
  'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: 'noon' } }] },
}

interface Reply {
  send(status: number, body?: unknown, headers?: Record<string, string>): void
  stream(...messages: unknown[]): void
}

function replyTo(response: ServerResponse): Reply {
  return {
    send: (status, body, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(body === undefined ? undefined : JSON.stringify(body))
    },
    stream: (...messages) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join(''))
    },
  }
}

async function messageOf(request: IncomingMessage): Promise<Message | undefined> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text ? JSON.parse(text) : undefined
}

/** An agent with the tools of the server, whose model makes these calls: one list for each message. */
function agentFor(url: string, replies: readonly (readonly Call[])[], options: Partial<McpToolsetOptions> = {}) {
  const toolset = new McpToolset({ connection: { type: 'http', url }, logger: silentLogger, ...options })
  const model = scriptedModel(replies.flatMap((calls) => [{ calls: [...calls] }, 'done']))
  const agent = new LlmAgent({ name: 'agent', model, tools: [toolset] })
  const runner = new Runner({ appName: 'app', agent, logger: silentLogger })
  return {
    /** The responses to the calls of the next reply. */
    ask: async () => {
      const { events } = await runner.complete({ userId: 'ada', message: 'go' })
      return responsesOf(events).map(({ response }) => response)
    },
    [Symbol.asyncDispose]: () => runner.close(),
  }
}

const now: Call = { name: 'now' }
const NOON = { text: 'noon' }

describe.each([404, 400])('a server that answers %i for a session it has lost', (status) => {
  test.each<Effect>(['none', 'idempotent'])(
    'gets a call with effect %s once more, in a new session',
    async (effect) => {
      await using server = await sessionServer(status)
      await using agent = agentFor(server.url, [[now], [now], [now]], { effect: () => effect })
      expect(await agent.ask()).toEqual([NOON])
      server.restart()
      expect(await agent.ask()).toEqual([NOON])
      expect(await agent.ask()).toEqual([NOON])
      expect(server.seen).toMatchObject({ opened: 2, ran: 3 })
    },
  )

  test('opens one session for all calls of a reply that see the loss', async () => {
    await using server = await sessionServer(status)
    await using agent = agentFor(server.url, [[now], [now, now, now, now, now]], { effect: () => 'none' })
    await agent.ask()
    server.restart()
    expect(await agent.ask()).toEqual([NOON, NOON, NOON, NOON, NOON])
    expect(server.seen).toMatchObject({ opened: 2, ran: 6 })
  })

  test.each<[string, Call, JsonObject]>([
    [
      'resource',
      { name: 'load_mcp_resource', args: { uri: 'memo://1' } },
      { resources: [{ uri: 'memo://1', text: 'noon' }] },
    ],
    ['prompt', { name: 'load_mcp_prompt', args: { name: 'p' } }, { messages: [{ role: 'user', text: 'noon' }] }],
  ])('is asked for a %s once more, in a new session', async (_name, call, expected) => {
    await using server = await sessionServer(status)
    await using agent = agentFor(server.url, [[call], [call, call], [call]], { resources: true, prompts: true })
    expect(await agent.ask()).toEqual([expected])
    server.restart()
    expect(await agent.ask()).toEqual([expected, expected])
    expect(await agent.ask()).toEqual([expected])
    expect(server.seen.opened).toBe(2)
  })

  test('is asked for its tools once more when they have changed', async () => {
    await using server = await sessionServer(status, ({ id, method }, reply) => {
      if (method !== 'tools/call' || server.seen.opened > 1) return false
      const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
      server.restart()
      reply.stream(changed, { jsonrpc: '2.0', id, result: RESULTS['tools/call'] })
      return true
    })
    await using agent = agentFor(server.url, [[now], [now]])
    expect(await agent.ask()).toEqual([NOON])
    expect(server.seen.opened).toBe(2) // by the listing before the second model call
    expect(await agent.ask()).toEqual([NOON])
  })
})

test('a call that may not run twice is sent once more after 404, also if others see the loss', async () => {
  await using server = await sessionServer(404)
  await using agent = agentFor(server.url, [[now], [now, now, now]])
  await agent.ask()
  server.restart()
  expect(await agent.ask()).toEqual([NOON, NOON, NOON])
  expect(server.seen).toMatchObject({ opened: 2, ran: 4 })
})

test('a call that may not run twice fails once after 400, and the next call works', async () => {
  await using server = await sessionServer(400)
  await using agent = agentFor(server.url, [[now], [now], [now]])
  await agent.ask()
  server.restart()
  expect(await agent.ask()).toEqual([
    { error: expect.stringContaining('HTTP status 400'), errorCode: 'EXECUTION_FAILED' },
  ])
  expect(server.seen.ran).toBe(1)
  expect(await agent.ask()).toEqual([NOON])
})

describe.each([405, 409, 410, 422, 500])('a server that answers %i for a session it has lost', (status) => {
  test('gets a call without effects once more, in a new session', async () => {
    await using server = await sessionServer(status)
    await using agent = agentFor(server.url, [[now], [now], [now]], { effect: () => 'none' })
    await agent.ask()
    server.restart()
    expect(await agent.ask()).toEqual([NOON])
    expect(await agent.ask()).toEqual([NOON])
    expect(server.seen).toMatchObject({ opened: 2, ran: 3 })
  })

  test('gets a call that may not run twice once, and the next call works', async () => {
    await using server = await sessionServer(status)
    await using agent = agentFor(server.url, [[now], [now], [now]])
    await agent.ask()
    server.restart()
    expect(await agent.ask()).toEqual([expect.objectContaining({ error: expect.any(String) })])
    expect(server.seen.ran).toBe(1)
    expect(await agent.ask()).toEqual([NOON])
  })

  test('keeps a session that it knows when it refuses a call for another reason', async () => {
    await using server = await sessionServer(status, ({ method }, reply) => {
      if (method === 'tools/call') reply.send(status)
      return method === 'tools/call'
    })
    await using agent = agentFor(server.url, [[now], [now]], { effect: () => 'none' })
    for (let round = 0; round < 2; round++)
      expect(await agent.ask()).toEqual([expect.objectContaining({ error: expect.any(String) })])
    expect(server.seen.opened).toBe(1)
  })
})

test('a server that answers an error of its own for every request of a lost session gets a new session', async () => {
  let isLost = false
  await using server = await sessionServer(404, ({ id }, reply) => {
    if (isLost && server.seen.opened === 1)
      reply.send(200, { jsonrpc: '2.0', id, error: { code: -32_001, message: 'Session not found' } })
    return isLost && server.seen.opened === 1
  })
  await using agent = agentFor(server.url, [[now], [now], [now]])
  await agent.ask()
  isLost = true
  expect(await agent.ask()).toEqual([{ error: 'Session not found', errorCode: 'EXECUTION_FAILED' }])
  expect(await agent.ask()).toEqual([NOON])
  expect(server.seen).toMatchObject({ opened: 2, ran: 2 })
})

test('a tool that fails with an error of the server keeps the session', async () => {
  await using server = await sessionServer(404, ({ id, method }, reply) => {
    const error = { code: -32_001, message: 'No such account' }
    if (method === 'tools/call') reply.send(200, { jsonrpc: '2.0', id, error })
    return method === 'tools/call'
  })
  await using agent = agentFor(server.url, [[now], [now]], { effect: () => 'none' })
  for (let round = 0; round < 2; round++)
    expect(await agent.ask()).toEqual([{ error: 'No such account', errorCode: 'EXECUTION_FAILED' }])
  expect(server.seen.opened).toBe(1)
})

test('a call without effects is sent once more when the server refuses only calls in the session', async () => {
  let refused = 0
  await using server = await sessionServer(400, ({ method }, reply) => {
    if (method !== 'tools/call' || refused++ > 0) return false
    reply.send(400)
    return true
  })
  await using agent = agentFor(server.url, [[now]], { effect: () => 'none' })
  expect(await agent.ask()).toEqual([NOON])
})

test('a server that answers 400 for other reasons loses at most one good session', async () => {
  await using server = await sessionServer(400, ({ method, params }, reply) => {
    if (method !== 'tools/call' || params?.name !== 'other') return false
    reply.send(400, { error: 'bad arguments' })
    return true
  })
  const replies = Array.from({ length: 6 }, () => [{ name: 'other' }, now])
  await using agent = agentFor(server.url, replies, { effect: () => 'none' })
  for (const _ of replies)
    expect(await agent.ask()).toEqual([expect.objectContaining({ error: expect.stringContaining('400') }), NOON])
  expect(server.seen).toMatchObject({ opened: 2, ran: 6 })
})

test('a server that answers 400 to everything is not connected again and again', async () => {
  let isBroken = false
  await using server = await sessionServer(400, (_, reply) => {
    if (isBroken) reply.send(400)
    return isBroken
  })
  const replies = Array.from({ length: 4 }, () => [now])
  await using agent = agentFor(server.url, [[now], ...replies], { effect: () => 'none' })
  expect(await agent.ask()).toEqual([NOON])
  isBroken = true
  for (const _ of replies) await agent.ask()
  expect(server.seen.ran).toBe(1)
  expect(server.seen.opened).toBeLessThanOrEqual(3)
})
