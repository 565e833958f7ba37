import { approve, cached, LlmAgent, StaticToolset, tool, toolSource, withParts } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { connect, type Elicit, type Era, silent, startServer } from './serve.test-kit.ts'
import { serveMcp } from './serve-mcp.ts'

const add = tool({
  name: 'add',
  description: 'Adds two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  effect: 'none',
  run: ({ a, b }) => ({ sum: a + b }),
})

function chargeTool(): { charge: ReturnType<typeof tool>; charged: number[] } {
  const charged: number[] = []
  const charge = tool({
    name: 'charge',
    description: 'Charges',
    parameters: z.object({ amount: z.number() }),
    requiresConfirmation: true,
    run: ({ amount }) => {
      charged.push(amount)
      return { charged: amount }
    },
  })
  return { charge: charge as ReturnType<typeof tool>, charged }
}

describe.each<Era>(['2025', '2026'])('serveMcp() over HTTP, a client of %s', (era) => {
  test('lists tools with their schemas and the hints of their effects', async () => {
    const note = tool({ name: 'note', description: 'Notes', effect: 'idempotent', run: () => 'ok' })
    const { url } = await startServer({ tools: [add, new StaticToolset([note])] })
    const { tools } = await (await connect(url, { era })).listTools()
    expect(tools).toMatchObject([
      {
        name: 'add',
        description: 'Adds two numbers',
        inputSchema: { type: 'object', required: ['a', 'b'] },
        outputSchema: { type: 'object', required: ['sum'] },
        annotations: { readOnlyHint: true },
      },
      { name: 'note', annotations: { readOnlyHint: false, idempotentHint: true } },
    ])
  })

  test('gets a result as text and as structured content', async () => {
    const { url } = await startServer({ tools: [add] })
    const client = await connect(url, { era })
    await client.listTools() // the client then checks results against the output schema
    const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
    expect(result).toMatchObject({ content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } })
    expect(result.isError).toBeUndefined()
  })

  test('gets invalid arguments and thrown errors as error results', async () => {
    const fail = tool({
      name: 'fail',
      description: 'Fails',
      run: () => {
        throw new Error('out of stock')
      },
    })
    const { url } = await startServer({ tools: [add, fail] })
    const client = await connect(url, { era })
    expect(await client.callTool({ name: 'fail' })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'out of stock' }],
    })
    expect(await client.callTool({ name: 'add', arguments: { a: 'x' } })).toMatchObject({ isError: true })
  })

  test('gets an error for an unknown tool', async () => {
    const { url } = await startServer({ tools: [add] })
    const client = await connect(url, { era })
    await expect(client.callTool({ name: 'constructor' })).rejects.toThrow('Unknown tool "constructor".')
  })

  test('gets media as content blocks', async () => {
    const draw = tool({
      name: 'draw',
      description: 'Draws',
      run: () =>
        withParts({ ok: true }, [
          { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          { inlineData: { mimeType: 'audio/wav', data: 'BBBB' } },
          { inlineData: { mimeType: 'text/csv', data: btoa('a,b'), displayName: 'a b.csv' } },
          { fileData: { fileUri: 'https://example.com/x.pdf', mimeType: 'application/pdf' } },
        ]),
    })
    const { url } = await startServer({ tools: [draw] })
    const { content } = await (await connect(url, { era })).callTool({ name: 'draw' })
    expect(content).toEqual([
      { type: 'text', text: '{"ok":true}' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'audio', mimeType: 'audio/wav', data: 'BBBB' },
      {
        type: 'resource',
        resource: { uri: 'toolwright://result/a%20b.csv', mimeType: 'text/csv', text: 'a,b' },
      },
      { type: 'resource_link', uri: 'https://example.com/x.pdf', name: 'file', mimeType: 'application/pdf' },
    ])
  })

  test('gets the progress of a call', async () => {
    const work = tool({
      name: 'work',
      description: 'Works',
      run: (_, context) => {
        context.progress('starting')
        context.progress({ progress: 5, total: 10, message: 'half' })
        context.progress(5) // does not increase
        return 'done'
      },
    })
    const { url } = await startServer({ tools: [work] })
    const seen: unknown[] = []
    const client = await connect(url, { era })
    await client.callTool({ name: 'work' }, { onprogress: (progress) => seen.push(progress) })
    expect(seen).toEqual([
      { progress: 1, message: 'starting' },
      { progress: 5, total: 10, message: 'half' },
      { progress: 6 },
    ])
  })

  test('cancels the body of a call when it aborts the request', async () => {
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
    // without a session, a 2025 server cannot find the call that a client cancels
    const { url } = await startServer({ tools: [wait], httpSessions: era === '2025' })
    const client = await connect(url, { era })
    const controller = new AbortController()
    const call = client.callTool({ name: 'wait' }, { signal: controller.signal }).catch(() => 'aborted')
    await started.promise
    controller.abort()
    await aborted.promise
    expect(await call).toBe('aborted')
  })

  test('gets the answer of an agent', async () => {
    const poet = new LlmAgent({ name: 'poet', description: 'Writes poems', model: scriptedModel(['Snow.']) })
    const { url } = await startServer({ agents: [poet] })
    const client = await connect(url, { era })
    const { tools } = await client.listTools()
    expect(tools).toMatchObject([{ name: 'poet', inputSchema: { required: ['request'] } }])
    expect(tools[0]?.annotations).toBeUndefined()
    const { content } = await client.callTool({ name: 'poet', arguments: { request: 'a poem' } })
    expect(content).toEqual([{ type: 'text', text: 'Snow.' }])
  })

  test('that cannot ask its user gets an error that says how to approve, and the approval runs the call', async () => {
    const { charge, charged } = chargeTool()
    const server = await startServer({ tools: [charge] })
    const client = await connect(server.url, { era })
    const result = await client.callTool({ name: 'charge', arguments: { amount: 5 } })
    const [request] = await server.runner.pending({ userId: 'local' })
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result.content)).toContain(request?.id)
    expect(JSON.stringify(result.content)).toContain(request?.sessionId)
    expect(JSON.stringify(result.content)).toContain(
      'Use a client with elicitation, or answer in the program that serves',
    )
    expect(charged).toEqual([])
    if (!request) throw new Error('no request')
    const { sessionId } = request
    await server.runner.complete({ userId: 'local', sessionId, message: [approve(request)] })
    expect(charged).toEqual([5])
  })
})

