import { createEvent, LlmAgent, longRunning, Runner, respond, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { responseIn, startLive } from './live-kit.ts'

const order = longRunning(tool({ name: 'order', description: 'Orders a part', run: () => ({ ticket: 7 }) }))

function desk(): { runner: Runner; model: ReturnType<typeof scriptedModel> } {
  const model = scriptedModel(['It has arrived.'])
  return {
    model,
    runner: new Runner({ appName: 'desk', agent: new LlmAgent({ name: 'desk', model, tools: [order] }) }),
  }
}

test('a long-running result that arrives after the live session is continued as text', async () => {
  const { runner } = desk()
  const { session, connection, event } = await startLive({ runner, userId: 'ada' })
  connection.call([{ id: 'c1', name: 'order', args: {} }])
  expect(responseIn(await connection.next('toolResponse'))).toMatchObject({
    response: { ticket: 7 },
    willContinue: true,
  })
  connection.turnComplete()
  await event('turnComplete')
  const { sessionId } = session
  await session.close()
  const [request] = await runner.pending({ userId: 'ada' })
  if (!request) throw new Error('nothing is pending')
  const { text } = await runner.complete({ userId: 'ada', sessionId, message: [respond(request, { shipped: true })] })
  expect(text).toBe('It has arrived.')
  const next = await startLive({ runner, userId: 'ada', sessionId })
  expect(JSON.stringify(await next.connection.next('clientContent'))).toMatch(/shipped/)
})

test('a long-running result of an earlier session reaches the live model that speaks now, once', async () => {
  const { runner } = desk()
  const first = await startLive({ runner, userId: 'ada' })
  first.connection.call([{ id: 'c1', name: 'order', args: {} }])
  await first.connection.next('toolResponse')
  first.connection.turnComplete()
  await first.event('turnComplete')
  const { sessionId } = first.session
  await first.session.close()
  const [request] = await runner.pending({ userId: 'ada' })
  if (!request) throw new Error('nothing is pending')

  const { connection, session } = await startLive({ runner, userId: 'ada', sessionId })
  await connection.next('clientContent') // the conversation so far
  await runner.complete({ userId: 'ada', sessionId, message: [respond(request, { shipped: true })] })
  const told = connection.received.filter((message) => JSON.stringify(message).includes('shipped'))
  expect(told.length === 1 || JSON.stringify(await connection.next('clientContent')).includes('shipped')).toBe(true)
  expect(await runner.pending({ userId: 'ada' })).toEqual([])
  await session.close()
  const all = connection.received.filter((message) => JSON.stringify(message).includes('shipped'))
  expect(all).toHaveLength(1)
})

test('a text run after a crash does not run a call that the live session had not started', async () => {
  let paid = 0
  const pay = tool({ name: 'pay', description: 'Pays', run: () => ({ paid: ++paid }) })
  const model = scriptedModel(['It was not paid.'])
  const runner = new Runner({ appName: 'desk', agent: new LlmAgent({ name: 'desk', model, tools: [pay] }) })
  const functionCall = { id: 'c1', name: 'pay', args: {} }
  const content = { role: 'model', parts: [{ functionCall }] } as const
  const reply = createEvent({ id: 'x', invocationId: 'e-1', author: 'desk', timestamp: 1, content })
  const event = { ...reply, nodeInfo: { path: 'desk' }, turnComplete: true, live: true } as const
  const { sessionService } = runner
  const key = { appName: 'desk', userId: 'ada', sessionId: 's1' }
  await sessionService.createSession(key)
  const lease = await sessionService.claim(key)
  await sessionService.append(lease, 0, [{ event }]) // what a live session had recorded when its process died
  await sessionService.release(lease, { interrupted: true })
  for await (const _ of runner.resume({ userId: 'ada', sessionId: 's1' }));
  expect(paid).toBe(0)
  const seen = model.requests[0]?.contents.at(-1)?.parts[0]?.functionResponse?.response
  expect(seen).toMatchObject({ errorCode: 'CANCELLED' })
})
