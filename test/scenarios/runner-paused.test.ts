import { agentTool, type Content, InMemorySessionService, LlmAgent, Runner, type RunnerOptions, tool } from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { recordingLogger } from './kit.ts'

const order = tool({ name: 'order', description: 'Orders', isLongRunning: true, run: () => ({ ticket: 7 }) })
const ordering: ScriptedStep = { calls: [{ name: 'order', id: 'o1' }] }
const result = (response: object = { box: 'here' }, more: object = {}) => [
  { functionResponse: { id: 'o1', name: 'order', response: response as { [key: string]: unknown }, ...more } },
]

function shop(steps: readonly ScriptedStep[], options: Partial<RunnerOptions> = {}) {
  const model = scriptedModel([ordering, ...steps])
  const agent = new LlmAgent({ name: 'agent', model, tools: [order] })
  const runner = new Runner({ appName: 'app', agent, logger: recordingLogger(), ...options })
  const send = (message: string | ReturnType<typeof result>, through = runner) =>
    through.complete({ userId: 'ada', sessionId: 's1', message })
  return { model, agent, runner, send }
}
const shown = (contents: readonly Content[] = []) =>
  contents.map(({ parts }) =>
    parts.map((part) => part.text ?? part.functionResponse?.response ?? part.functionCall?.name),
  )

test('the runner resumes the invocation with the result of a long-running call', async () => {
  const { model, send } = shop(['It has arrived.'])
  const first = await send('Order')
  const second = await send(result())
  expect(second).toMatchObject({ text: 'It has arrived.', pending: [], invocationId: first.invocationId })
  expect(shown(model.requests[1]?.contents)).toEqual([['Order'], ['order'], [{ box: 'here' }]])
})

test('the runner shows the model the handle until the result replaces it in the history', async () => {
  const { model, send } = shop(['Ticket 7.', 'Your box is here.', 'Bye.'])
  await send('Order')
  expect((await send('What is my ticket?')).text).toBe('Ticket 7.')
  expect(shown(model.requests[1]?.contents)).toEqual([['Order'], ['order'], [{ ticket: 7 }], ['What is my ticket?']])
  expect((await send(result())).text).toBe('Your box is here.')
  await send('Thanks')
  expect(shown(model.requests[3]?.contents)).toEqual([
    ['Order'],
    ['order'],
    [{ box: 'here' }],
    ['What is my ticket?'],
    ['Ticket 7.'],
    ['The result of order (o1) has arrived.'],
    ['Your box is here.'],
    ['Thanks'],
  ])
})

test('another runner accepts the result of a long-running call', async () => {
  const sessionService = new InMemorySessionService()
  const { model, agent, send } = shop(['Ticket 7.', 'Your box is here.'], { sessionService })
  await send('Order')
  await send('What is my ticket?')
  const fresh = new Runner({ appName: 'app', agent, sessionService })
  expect((await send(result(), fresh)).text).toBe('Your box is here.')
  expect(shown(model.requests[2]?.contents)?.[2]).toEqual([{ box: 'here' }])
})

test('the runner keeps the call pending after a partial result', async () => {
  const { model, send } = shop(['Done.'])
  await send('Order')
  const still = await send(result({ ticket: 7, at: 'the door' }, { willContinue: true }))
  expect(still.pending).toHaveLength(1)
  expect(model.requests).toHaveLength(1)
  expect((await send(result())).text).toBe('Done.')
})

test('the runner rejects new text with the pending call in the message (whilePaused: reject)', async () => {
  const { send } = shop(['Done.'], { whilePaused: 'reject' })
  await send('Order')
  await expect(send('Hello?')).rejects.toMatchObject({ code: 'PAUSED', message: expect.stringContaining('order (o1)') })
  expect((await send(result())).text).toBe('Done.')
})

test('the runner cancels the pending call when new text arrives and rejects its late result (whilePaused: cancel)', async () => {
  const { model, runner, send } = shop(['Something else, then.'], { whilePaused: 'cancel' })
  const first = await send('Order')
  expect((await send('Forget it.')).text).toBe('Something else, then.')
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
  const ended = session?.events.find(({ errorCode }) => errorCode === 'CANCELLED')
  expect(ended?.invocationId).toBe(first.invocationId)
  expect(shown(model.requests[1]?.contents)[2]).toEqual([expect.objectContaining({ errorCode: 'UNKNOWN_OUTCOME' })])
  await expect(send(result())).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('the runner accepts new text during a pause (whilePaused: continue)', async () => {
  const { send } = shop(['Ticket 7.', 'Done.'], { whilePaused: 'continue' })
  await send('Order')
  expect((await send('Ticket?')).text).toBe('Ticket 7.')
  expect((await send(result())).text).toBe('Done.')
})

test('the runner rejects a result without a pending call, a different second result, and a result with text', async () => {
  const { send } = shop(['Done.'])
  await expect(send(result())).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await send('Order')
  const mixed = [...result(), { text: 'and hello' }] as never
  await expect(send(mixed)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  await send(result())
  const other = [{ functionResponse: { id: 'o1', name: 'order', response: { box: 'lost' } } }]
  await expect(send(other)).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
})

test('the runner returns the events of the first result when the result is sent again, and records nothing', async () => {
  const { model, send } = shop(['Done.'])
  await send('Order')
  const first = await send(result())
  const again = await send(result())
  expect(again.events).toEqual(first.events)
  expect(again.text).toBe('Done.')
  model.assertComplete()
})

test('the runner records a result under the name of the called tool', async () => {
  const { model, send } = shop(['Done.'])
  await send('Order')
  await send([{ functionResponse: { id: 'o1', name: 'transfer_to_agent', response: { ok: true } } }])
  expect(model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse).toEqual({
    id: 'o1',
    name: 'order',
    response: { ok: true },
  })
})

test('the runner resumes an agent tool with the result of its inner call', async () => {
  const inner = scriptedModel([ordering, 'arrived'])
  const buyer = new LlmAgent({ name: 'buyer', model: inner, tools: [order] })
  const outer = scriptedModel([{ calls: [{ name: 'buyer', args: { request: 'Buy.' }, id: 'b1' }] }, 'All is here.'])
  const agent = new LlmAgent({ name: 'boss', model: outer, tools: [agentTool(buyer)] })
  const runner = new Runner({ appName: 'app', agent })
  const first = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
  expect(first.pending).toMatchObject([{ functionCallId: 'o1', agent: 'buyer' }])
  const second = await runner.complete({ userId: 'ada', sessionId: 's1', message: result() })
  expect(second.text).toBe('All is here.')
  expect(shown(inner.requests[1]?.contents)).toEqual([['Buy.'], ['order'], [{ box: 'here' }]])
  expect(shown(outer.requests[1]?.contents)).toEqual([['Go'], ['buyer'], [{ text: 'arrived' }]])
})