describe.each([
  ['2026', false],
  ['2025', true],
] as const)('serveMcp() over HTTP, a client of %s that asks its user', (era, httpSessions) => {
  const ask = async (elicit: Elicit): Promise<{ result: unknown; charged: number[] }> => {
    const { charge, charged } = chargeTool()
    const { url } = await startServer({ tools: [charge], httpSessions })
    const client = await connect(url, { era, elicit })
    return { result: await client.callTool({ name: 'charge', arguments: { amount: 5 } }), charged }
  }

  test('approves a call, and sees its arguments', async () => {
    let message: unknown
    const { result, charged } = await ask((params) => {
      message = params.message
      return { action: 'accept', content: { approve: true } }
    })
    expect(message).toContain('{"amount":5}')
    expect(charged).toEqual([5])
    expect(result).toMatchObject({ content: [{ text: '{"charged":5}' }] })
  })

  test.each([
    ['decline', { action: 'decline' }],
    ['cancel', { action: 'cancel' }],
    ['false', { action: 'accept', content: { approve: false } }],
    ['a text', { action: 'accept', content: { approve: 'true' } }],
    ['a number', { action: 'accept', content: { approve: 1 } }],
    ['another field', { action: 'accept', content: { approved: true } }],
    ['nothing', { action: 'accept' }],
  ] as const)('denies a call with %s', async (_, answer) => {
    const { result, charged } = await ask(() => answer as ReturnType<Elicit>)
    expect(charged).toEqual([])
    expect(result).toMatchObject({ isError: true })
  })

  test('answers the questions of a tool, one after the other', async () => {
    const order = tool({
      name: 'order',
      description: 'Orders',
      run: (_, context) => {
        const address = context.requestInput({
          key: 'address',
          message: 'Where to?',
          schema: z.object({ street: z.string(), floor: z.number() }),
        })
        if (!address) return
        const note = context.requestInput({ key: 'note', message: 'A note?' })
        return { address, note }
      },
    })
    const { url } = await startServer({ tools: [order], httpSessions })
    const asked: unknown[] = []
    const client = await connect(url, {
      era,
      elicit: ({ message }) => {
        asked.push(message)
        const content = message === 'Where to?' ? { street: 'Main', floor: 3 } : { answer: 'Ring twice.' }
        return { action: 'accept', content }
      },
    })
    const { content } = await client.callTool({ name: 'order' })
    expect(asked).toEqual(['Where to?', 'A note?'])
    expect(content).toMatchObject([{ text: '{"address":{"street":"Main","floor":3},"note":"Ring twice."}' }])
  })

  test('approves a call inside an agent [DG-19]', async () => {
    const { charge, charged } = chargeTool()
    const model = scriptedModel([{ calls: [{ name: 'charge', args: { amount: 7 } }] }, 'Charged 7.'])
    const desk = new LlmAgent({ name: 'desk', description: 'Charges', model, tools: [charge] })
    const { url } = await startServer({ agents: [desk], httpSessions })
    const client = await connect(url, { era, elicit: () => ({ action: 'accept', content: { approve: true } }) })
    const { content } = await client.callTool({ name: 'desk', arguments: { request: 'Charge 7.' } })
    expect(content).toEqual([{ type: 'text', text: 'Charged 7.' }])
    expect(charged).toEqual([7])
  })
})

