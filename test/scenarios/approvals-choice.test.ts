// The user chooses from what the model offers, and from nothing else.
import { getUserChoice, LlmAgent, respond } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { about, answer, process, say, stores, where } from './approvals-kit.ts'
import { declarationsOf } from './kit.ts'

const args = { prompt: 'Which?', options: ['tea', 'coffee'] }
const steps = [{ calls: [{ id: 'u1', name: 'get_user_choice', args }] }, 'Here you are.']

describe.each(stores)('%s', (_, newStore) => {
  test('the model offers, the user chooses, the model hears it', async () => {
    const store = newStore()
    const first = process(store, { tools: [getUserChoice()], steps: steps.slice(0, 1) })
    const { pending, events } = await say(first.runner)
    expect(about(pending)).toMatchObject({ kind: 'longRunning', tool: 'get_user_choice', args })
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
    const { runner, model } = process(store, { tools: [getUserChoice()], steps: steps.slice(1) })
    expect((await say(runner, [respond(about(pending), 'tea')])).text).toBe('Here you are.')
    expect(model.requests[0]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({ result: 'tea' })
  })

  test.each<[string, unknown]>([
    ['something else', 'water'],
    ['the number of an option', 0],
    ['nothing', null],
    ['an empty object', {}],
    ['all of them', ['tea', 'coffee']],
    ['two at once', { first: 'tea', second: 'coffee' }],
    ['a name from the prototype', 'constructor'],
  ])('%s is refused, and the choice stays open', async (_name, wrong) => {
    const { runner } = process(newStore(), { tools: [getUserChoice()], steps })
    const { pending } = await say(runner)
    await expect(say(runner, [respond(about(pending), wrong)])).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('tea, coffee'),
    })
    expect(await runner.pending(where)).toHaveLength(1)
    expect((await say(runner, [respond(about(pending), { choice: 'coffee' })])).text).toBe('Here you are.')
  })

  test('an update is no choice and does not take the options away', async () => {
    const { runner } = process(newStore(), { tools: [getUserChoice()], steps })
    await say(runner)
    const update = { functionResponse: { id: 'u1', name: 'x', response: { status: 'thinking' }, willContinue: true } }
    await expect(say(runner, [update])).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await expect(say(runner, [answer('u1', { result: 'water' })])).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect((await say(runner, [answer('u1', { result: 'tea' })])).text).toBe('Here you are.')
  })

  test('the same choice again changes nothing, another comes too late', async () => {
    const { runner } = process(newStore(), { tools: [getUserChoice()], steps })
    const { pending } = await say(runner)
    const first = await say(runner, [respond(about(pending), 'tea')])
    expect((await say(runner, [respond(about(pending), 'tea')])).events).toEqual(first.events)
    await expect(say(runner, [respond(about(pending), 'coffee')])).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
  })
})

test('the model is told not to ask again meanwhile, and what it must say', async () => {
  const { runner, model } = process(stores[0]?.[1]() as never, { tools: [getUserChoice()], steps: ['hi'] })
  await say(runner)
  const [declared] = declarationsOf(model)
  expect(declared?.description).toContain('do not call it again')
  expect(declared?.parametersJsonSchema).toMatchObject({ required: ['prompt', 'options'] })
})

test('a choice without options is the model’s mistake', async () => {
  const bad = { calls: [{ id: 'u1', name: 'get_user_choice', args: { prompt: 'Which?', options: [] } }] }
  const { runner } = process(stores[0]?.[1]() as never, { tools: [getUserChoice()], steps: [bad, 'sorry'] })
  const { pending, events } = await say(runner)
  expect(pending).toEqual([])
  expect(JSON.stringify(events)).toContain('INVALID_ARGS')
})

test('it is a tool like any other', () => {
  expect(() => new LlmAgent({ name: 'a', tools: [getUserChoice(), getUserChoice()] })).toThrow('get_user_choice')
})
