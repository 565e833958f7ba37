// get_user_choice: the user answers with one of the options.
import { getUserChoice, InMemorySessionService, LlmAgent, respond } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { answerPart, requestFor, sendMessage, startProcess, stores, where } from './approvals-kit.ts'
import { declarationsOf } from './kit.ts'

const args = { prompt: 'Which?', options: ['tea', 'coffee'] }
const steps = [{ calls: [{ id: 'u1', name: 'get_user_choice', args }] }, 'Here you are.']

describe.each(stores)('get_user_choice with sessions %s', (_, newStore) => {
  test('pauses with the options and shows the chosen option to the model', async () => {
    const store = newStore()
    const first = startProcess(store, { tools: [getUserChoice()], steps: steps.slice(0, 1) })
    const { pending, events } = await sendMessage(first.runner)
    expect(requestFor(pending)).toMatchObject({ kind: 'longRunning', tool: 'get_user_choice', args })
    expect(events.at(-1)?.content?.parts).toEqual([
      {
        functionResponse: {
          id: 'u1',
          name: 'get_user_choice',
          response: { status: 'awaiting_user', ...args },
          willContinue: true,
        },
      },
    ])
    const { runner, model } = startProcess(store, { tools: [getUserChoice()], steps: steps.slice(1) })
    expect((await sendMessage(runner, [respond(requestFor(pending), 'tea')])).text).toBe('Here you are.')
    expect(model.requests[0]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({ result: 'tea' })
  })

  test.each<[string, unknown]>([
    ['a text that is not an option', 'water'],
    ['the number of an option', 0],
    ['null', null],
    ['an empty object', {}],
    ['a list of all options', ['tea', 'coffee']],
    ['an object with two options', { first: 'tea', second: 'coffee' }],
    ['a name from the prototype', 'constructor'],
  ])('rejects %s and keeps the request pending', async (_name, wrong) => {
    const { runner } = startProcess(newStore(), { tools: [getUserChoice()], steps })
    const { pending } = await sendMessage(runner)
    await expect(sendMessage(runner, [respond(requestFor(pending), wrong)])).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('tea, coffee'),
    })
    expect(await runner.pending(where)).toHaveLength(1)
    expect((await sendMessage(runner, [respond(requestFor(pending), { choice: 'coffee' })])).text).toBe('Here you are.')
  })

  test('rejects a partial result and keeps the options', async () => {
    const { runner } = startProcess(newStore(), { tools: [getUserChoice()], steps })
    await sendMessage(runner)
    const update = { functionResponse: { id: 'u1', name: 'x', response: { status: 'thinking' }, willContinue: true } }
    await expect(sendMessage(runner, [update])).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await expect(sendMessage(runner, [answerPart('u1', { result: 'water' })])).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    })
    expect((await sendMessage(runner, [answerPart('u1', { result: 'tea' })])).text).toBe('Here you are.')
  })

  test('ignores the same choice sent again and rejects a different choice', async () => {
    const { runner } = startProcess(newStore(), { tools: [getUserChoice()], steps })
    const { pending } = await sendMessage(runner)
    const first = await sendMessage(runner, [respond(requestFor(pending), 'tea')])
    expect((await sendMessage(runner, [respond(requestFor(pending), 'tea')])).events).toEqual(first.events)
    await expect(sendMessage(runner, [respond(requestFor(pending), 'coffee')])).rejects.toMatchObject({
      code: 'ALREADY_ANSWERED',
    })
  })
})

test('get_user_choice has required arguments and tells the model not to repeat the call', async () => {
  const { runner, model } = startProcess(stores[0]?.[1]() as never, { tools: [getUserChoice()], steps: ['hi'] })
  await sendMessage(runner)
  const [declared] = declarationsOf(model)
  expect(declared?.description).toContain('do not call the tool again')
  expect(declared?.parametersJsonSchema).toMatchObject({ required: ['prompt', 'options'] })
})

test('get_user_choice answers INVALID_ARGS when the model offers no options', async () => {
  const bad = { calls: [{ id: 'u1', name: 'get_user_choice', args: { prompt: 'Which?', options: [] } }] }
  const { runner } = startProcess(stores[0]?.[1]() as never, { tools: [getUserChoice()], steps: [bad, 'sorry'] })
  const { pending, events } = await sendMessage(runner)
  expect(pending).toEqual([])
  expect(JSON.stringify(events)).toContain('INVALID_ARGS')
})

test('an agent rejects get_user_choice twice in its tools', () => {
  expect(() => new LlmAgent({ name: 'a', tools: [getUserChoice(), getUserChoice()] })).toThrow('get_user_choice')
})

test('runner.pending() lists get_user_choice with its hint and schema', async () => {
  const args = { prompt: 'Which?', options: ['tea', 'coffee'] }
  const steps = [{ calls: [{ id: 'u1', name: 'get_user_choice', args }] }]
  const { runner } = startProcess(new InMemorySessionService(), { tools: [getUserChoice()], steps })
  const { pending } = await sendMessage(runner)
  expect(await runner.pending()).toEqual(pending)
})