test('serveMcp() leaves no session of finished calls in memory', async () => {
  const server = await startServer({ tools: [add] })
  const client = await connect(server.url, { era: '2026' })
  await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
  const { sessionService } = server.runner
  expect(await sessionService.listSessions({ appName: 'toolwright', userId: 'local' })).toEqual([])
})

test('serveMcp() lists and runs tools of a tool source for the user who has them', async () => {
  const secret = tool({ name: 'secret', description: 'Secret', run: () => 'revealed' })
  const source = toolSource(({ invocation }) => (invocation.userId === 'ada' ? [secret] : []), { name: 'admins' })
  const authenticate = (request: Request) => {
    const userId = request.headers.get('authorization')?.replace('Bearer ', '')
    return userId ? { userId } : undefined
  }
  const { url } = await startServer({ tools: [add, source], authenticate })
  const ada = await connect(url, { era: '2026', token: 'ada' })
  const bob = await connect(url, { era: '2026', token: 'bob' })
  expect((await ada.listTools()).tools.map(({ name }) => name)).toEqual(['add', 'secret'])
  expect((await bob.listTools()).tools.map(({ name }) => name)).toEqual(['add'])
  expect(await ada.callTool({ name: 'secret' })).toMatchObject({ content: [{ text: 'revealed' }] })
  await expect(bob.callTool({ name: 'secret' })).rejects.toThrow('Unknown tool')
})

test('a result over the size limit is an error for a tool with an output schema', async () => {
  const big = tool({
    name: 'big',
    description: 'Big',
    outputSchema: z.object({ text: z.string() }),
    run: () => ({ text: 'x'.repeat(2_000) }),
  })
  const { url } = await startServer({ tools: [big], maxResultBytes: 1_000 })
  const client = await connect(url, { era: '2026' })
  await client.listTools()
  expect(await client.callTool({ name: 'big' })).toMatchObject({ isError: true })
})

test('serveMcp() refuses unknown options, invalid keys and tools that are defined twice', () => {
  expect(() => serveMcp({ tool: [add] } as never)).toThrow('unknown option "tool". Did you mean "tools"?')
  expect(() => serveMcp({ tools: [add], stateKey: 'short' })).toThrow('must be base64 of 32 bytes')
  expect(() => serveMcp({ tools: [add, add], logger: silent })).toThrow('defined twice')
})

test('listen() refuses a misspelled option instead of opening a random port', async () => {
  await using server = serveMcp({ tools: [add] })
  await expect(server.listen({ Port: 8080 } as never)).rejects.toThrow(
    'listen(): unknown option "Port". Did you mean "port"?',
  )
})

describe('cached() in serveMcp()', () => {
  /** A cached tool that returns how often its body has run. */
  function counting(): ReturnType<typeof tool> {
    let runs = 0
    const counted = tool({
      name: 'counted',
      description: 'Counts',
      effect: 'none',
      outputSchema: z.object({ runs: z.number() }),
      run: () => ({ runs: ++runs }),
    })
    return cached(counted) as ReturnType<typeof tool>
  }
  const authenticate = (request: Request): { userId: string } | undefined => {
    const token = request.headers.get('authorization')?.replace('Bearer ', '')
    return token === undefined ? undefined : { userId: token }
  }
  const count = async (client: Awaited<ReturnType<typeof connect>>): Promise<unknown> =>
    (await client.callTool({ name: 'counted' })).structuredContent

  test.each(['2025', '2026'] as const)('answers later calls of a user from memory, of no other (%s)', async (era) => {
    const { url } = await startServer({ tools: [counting()], authenticate })
    const [ada, again, bob] = [
      await connect(url, { era, token: 'ada' }),
      await connect(url, { era, token: 'ada' }),
      await connect(url, { era, token: 'bob' }),
    ]
    const results = [await count(ada), await count(ada), await count(again), await count(bob), await count(bob)]
    expect(results).toEqual([1, 1, 1, 2, 2].map((runs) => ({ runs })))
  })

  test('shares nothing between two servers', async () => {
    const one = counting()
    const urls = [(await startServer({ tools: [one] })).url, (await startServer({ tools: [one] })).url]
    const results = []
    for (const url of urls) results.push(await count(await connect(url, { era: '2026' })))
    expect(results).toEqual([{ runs: 1 }, { runs: 2 }])
  })
})

test('listen() on another host than this machine needs authenticate', async () => {
  const server = serveMcp({ tools: [add] })
  await expect(server.listen({ port: 0, host: '0.0.0.0' })).rejects.toThrow('needs authenticate')
})
