import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { Server } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { listServerTools } from './server-tool.ts'

const inputSchema = { type: 'object' }

/** Lists the tools of a server that sends these definitions, one page each. */
async function list(...pages: readonly unknown[][]) {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', ({ params }) => {
    const at = Number(params?.cursor ?? 0)
    const isLast = at + 1 >= pages.length
    return { tools: pages[at] as never, ...(!isLast && { nextCursor: String(at + 1) }) }
  })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(far)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(near)
  return await listServerTools(client, { timeout: 5_000 })
}

test('lists the tools of every page in order', async () => {
  const { tools, problems } = await list([{ name: 'a', inputSchema }], [{ name: 'b', description: 'B', inputSchema }])
  expect(tools.map(({ name, description }) => [name, description])).toEqual([
    ['a', ''],
    ['b', 'B'],
  ])
  expect(problems).toEqual([])
})

test('leaves out a malformed tool with a reason, and keeps the others', async () => {
  const { tools, problems } = await list([{ name: 'bad' }, { inputSchema }, { name: 'good', inputSchema: {} }])
  expect(tools.map(({ name }) => name)).toEqual(['good'])
  expect(problems).toHaveLength(2)
})

test('a definition has the same hash with reordered keys, and another one after a change', async () => {
  const hashOf = async (definition: object) => (await list([{ inputSchema, ...definition }])).tools[0]?.hash
  const hash = await hashOf({ name: 'a', description: 'A', annotations: { readOnlyHint: true } })
  expect(await hashOf({ annotations: { readOnlyHint: true }, description: 'A', name: 'a' })).toBe(hash)
  expect(await hashOf({ name: 'a', description: 'A', annotations: { readOnlyHint: false } })).not.toBe(hash)
})

test('a tool of an MCP App has the link to its page, and may be hidden from models', async () => {
  const ui = { resourceUri: 'ui://board/page.html' }
  const { tools } = await list([
    { name: 'show', inputSchema, _meta: { ui } },
    { name: 'move', inputSchema, _meta: { ui: { ...ui, visibility: ['app'] } } },
    { name: 'both', inputSchema, _meta: { ui: { ...ui, visibility: ['app', 'model'] } } },
    { name: 'evil', inputSchema, _meta: { ui: { resourceUri: 'https://example.com' } } },
  ])
  expect(tools.map(({ name, resourceUri, isForModel }) => [name, resourceUri, isForModel])).toEqual([
    ['show', ui.resourceUri, true],
    ['move', ui.resourceUri, false],
    ['both', ui.resourceUri, true],
    ['evil', undefined, true],
  ])
})
