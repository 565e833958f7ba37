// Requests of a live session to people: input, credentials, choices, requests inside agent tools, and requests that end otherwise.
import { agentTool, getUserChoice, LlmAgent, type PendingRequest, respond, type Tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { consentTo, openDesk } from './credentials-kit.ts'
import { createDeferred, plainTool } from './kit.ts'
import { flushed, liveRunner, nextResponse, received, startStrict } from './live-calls-kit.ts'

const never = () => new Promise<never>(() => {})

async function onlyPending(runner: ReturnType<typeof liveRunner>['runner']): Promise<PendingRequest> {
  const [request, ...more] = await runner.pending({ userId: 'ada' })
  expect(more).toEqual([])
  return request as PendingRequest
}

describe('a tool of a live session that asks', () => {
  test('for two inputs runs again when both are answered', async () => {
    const run = vi.fn<Tool['run']>((_, context) => {
      const size = context.requestInput<string>({ key: 'size', message: 'Which size?' })
      const color = context.requestInput<string>({ key: 'color', message: 'Which color?' })
      return { size, color }
    })
    const { connection, session, event } = await startStrict({ tools: [plainTool('order', run)] })
    connection.call([{ id: 'c1', name: 'order' }])
    const [size, color] = [await event('request'), await event('request')]
    await session.answer(respond(color.request, 'red'))
    expect(run).toHaveBeenCalledOnce()
    await session.answer(respond(size.request, 'large'))
    expect(await nextResponse(connection)).toEqual({
      id: 'c1',
      name: 'order',
      response: { size: 'large', color: 'red' },
    })
    expect(run).toHaveBeenCalledTimes(2)
  })

  test('for a choice takes one of its options', async () => {
    const { runner } = liveRunner([getUserChoice()])
    const { connection, session, event } = await startStrict({ runner, userId: 'ada' })
    connection.call([{ id: 'c1', name: 'get_user_choice', args: { prompt: 'Which?', options: ['tea', 'coffee'] } }])
    expect(await nextResponse(connection)).toMatchObject({ willContinue: true })
    await event('toolResponse')
    const request = await onlyPending(runner)
    await expect(session.answer(respond(request, 'water'))).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await session.answer(respond(request, 'tea'))
    expect(await nextResponse(connection)).toMatchObject({ response: { result: 'tea' }, willContinue: false })
  })

  test('for a credential runs with it after the consent, and the log has no code', async () => {
    const desk = await openDesk()
    onTestFinished(() => desk[Symbol.asyncDispose]())
    const runner = desk.start({})
    const { connection, session, event } = await startStrict({ runner, userId: 'ada' })
    connection.call([{ id: 'c1', name: 'mail' }])
    const { request } = await event('request')
    expect(request).toMatchObject({ kind: 'credential', authUri: expect.stringContaining('http') })
    expect(await nextResponse(connection)).toMatchObject({ response: { status: 'waiting' } })
    const authResponseUri = await consentTo(request)
    await session.answer(respond(request, { authResponseUri }))
    expect(await nextResponse(connection)).toMatchObject({ response: { sent: true } })
    expect(desk.sent).toHaveBeenCalledOnce()
    const code = new URL(authResponseUri).searchParams.get('code') ?? '-'
    const { userId, sessionId } = session
    expect(JSON.stringify(await desk.sessionService.getSession({ appName: 'app', userId, sessionId }))).not.toContain(
      code,
    )
  })

  test('and is answered after the end of the session refuses the answer', async () => {
    const { runner } = liveRunner([getUserChoice()])
    const { connection, session, event } = await startStrict({ runner, userId: 'ada' })
    connection.call([{ id: 'c1', name: 'get_user_choice', args: { prompt: 'Which?', options: ['tea'] } }])
    await event('toolResponse')
    await session.close()
    const request = await onlyPending(runner) // the next run may answer it
    await expect(session.answer(respond(request, 'tea'))).rejects.toThrow('The live session is closed.')
  })

  test('for a choice is shown once, also when the session closes before the answer', async () => {
    const { runner } = liveRunner([getUserChoice()])
    const { connection, session, event, events } = await startStrict({ runner, userId: 'ada' })
    connection.call([{ id: 'c1', name: 'get_user_choice', args: { prompt: 'Which?', options: ['tea'] } }])
    await event('request')
    await session.close()
    await event('closed')
    expect(events.filter(({ type }) => type === 'request')).toHaveLength(1)
    expect((await onlyPending(runner)).tool).toBe('get_user_choice')
  })
})

describe('a request of a live session', () => {
  test('that expires is denied, and the model gets an error', async () => {
    const run = vi.fn()
    const { connection } = await startStrict({
      tools: [plainTool('pay', run, { requiresConfirmation: true, expiresInMs: 30 })],
      confirmationProvider: never,
    })
    connection.call([{ id: 'c1', name: 'pay' }])
    await nextResponse(connection)
    expect(await nextResponse(connection)).toMatchObject({
      response: { errorCode: 'CANCELLED', error: expect.stringContaining('expired') },
      willContinue: false,
    })
    expect(run).not.toHaveBeenCalled()
  })

  test('ends when the app cancels the call, and the model gets an error', async () => {
    const run = vi.fn()
    const asked = createDeferred<AbortSignal>()
    const { connection, session } = await startStrict({
      tools: [plainTool('pay', run, { requiresConfirmation: true })],
      confirmationProvider: (_, { signal }) => {
        asked.resolve(signal)
        return never()
      },
    })
    connection.call([{ id: 'c1', name: 'pay' }])
    const signal = await asked.promise
    await nextResponse(connection)
    await session.cancelCalls(['c1'], 'The user left the page.')
    expect(await nextResponse(connection)).toMatchObject({
      response: { errorCode: 'CANCELLED', error: 'Tool cancelled. The user left the page.' },
      willContinue: false,
    })
    expect([signal.aborted, run.mock.calls.length, session.openCalls]).toEqual([true, 0, 0])
  })
})

describe('a gated call inside an agent tool', () => {
  function cashier(pay: Tool['run'] = () => ({ paid: true })) {
    const model = scriptedModel([{ calls: [{ name: 'pay' }] }, 'It is paid.'])
    const gated = plainTool('pay', pay, { requiresConfirmation: true })
    return agentTool(new LlmAgent({ name: 'cashier', description: 'Pays', model, tools: [gated] }))
  }

  test('is asked and continued while another call of the message runs', async () => {
    const slow = createDeferred()
    const { connection, session } = await startStrict({
      tools: [cashier(), plainTool('slow', () => slow.promise.then(() => ({ done: true })))],
      confirmationProvider: () => ({ confirmed: true }),
    })
    connection.call([
      { id: 'c1', name: 'cashier', args: { request: 'Pay.' } },
      { id: 'c2', name: 'slow' },
    ])
    expect(await nextResponse(connection)).toMatchObject({ id: 'c1', response: { text: 'It is paid.' } })
    slow.resolve()
    expect(await nextResponse(connection)).toMatchObject({ id: 'c2', response: { done: true } })
    expect(session.openCalls).toBe(0)
  })

  test('is withdrawn when the model cancels the agent tool, and nothing stays pending', async () => {
    const run = vi.fn()
    const { runner } = liveRunner([cashier(run)])
    const { connection, server, session, event } = await startStrict({
      runner,
      userId: 'ada',
      confirmationProvider: never,
    })
    connection.call([{ id: 'c1', name: 'cashier', args: { request: 'Pay.' } }])
    await event('request')
    connection.cancelCalls(['c1'])
    expect(await event('toolCancelled')).toMatchObject({ ids: ['c1'] })
    await event('toolResponse')
    await flushed(session, connection)
    expect([received(server, 'c1'), session.openCalls, run.mock.calls.length]).toEqual([[], 0, 0])
    expect(await runner.pending({ userId: 'ada' })).toEqual([])
  })
})
