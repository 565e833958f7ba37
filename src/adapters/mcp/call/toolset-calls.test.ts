import { expect, test, vi } from 'vitest'
import type { ToolContext } from '../../../engine/context/context.ts'
import { createToolContext } from '../../testing/tool-context.ts'
import type { McpConnection } from '../connection/connection.ts'
import { GuardedFetch } from '../connection/guarded-fetch.ts'
import type { Identities } from '../identity.ts'
import type { ServerTool } from '../listing/server-tool.ts'
import { ToolsetCalls } from './toolset-calls.ts'

const url = 'http://127.0.0.1:9/mcp'

/** Calls of a server that refuses the first `refusals` requests. `callTool` answers the call. */
function start(refusals: number, callTool: (send: () => Promise<Response>) => Promise<unknown>, query = '') {
  let left = refusals
  const fetch = async (): Promise<Response> => new Response('', { status: left-- > 0 ? 401 : 200 })
  const http = new GuardedFetch({ fetch, readTimeoutMs: 1_000 })
  const sent = vi.fn((_: unknown, { headers }: { headers: Record<string, string> }) =>
    callTool(() => http.fetch(url, { method: 'POST', headers }) as Promise<Response>),
  )
  const connection = { http, isHttp: true, begin: () => () => {}, client: { callTool: sent } }
  const identities = { authorize: async () => true, headers: async () => ({}), refused: vi.fn() }
  const calls = new ToolsetCalls({
    name: 'shop',
    options: { connection: { type: 'http', url: `${url}${query}` } },
    identities: identities as unknown as Identities,
    connect: async () => connection as unknown as McpConnection,
  })
  const call = (): Promise<unknown> =>
    calls.call({
      tool: { name: 'pay' } as ServerTool,
      effect: 'atMostOnce',
      args: {},
      context: createToolContext(),
      onProgress: () => {},
    })
  return { http, sent, call }
}

test('sends a call again that the server refused', async () => {
  const { call, sent } = start(1, async (send) => {
    const { status } = await send()
    if (status === 401) throw Object.assign(new Error('refused'), { status })
    return { content: [{ type: 'text', text: 'paid' }] }
  })
  expect(await call()).toEqual({ text: 'paid' })
  expect(sent).toHaveBeenCalledTimes(2)
})

test.each([
  ['a result with isError', async () => ({ isError: true, content: [{ type: 'text', text: 'declined' }] })],
  ['a lost connection', () => Promise.reject(Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' }))],
])('does not send a call again after %s, although another request was refused', async (_, answer) => {
  const { call, sent, http } = start(1, answer)
  await http.fetch(url, { method: 'GET' })
  await expect(call()).rejects.toThrow(/declined|may have taken effect/)
  expect(sent).toHaveBeenCalledTimes(1)
})

test('hides the keys in the address of the server, and shows its other parameters', async () => {
  const query = '?api_key=canary-key-1&region=europe-west'
  const text = `Cannot POST /mcp${query}`
  const { call } = start(0, async () => ({ content: [{ type: 'text', text }] }), query)
  expect(await call()).toEqual({ text: 'Cannot POST /mcp?api_key=[hidden]&region=europe-west' })
})

test('reads data with the headers of the context, also if another context sets those of the connection', async () => {
  const tenants: (string | null)[] = []
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    tenants.push(new Headers(init?.headers).get('x-tenant'))
    return new Response('{}')
  }
  const http = new GuardedFetch({ fetch: fetch as typeof globalThis.fetch, readTimeoutMs: 1_000 })
  const identities = { headers: async ({ invocation }: ToolContext) => ({ 'x-tenant': invocation.session.id }) }
  const connection = { http, isHttp: true, client: {} }
  const calls = new ToolsetCalls({
    name: 'shop',
    options: { connection: { type: 'http', url }, headers: () => ({}) },
    identities: identities as unknown as Identities,
    connect: async () => connection as unknown as McpConnection,
  })
  await calls.read(createToolContext({ sessionId: 'red' }), async (_, { headers = {} }) => {
    http.setHeaders({ 'x-tenant': 'blue' })
    await http.fetch(url, { method: 'POST', headers })
    return {}
  })
  expect(tenants).toEqual(['red'])
})
