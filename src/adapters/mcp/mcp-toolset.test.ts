import { afterEach, expect, test, vi } from 'vitest'
import { InMemoryPins } from '../../services/session/in-memory-pins.ts'
import { createToolContext } from '../testing/tool-context.ts'
import { McpToolset } from './mcp-toolset.ts'

afterEach(() => void vi.restoreAllMocks())

const EVENTS = { headers: { 'content-type': 'text/event-stream' } }
const eventOf = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`

/** A toolset whose server changes the description of its tool and reports it. */
function start(): { toolset: McpToolset; lists(): number; change(): void; [Symbol.asyncDispose](): Promise<void> } {
  let description = 'First.'
  let lists = 0
  let events: ReadableStreamDefaultController<Uint8Array> | undefined
  const answers: Record<string, () => object> = {
    initialize: () => ({
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'changing', version: '1' },
    }),
    'tools/list': () => {
      lists++
      return { tools: [{ name: 'pay', description, inputSchema: { type: 'object' } }] }
    },
  }
  const fetch = (async (_: unknown, init?: RequestInit) => {
    const start = (controller: typeof events): void => {
      events = controller
    }
    if (init?.method === 'GET') return new Response(new ReadableStream({ start }), EVENTS)
    const { id, method } = JSON.parse(String(init?.body ?? '{}'))
    if (id === undefined) return new Response('', { status: 202 })
    const result = answers[method]?.()
    return new Response(
      eventOf({ id, ...(result ? { result } : { error: { code: -32_601, message: 'No.' } }) }),
      EVENTS,
    )
  }) as typeof globalThis.fetch
  const logger = { warn: () => {}, error: () => {} }
  const connection = { type: 'http', url: 'http://127.0.0.1:9/mcp', fetch } as const
  const toolset = new McpToolset({ connection, logger: logger as never })
  const change = (): void => {
    description = 'Second.'
    events?.enqueue(new TextEncoder().encode(eventOf({ method: 'notifications/tools/list_changed' })))
  }
  return { toolset, change, lists: () => lists, [Symbol.asyncDispose]: () => toolset.shutdown() }
}

test('the revision stays the same until the server reports a change', async () => {
  await using server = start()
  const { toolset, change } = server
  const context = createToolContext()
  expect(toolset.revision(context)).toBeUndefined()
  await toolset.listTools(context)
  const revision = toolset.revision(context)
  expect(revision).toBeDefined()
  await toolset.listTools(context)
  expect(toolset.revision(context)).toBe(revision)
  expect(toolset.revision(createToolContext({ appName: 'other' }))).toBeUndefined()
  change()
  await vi.waitFor(() => expect(toolset.revision(context)).toBeUndefined())
})

test('a listing that ends after a change has no revision', async () => {
  await using server = start()
  const { toolset, change, lists } = server
  const context = createToolContext()
  const later = createToolContext({ appName: 'later' })
  await toolset.listTools(createToolContext({ appName: 'first' }))
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>()
  const { get } = InMemoryPins.prototype
  vi.spyOn(InMemoryPins.prototype, 'get').mockImplementationOnce(async function (this: never, ...args) {
    await isFree
    return await get.apply(this, args)
  })
  const slow = toolset.listTools(context)
  await vi.waitFor(() => expect(InMemoryPins.prototype.get).toHaveBeenCalled())
  change()
  await vi.waitFor(async () => {
    await toolset.listTools(later)
    expect(lists()).toBe(2)
  })
  free()
  expect((await slow)[0]?.description).toBe('First.')
  expect(toolset.revision(context)).toBeUndefined()
})
