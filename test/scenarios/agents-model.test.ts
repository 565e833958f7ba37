import { agentTool, type Content, LlmAgent, type Model, ParallelAgent, Runner, SequentialAgent } from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { plainTool, recordingLogger, runMessage, runScenario } from './kit.ts'

const look = plainTool('look', (args) => ({ args }), { mayRepeat: true })
const lookAt = (at: number): ScriptedStep => ({ calls: [{ name: 'look', args: { at } }] })

test('the runner records MODEL_ERROR when the model throws, and accepts the next message', async () => {
  const first = await runScenario({ steps: [{ error: 'quota used up' }, 'Back again.'] })
  expect(first.error).toEqual({ code: 'MODEL_ERROR', message: 'quota used up' })
  const second = await runMessage(first.runner, first.model, { sessionId: first.sessionId })
  expect(second.text).toBe('Back again.')
  expect(second.error).toBeUndefined()
})

const modelOf = (generate: Model['generate']): Model => ({ name: 'odd', generate })

const completeWith = async (model: Model, streaming = false) => {
  const agent = new LlmAgent({ name: 'agent', model })
  const runner = new Runner({ appName: 'app', agent, logger: recordingLogger() })
  return await runner.complete({ userId: 'ada', message: 'Hi', runConfig: { streaming } })
}

test('the runner records MODEL_ERROR with the model name when the model yields no complete response', async () => {
  const partial = { content: { role: 'model', parts: [{ text: 'He' }] } satisfies Content, partial: true }
  const model = modelOf(async function* () {
    yield partial
  })
  expect((await completeWith(model, true)).error).toEqual({
    code: 'MODEL_ERROR',
    message: expect.stringContaining('"odd"'),
  })
  const silent = modelOf(async function* () {})
  expect((await completeWith(silent)).error?.code).toBe('MODEL_ERROR')
})

test('the runner records MODEL_ERROR when the model throws before yielding', async () => {
  const model = modelOf(() => {
    throw new TypeError('no key')
  })
  expect((await completeWith(model)).error).toEqual({ code: 'MODEL_ERROR', message: 'no key' })
})

test('the runner ends the agent at a response with an error code and does not run its calls', async () => {
  let ran = 0
  const { error, events } = await runScenario({
    tools: [plainTool('look', () => ran++)],
    steps: [{ calls: [{ name: 'look' }], response: { errorCode: 'SAFETY', errorMessage: 'blocked' } }, 'never'],
  })
  expect(error).toEqual({ code: 'SAFETY', message: 'blocked' })
  expect(events).toHaveLength(1)
  expect(ran).toBe(0)
})

test('the runner accepts an empty reply', async () => {
  for (const step of [{ parts: [] }, { response: { finishReason: 'STOP' } }] satisfies ScriptedStep[]) {
    const { text, error, events, model } = await runScenario({ steps: [step, 'never'] })
    expect([text, error, events.length, model.requests.length]).toEqual(['', undefined, 1, 1])
  }
  const without = modelOf(async function* () {
    yield { finishReason: 'STOP' }
  })
  expect(await completeWith(without)).toMatchObject({ text: '', error: undefined })
})

test('the runner copies the metadata of a response to its event', async () => {
  const response = {
    finishReason: 'STOP',
    usageMetadata: { totalTokenCount: 7 },
    groundingMetadata: { a: 1 },
    citationMetadata: { b: 2 },
    customMetadata: { c: 3 },
  }
  const { events } = await runScenario({ steps: [{ text: 'ok', response }] })
  expect(events[0]).toMatchObject(response)
})

test('the runner sends generateContentConfig with every request', async () => {
  const { model } = await runScenario({
    tools: [look],
    steps: [lookAt(1), 'ok'],
    agent: { generateContentConfig: { temperature: 0.1, toolConfig: { mode: 'ANY' } } },
  })
  for (const { config } of model.requests) {
    expect(config).toMatchObject({ temperature: 0.1, toolConfig: { mode: 'ANY' } })
    expect(config.tools).toHaveLength(1)
  }
})

test('the runner sends an agent with includeContents "none" only the last message and the events of its turn', async () => {
  const steps = ['one', lookAt(1), 'two']
  const { runner, model, sessionId } = await runScenario({ tools: [look], steps, agent: { includeContents: 'none' } })
  await runMessage(runner, model, { sessionId })
  expect(model.requests.map(({ contents }) => contents.map(({ role }) => role))).toEqual([
    ['user'],
    ['user'],
    ['user', 'model', 'tool'],
  ])
})

