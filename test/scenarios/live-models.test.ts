// Live models that cannot do everything: no calls in the background, no new tools while the session is live.
import { background, confirm, LlmAgent, longRunning, Runner, respond } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { createDeferred, plainTool, silentLogger } from './kit.ts'
import { callTool, liveRunner, nextResponse, startWithCapabilities } from './live-calls-kit.ts'

describe('a model that waits for every call', () => {
  const blocking = { nonBlocking: false }

  test('gets the acknowledgement of a background call as its response, and the result as a message', async () => {
    const done = createDeferred()
    const search = background(plainTool('search', () => done.promise.then(() => ({ hits: 1 }))))
    const { connection, session } = await startWithCapabilities(blocking, { tools: [search] })
    expect(JSON.stringify(connection.setup)).not.toContain('NON_BLOCKING')
    connection.call([{ id: 'c1', name: 'search' }])
    expect(await nextResponse(connection)).toEqual({
      id: 'c1',
      name: 'search',
      response: { status: 'running', tool: 'search' },
    })
    connection.turnComplete()
    done.resolve()
    expect(await connection.next('clientContent')).toEqual({
      clientContent: {
        turns: [
          {
            role: 'user',
            parts: [
              {
                text: '[The result of search has arrived: {"status":"completed","tool":"search","result":{"hits":1}}]',
              },
            ],
          },
        ],
        turnComplete: true,
      },
    })
    expect(session.openCalls).toBe(0)
  })

  test('is not asked to speak by a silent result', async () => {
    const search = background(
      plainTool('search', () => ({ hits: 1 })),
      { scheduling: 'SILENT' },
    )
    const { connection } = await startWithCapabilities(blocking, { tools: [search] })
    connection.call([{ id: 'c1', name: 'search' }])
    await nextResponse(connection)
    connection.turnComplete()
    expect(await connection.next('clientContent')).toMatchObject({ clientContent: { turnComplete: false } })
  })

  test('waits while a person decides, and gets one response', async () => {
    const { connection } = await startWithCapabilities(blocking, {
      tools: [confirm(plainTool('pay', () => ({ paid: true })))],
      confirmationProvider: async () => ({ confirmed: true }),
    })
    connection.call([{ id: 'c1', name: 'pay' }])
    expect(await nextResponse(connection)).toEqual({ id: 'c1', name: 'pay', response: { paid: true } })
  })

  test('gets the handle of a long-running call as its response, and the result as a message', async () => {
    const { runner } = liveRunner([longRunning(plainTool('ship', () => ({ ticket: 7 })))])
    const { connection, session, event } = await startWithCapabilities(blocking, { runner, userId: 'ada' })
    connection.call([{ id: 'c1', name: 'ship' }])
    expect(await nextResponse(connection)).toEqual({ id: 'c1', name: 'ship', response: { ticket: 7 } })
    connection.turnComplete()
    await event('toolResponse')
    const [request] = await runner.pending({ userId: 'ada' })
    if (!request) throw new Error('Nothing is pending.')
    await session.answer(respond(request, { shipped: true }))
    expect(JSON.stringify(await connection.next('clientContent'))).toContain('{\\"shipped\\":true}')
  })
})

test('a model whose tools cannot change gets the tools of another agent with a new connection', async () => {
  const billing = new LlmAgent({
    name: 'billing',
    description: 'Bills',
    instruction: 'You handle bills.',
    tools: [plainTool('refund', () => ({ refunded: true }))],
  })
  const agent = new LlmAgent({ name: 'desk', instruction: 'You are the desk.', subAgents: [billing] })
  const runner = new Runner({ appName: 'app', agent, model: scriptedModel([]), logger: silentLogger })
  const { server, connection, event } = await startWithCapabilities({ updates: false }, { runner })
  connection.newHandle()
  connection.call([{ id: 'c1', name: 'transfer_to_agent', args: { agent_name: 'billing' } }])
  const next = await server.nextConnection()
  expect(await event('transfer')).toMatchObject({ to: 'billing' })
  await event('resumed')
  expect(JSON.stringify(next.setup?.systemInstruction)).toContain('You handle bills.')
  expect(JSON.stringify(next.setup?.tools)).toContain('refund')
  expect(await callTool(next, 'refund')).toEqual({ refunded: true })
})
