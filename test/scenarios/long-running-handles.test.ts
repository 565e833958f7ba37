// The handle of a long-running call: what a client needs to find the work again, such as the id of a ticket.
import { agentTool, background, getUserChoice, LlmAgent, longRunning, Runner, respond } from 'toolwright'
import { createServer } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stores } from '../stores.ts'
import { createDeferred, plainTool, silentLogger } from './kit.ts'
import { liveRunner, nextResponse, startStrict } from './live-calls-kit.ts'

const ask = longRunning(plainTool('ask_for_approval', () => ({ status: 'pending', ticketId: 'T-7' })))
const steps = [{ calls: [{ id: 'c1', name: 'ask_for_approval' }] }, 'Approved.']
const handle = { status: 'pending', ticketId: 'T-7' }

describe.each(stores)('with sessions $name', (store) => {
  test('a pending request has the handle that the body returned, also after a partial result', async () => {
    const agent = new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [ask] })
    const runner = new Runner({ appName: 'app', agent, ...store.open(), logger: silentLogger })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Refund 200.' })
    expect(pending).toMatchObject([{ kind: 'longRunning', id: 'c1', handle }])
    expect(await runner.pending({ userId: 'ada' })).toEqual(pending)
    const functionResponse = { id: 'c1', name: 'ask_for_approval', response: { seenBy: 'Bo' }, willContinue: true }
    await runner.complete({ userId: 'ada', sessionId, message: [{ functionResponse }] })
    expect(await runner.pending({ userId: 'ada' })).toMatchObject([{ id: 'c1', handle }])
    const [request] = pending
    if (!request) throw new Error('Nothing is pending.')
    const answer = respond(request, { status: 'approved', ticketId: request.handle?.ticketId })
    expect(await runner.complete({ userId: 'ada', sessionId, message: [answer] })).toMatchObject({ text: 'Approved.' })
  })
})

describe.each(stores)('with sessions $name', (store) => {
  test('a pending long-running call says since when it waits, also after a partial result', async () => {
    let now = 1_700_000_000_000
    const agent = new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [ask] })
    const options = { appName: 'app', agent, logger: silentLogger, ports: { now: () => (now += 1_000) } }
    const runner = new Runner({ ...options, ...store.open() })
    const { pending, sessionId, events } = await runner.complete({ userId: 'ada', message: 'Refund 200.' })
    const createdAt = events.at(-1)?.timestamp
    expect(createdAt).toBeGreaterThan(1_700_000_000)
    expect(pending).toMatchObject([{ id: 'c1', createdAt }])
    now += 60_000
    const functionResponse = { id: 'c1', name: 'ask_for_approval', response: { seenBy: 'Bo' }, willContinue: true }
    await runner.complete({ userId: 'ada', sessionId, message: [{ functionResponse }] })
    expect(await runner.pending({ userId: 'ada' })).toMatchObject([{ id: 'c1', createdAt }])
  })
})

test('a confirmation has no handle', async () => {
  const gated = { ...ask, requiresConfirmation: true } as const
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [gated] })
  const { pending } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Refund 200.' })
  expect(pending).toMatchObject([{ kind: 'confirmation' }])
  expect(pending[0]).not.toHaveProperty('handle')
})

test('the routes of pending requests show the handle', async () => {
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [ask] })
  const server = createServer({ apps: { desk: agent }, logger: silentLogger })
  onTestFinished(() => server.close())
  const authorization = `Bearer ${server.token}`
  const send = async (path: string, body?: object): Promise<unknown> => {
    const headers = { authorization, 'content-type': 'application/json' }
    const init = body ? { method: 'POST', body: JSON.stringify(body), headers } : { headers }
    return await (await server.fetch(new Request(`http://127.0.0.1${path}`, init))).json()
  }
  await send('/apps/desk/users/ada/sessions/s1', {})
  const newMessage = { role: 'user', parts: [{ text: 'Refund 200.' }] }
  await send('/run', { appName: 'desk', userId: 'ada', sessionId: 's1', newMessage })
  expect(await send('/apps/desk/users/ada/pending')).toMatchObject([
    { id: 'c1', handle, createdAt: expect.any(Number) },
  ])
})

describe('a live session', () => {
  test('shows a long-running call as a request with its handle, which the app answers', async () => {
    const { runner } = liveRunner([ask])
    const { connection, session, event } = await startStrict({ runner, userId: 'ada' })
    connection.call([{ id: 'c1', name: 'ask_for_approval' }])
    expect(await nextResponse(connection)).toMatchObject({ response: handle, willContinue: true })
    const { request } = await event('request')
    expect(request).toMatchObject({ kind: 'longRunning', functionCallId: 'c1', handle })
    await session.answer(respond(request, { status: 'approved' }))
    expect(await nextResponse(connection)).toMatchObject({ response: { status: 'approved' }, willContinue: false })
  })

  test('shows a choice of the user as a request with its options', async () => {
    const { connection, session, event, events } = await startStrict({ tools: [getUserChoice()] })
    const args = { prompt: 'Which?', options: ['tea', 'coffee'] }
    connection.call([{ id: 'c1', name: 'get_user_choice', args }])
    await nextResponse(connection)
    const { request } = await event('request')
    expect(request).toMatchObject({ hint: 'Which?', schema: { enum: ['tea', 'coffee'] } })
    await session.answer(respond(request, 'tea'))
    expect(await nextResponse(connection)).toMatchObject({ response: { result: 'tea' } })
    expect(events.filter(({ type }) => type === 'request')).toHaveLength(1)
  })

  test('does not show background tools as requests: their results come from this process', async () => {
    const done = createDeferred()
    const search = background(plainTool('search', () => done.promise.then(() => ({ hits: 1 }))))
    const model = scriptedModel([{ calls: [{ name: 'search' }] }, 'One hit.'])
    const inside = agentTool(new LlmAgent({ name: 'helper', description: 'Helps', model, tools: [search] }))
    const { connection, events } = await startStrict({ tools: [search, inside] })
    connection.call([{ id: 'c1', name: 'search' }])
    await nextResponse(connection)
    connection.call([{ id: 'c2', name: 'helper', args: { request: 'Search.' } }])
    done.resolve()
    const answered = [await nextResponse(connection), await nextResponse(connection)]
    expect(JSON.stringify(answered)).toContain('One hit.')
    expect(events.filter(({ type }) => type === 'request')).toEqual([])
  })
})
