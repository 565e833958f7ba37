import * as protocol from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { HttpSessions } from './http-sessions.ts'

/** Sessions with timers that the test fires. */
function setUp() {
  const timers = new Set<() => void>()
  const closed: string[] = []
  let ids = 0
  const sessions = new HttpSessions({
    protocol,
    ports: {
      newId: () => `s${++ids}`,
      setTimer: (callback) => {
        timers.add(callback)
        return () => void timers.delete(callback)
      },
    },
    maxRequestBytes: 100_000,
    createServer: ({ userId }) => {
      const server = new protocol.McpServer({ name: 'test', version: '1' }, { capabilities: { tools: {} } })
      server.server.onclose = () => closed.push(userId)
      return server
    },
  })
  const send = async (userId: string, id?: string): Promise<Response> => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    const body = id ? { method: 'tools/list' } : { method: 'initialize', params }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const response = await sessions.fetch(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: { ...headers, ...(id !== undefined && { 'mcp-session-id': id }) },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
      }),
      userId,
    )
    await response.text()
    return response
  }
  return { sessions, send, timers, closed }
}

test('an idle session is closed, and its id is not found afterwards', async () => {
  const { send, timers, closed } = setUp()
  const id = (await send('ada')).headers.get('mcp-session-id') ?? ''
  expect((await send('ada', id)).status).toBe(200)
  expect(timers.size).toBe(1)
  for (const fire of timers) fire()
  expect((await send('ada', id)).status).toBe(404)
  expect(closed).toEqual(['ada'])
})

test('a new session over the limit closes the one that was idle for the longest time', async () => {
  const { send, sessions, timers } = setUp()
  for (let at = 0; at < 1_000; at++) await send('ada')
  expect((await send('ada', 's1')).status).toBe(200)
  await send('ada')
  expect((await send('ada', 's1')).status).toBe(200)
  expect((await send('ada', 's2')).status).toBe(404)
  await sessions.close()
  expect(timers.size).toBe(0)
})

test('requests that open no session leave no server', async () => {
  const { sessions, closed } = setUp()
  const response = await sessions.fetch(new Request('http://127.0.0.1/mcp', { method: 'GET' }), 'ada')
  expect(response.status).toBeGreaterThanOrEqual(400)
  expect(closed).toEqual(['ada'])
})
