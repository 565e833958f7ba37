import { type Callbacks, type Content, LlmAgent, type LlmResponse, Runner, ToolError } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { plainTool, recordingLogger, runScenario } from './kit.ts'

const say = (text: string): Content => ({ role: 'model', parts: [{ text }] })
const reply = (text: string): LlmResponse => ({ content: say(text) })
const look = plainTool('look', () => ({ found: 'a key' }))
const looking = [{ calls: [{ name: 'look' }] }, 'done']

test('the runner calls all eight callbacks in the order of an invocation', async () => {
  const seen: string[] = []
  const note = (what: string) => () => {
    seen.push(what)
  }
  const failing = plainTool('fail', () => {
    throw new ToolError('broken')
  })
  await runScenario({
    tools: [look, failing],
    steps: [{ calls: [{ name: 'look' }] }, { calls: [{ name: 'fail' }] }, { error: 'model is down' }],
    agent: {
      beforeAgent: note('beforeAgent'),
      afterAgent: note('afterAgent'),
      beforeModel: note('beforeModel'),
      afterModel: note('afterModel'),
      onModelError: note('onModelError'),
      beforeTool: note('beforeTool'),
      afterTool: note('afterTool'),
      onToolError: note('onToolError'),
    },
  })
  const turn = ['beforeModel', 'afterModel', 'beforeTool']
  const last = ['beforeModel', 'onModelError', 'afterAgent']
  expect(seen).toEqual(['beforeAgent', ...turn, 'afterTool', ...turn, 'onToolError', ...last])
})

test('the runner skips the agent when a beforeAgent callback returns content, and skips later callbacks', async () => {
  const seen: string[] = []
  const { text, model, events } = await runScenario({
    steps: [],
    agent: {
      beforeAgent: [
        () => void seen.push('one'),
        async () => say('Closed today.'),
        () => {
          seen.push('three')
          return say('never')
        },
      ],
    },
  })
  expect(text).toBe('Closed today.')
  expect(model.requests).toHaveLength(0)
  expect(seen).toEqual(['one'])
  expect(events).toHaveLength(1)
})

test('the runner adds the content of the last afterAgent callback as the last event', async () => {
  const { events, text } = await runScenario({
    steps: ['done'],
    agent: { afterAgent: [() => say('P.S. one'), () => undefined, () => say('P.S. two')] },
  })
  expect(events.map(({ content }) => content?.parts[0]?.text)).toEqual(['done', 'P.S. two'])
  expect(text).toBe('P.S. two')
})

test('the runner skips the model call when beforeModel returns a response, and runs the calls in that response', async () => {
  let modelRequests = 0
  const { model, responses, text } = await runScenario({
    tools: [look],
    steps: ['from the model'],
    agent: {
      beforeModel: [
        () => {
          if (modelRequests++ > 0) return undefined
          return { content: { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] } }
        },
      ],
    },
  })
  expect(responses[0]?.response).toEqual({ found: 'a key' })
  expect(model.requests).toHaveLength(1)
  expect(text).toBe('from the model')
})

test('the runner sends the request that beforeModel has changed', async () => {
  const { model } = await runScenario({
    steps: ['ok'],
    agent: {
      instruction: 'Be kind.',
      beforeModel: ({ request }) => {
        request.appendInstruction('And brief.')
        request.contents = [{ role: 'user', parts: [{ text: 'something else' }] }]
        request.config.temperature = 0
      },
    },
  })
  const [request] = model.requests
  expect(request?.config).toMatchObject({ systemInstruction: 'Be kind.\n\nAnd brief.', temperature: 0 })
  expect(request?.contents[0]?.parts[0]?.text).toBe('something else')
})

test('the runner chains afterModel callbacks: each callback sees the response of the previous one', async () => {
  const { text } = await runScenario({
    steps: ['a'],
    agent: {
      afterModel: [
        ({ response }) => reply(`${response.content?.parts[0]?.text}b`),
        () => undefined,
        async ({ response }) => reply(`${response.content?.parts[0]?.text}c`),
      ],
    },
  })
  expect(text).toBe('abc')
})

test('the runner replaces a model error with the response of the first onModelError callback that returns one', async () => {
  const seen: unknown[] = []
  const { text, error } = await runScenario({
    steps: [{ error: 'overloaded' }],
    agent: {
      onModelError: [
        ({ error }) => void seen.push((error as Error).message),
        () => reply('Please try later.'),
        () => void seen.push('never'),
      ],
    },
  })
  expect(text).toBe('Please try later.')
  expect(error).toBeUndefined()
  expect(seen).toEqual(['overloaded'])
})

test('the runner puts state written by a callback on the next event', async () => {
  const write =
    (key: string) =>
    ({ context }: { context: { state: { set(key: string, value: unknown): void } } }) =>
      context.state.set(key, 1)
  const { events, state } = await runScenario({
    tools: [look],
    steps: looking,
    agent: {
      beforeAgent: write('beforeAgent'),
      beforeModel: write('beforeModel'),
      afterModel: write('afterModel'),
      beforeTool: write('beforeTool'),
      afterTool: write('afterTool'),
      afterAgent: write('afterAgent'),
    },
  })
  const model = { beforeModel: 1, afterModel: 1 }
  const tool = { beforeTool: 1, afterTool: 1 }
  expect(events.map(({ actions }) => actions.stateDelta)).toEqual([
    { beforeAgent: 1 },
    model,
    tool,
    model,
    { afterAgent: 1 },
  ])
  expect(state).toEqual({ beforeAgent: 1, ...model, ...tool, afterAgent: 1 })
})

const boom = () => {
  throw new Error('callback broke')
}

test.each(['beforeAgent', 'afterAgent', 'beforeModel', 'afterModel'] as const)(
  'the runner ends the agent with an AGENT_ERROR event when %s throws',
  async (which) => {
    const { events, error } = await runScenario({
      steps: ['done', 'never'],
      agent: { [which]: boom } satisfies Callbacks,
    })
    expect(error).toEqual({ code: 'AGENT_ERROR', message: 'callback broke' })
    expect(events.filter(({ errorCode }) => errorCode)).toHaveLength(1)
  },
)

test('the runner ends the agent with an AGENT_ERROR event when onModelError throws', async () => {
  const { error } = await runScenario({ steps: [{ error: 'down' }], agent: { onModelError: boom } })
  expect(error).toEqual({ code: 'AGENT_ERROR', message: 'callback broke' })
})

test('the runner does not call onModelError when beforeModel throws', async () => {
  const { error, text } = await runScenario({
    steps: ['never'],
    agent: { beforeModel: boom, onModelError: () => reply('recovered') },
  })
  expect(error?.code).toBe('AGENT_ERROR')
  expect(text).toBe('')
})

test('the runner transfers the conversation when a callback sets actions.transferToAgent', async () => {
  const clerk = new LlmAgent({ name: 'clerk', model: scriptedModel(['I am the clerk.']) })
  const agent = new LlmAgent({
    name: 'root',
    model: scriptedModel(['Let me pass you on.']),
    subAgents: [clerk],
    afterModel: ({ context }) => {
      context.actions.transferToAgent = 'clerk'
    },
  })
  const { text } = await new Runner({ appName: 'app', agent, logger: recordingLogger() }).complete({
    userId: 'ada',
    message: 'Hi',
  })
  expect(text).toBe('I am the clerk.')
})