test('in a sequence, an agent with includeContents "none" receives the output of the previous agent', async () => {
  const model = scriptedModel(['a draft', 'a review'])
  const writer = new LlmAgent({ name: 'writer', model })
  const critic = new LlmAgent({ name: 'critic', model, includeContents: 'none' })
  const agent = new SequentialAgent({ name: 'line', subAgents: [writer, critic] })
  await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Write.' })
  expect(model.requests[1]?.contents).toEqual([
    { role: 'user', parts: [{ text: 'For context:' }, { text: '[writer] said: a draft' }] },
  ])
})

test('the runner ends an agent after 16 model calls, or after maxIterations', async () => {
  const steps = Array.from({ length: 40 }, (_, at) => lookAt(at))
  const sixteen = await runScenario({ tools: [look], steps })
  expect(sixteen.error).toEqual({ code: 'MAX_ITERATIONS', message: expect.stringContaining('16') })
  expect(sixteen.model.requests).toHaveLength(16)
  const three = await runScenario({ tools: [look], steps, agent: { maxIterations: 3 } })
  expect(three.error?.code).toBe('MAX_ITERATIONS')
  expect(three.model.requests).toHaveLength(3)
  const again = await runMessage(three.runner, three.model, { sessionId: three.sessionId })
  expect(again.model.requests).toHaveLength(6)
})

test('the runner shares maxLlmCalls between sub-agents and agent tools', async () => {
  const inner = scriptedModel([lookAt(1), lookAt(2), lookAt(3), 'never'])
  const helper = new LlmAgent({ name: 'helper', model: inner, tools: [look] })
  const outer = scriptedModel([{ calls: [{ name: 'helper', args: { request: 'help' } }] }, 'never'])
  const first = new LlmAgent({ name: 'first', model: scriptedModel(['ready']) })
  const second = new LlmAgent({ name: 'second', model: outer, tools: [agentTool(helper)] })
  const agent = new SequentialAgent({ name: 'line', subAgents: [first, second] })
  const runner = new Runner({ appName: 'app', agent, logger: recordingLogger() })
  const { error, events } = await runner.complete({ userId: 'ada', message: 'Go', runConfig: { maxLlmCalls: 4 } })
  expect(error).toEqual({ code: 'MAX_LLM_CALLS', message: expect.stringContaining('4') })
  expect(inner.requests.length + outer.requests.length).toBe(3)
  expect(events.filter(({ errorCode }) => errorCode === 'MAX_LLM_CALLS').map(({ author }) => author)).toEqual([
    'helper',
    'second',
  ])
})

test.each([
  [3, 2, 'MAX_LLM_CALLS'],
  [6, 4, undefined],
])(
  'the runner shares a budget of %i model calls between agents that run at the same time',
  async (maxLlmCalls, helped, code) => {
    const helpers = scriptedModel(['one', 'two', 'three', 'four'])
    const helper = new LlmAgent({ name: 'helper', model: helpers })
    const calls = Array.from({ length: 4 }, () => ({ name: 'helper', args: { request: 'help' } }))
    const model = scriptedModel([{ calls }, 'done'])
    const agent = new LlmAgent({ name: 'agent', model, tools: [agentTool(helper)] })
    const runner = new Runner({ appName: 'app', agent, logger: recordingLogger() })
    const { error } = await runner.complete({ userId: 'ada', message: 'Go', runConfig: { maxLlmCalls } })
    expect(helpers.requests).toHaveLength(helped)
    expect(model.requests).toHaveLength(code ? 1 : 2)
    expect(error?.code).toBe(code)
  },
)

test('the runner does not count a model call for an agent that fails before asking its model', async () => {
  const fail = (): never => {
    throw new Error('no instruction')
  }
  const broken = new LlmAgent({ name: 'broken', model: scriptedModel([]), instruction: fail })
  const model = scriptedModel([{ calls: [{ name: 'look' }] }, 'done'])
  const good = new LlmAgent({ name: 'good', model, tools: [look] })
  const agent = new ParallelAgent({ name: 'both', subAgents: [broken, good] })
  const runner = new Runner({ appName: 'app', agent, logger: recordingLogger() })
  const { events } = await runner.complete({ userId: 'ada', message: 'Go', runConfig: { maxLlmCalls: 2 } })
  expect(events.flatMap(({ errorCode }) => errorCode ?? [])).toEqual(['AGENT_ERROR'])
  expect(model.requests).toHaveLength(2)
})
