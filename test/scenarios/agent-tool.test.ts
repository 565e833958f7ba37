import { type Agent, agentTool, cached, type Event, LlmAgent, type Plugin, Runner } from 'toolwright'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { declarationsOf, plainTool, recordingLogger, responsesOf } from './kit.ts'

const ask = (name: string, args: { [key: string]: unknown } = { request: 'Help!' }, id?: string): ScriptedStep => ({
  calls: [{ name, args, ...(id && { id }) }],
})
const send = (agent: Agent, plugins?: readonly Plugin[]) =>
  new Runner({ appName: 'app', agent, plugins, logger: recordingLogger() }).complete({ userId: 'ada', message: 'Go' })
const inside = (events: readonly Event[]) => events.filter(({ isolationScope }) => isolationScope)
const texts = ({ requests }: ScriptedModel, at = 0) =>
  requests[at]?.contents.flatMap(({ parts }) => parts.map((part) => part.text ?? Object.keys(part)[0]))

test("an agent tool sends the request to its agent and answers the call with the agent's text", async () => {
  const inner = scriptedModel(['42'])
  const helper = new LlmAgent({ name: 'helper', description: 'Knows numbers.', model: inner })
  const outer = scriptedModel([ask('helper', { request: 'Which number?' }, 'c1'), 'It is 42.'])
  const { events, text } = await send(new LlmAgent({ name: 'boss', model: outer, tools: [agentTool(helper)] }))
  expect(declarationsOf(outer)).toMatchObject([
    { name: 'helper', description: 'Knows numbers.', parametersJsonSchema: { required: ['request'] } },
  ])
  expect(text).toBe('It is 42.')
  expect(responsesOf(events)).toEqual([{ id: 'c1', name: 'helper', response: { text: '42' } }])
  const scope = 'boss/helper@c1'
  expect(
    inside(events).map(({ author, isolationScope, nodeInfo }) => [author, isolationScope, nodeInfo?.path]),
  ).toEqual([
    ['boss', scope, scope],
    ['helper', scope, scope],
  ])
})

test("an agent tool shows its agent only the request, and the caller's model only the answer", async () => {
  const look = plainTool('look', () => ({ secret: 'inner' }))
  const inner = scriptedModel([ask('look', {}), '42'])
  const helper = new LlmAgent({ name: 'helper', model: inner, tools: [look] })
  const outer = scriptedModel([ask('helper', { request: 'Which number?' }), 'It is 42.'])
  await send(new LlmAgent({ name: 'boss', model: outer, tools: [agentTool(helper)] }))
  expect(texts(inner)).toEqual(['Which number?'])
  expect(texts(inner, 1)).toEqual(['Which number?', 'functionCall', 'functionResponse'])
  expect(texts(outer, 1)).toEqual(['Go', 'functionCall', 'functionResponse'])
  expect(JSON.stringify(outer.requests[1]?.contents)).not.toContain('inner')
})

test('an agent tool starts each call with an empty conversation, in one invocation and in the next', async () => {
  const inner = scriptedModel(['one', 'two', 'three'])
  const helper = new LlmAgent({ name: 'helper', model: inner })
  const outer = scriptedModel([ask('helper'), ask('helper'), 'ok', ask('helper'), 'ok'])
  const agent = new LlmAgent({ name: 'boss', model: outer, tools: [agentTool(helper)] })
  const runner = new Runner({ appName: 'app', agent })
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Again' })
  for (const at of [0, 1, 2]) expect(texts(inner, at)).toEqual(['Help!'])
})

test('an agent tool is declared with the given name and description', async () => {
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel(['ok']) })
  const model = scriptedModel([ask('ask_expert', { request: 'x' }, 'c1'), 'done'])
  const tools = [agentTool(helper, { name: 'ask_expert', description: 'Asks an expert.' })]
  const { events } = await send(new LlmAgent({ name: 'boss', model, tools }))
  expect(declarationsOf(model)[0]).toMatchObject({ name: 'ask_expert', description: 'Asks an expert.' })
  expect(inside(events)[0]?.nodeInfo?.path).toBe('boss/helper@c1')
})

test('an agent tool validates arguments with inputSchema and answers with the outputSchema object', async () => {
  const inner = scriptedModel(['{"sum":3}'])
  const adder = new LlmAgent({
    name: 'adder',
    model: inner,
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  })
  const outer = scriptedModel([ask('adder', { a: 'one' }), ask('adder', { a: 1, b: 2 }), 'ok'])
  const { events } = await send(new LlmAgent({ name: 'boss', model: outer, tools: [agentTool(adder)] }))
  expect(declarationsOf(outer)[0]).toMatchObject({
    parametersJsonSchema: { required: ['a', 'b'] },
    responseJsonSchema: { required: ['sum'] },
  })
  expect(responsesOf(events).map(({ response }) => response)).toEqual([
    { error: expect.stringContaining('a'), errorCode: 'INVALID_ARGS' },
    { sum: 3 },
  ])
  expect(inner.requests).toHaveLength(1)
  expect(JSON.parse(String(texts(inner)?.[0]))).toEqual({ a: 1, b: 2 })
})

test('an agent tool answers INVALID_ARGS without running its agent when the request is missing', async () => {
  const inner = scriptedModel([])
  const helper = new LlmAgent({ name: 'helper', model: inner })
  const model = scriptedModel([ask('helper', { question: 'x' }), 'ok'])
  const { events } = await send(new LlmAgent({ name: 'boss', model, tools: [agentTool(helper)] }))
  expect(responsesOf(events)[0]?.response).toMatchObject({ errorCode: 'INVALID_ARGS' })
  expect(inside(events)).toEqual([])
})

test("an agent tool answers a failed call when its agent fails, and the caller's agent continues", async () => {
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel([{ error: 'no power' }]) })
  const model = scriptedModel([ask('helper'), 'I could not ask.'])
  const { events, text, error } = await send(new LlmAgent({ name: 'boss', model, tools: [agentTool(helper)] }))
  expect(responsesOf(events)[0]?.response).toMatchObject({ text: '', error: 'no power' })
  expect(text).toBe('I could not ask.')
  expect(error).toBeUndefined()
})

test("an agent tool ends the run with the agent's answer when skipSummarization is set", async () => {
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel(['42']) })
  const model = scriptedModel([ask('helper'), 'never'])
  const tools = [agentTool(helper, { skipSummarization: true })]
  const { events, text } = await send(new LlmAgent({ name: 'boss', model, tools }))
  expect(text).toBe('42')
  expect(model.requests).toHaveLength(1)
  expect(events.at(-1)?.actions.skipSummarization).toBe(true)
})

test("an agent tool uses the caller's model for an agent without a model", async () => {
  const model = scriptedModel([ask('helper'), 'from the same model', 'ok'])
  const helper = new LlmAgent({ name: 'helper' })
  const { events } = await send(new LlmAgent({ name: 'boss', model, tools: [agentTool(helper)] }))
  expect(responsesOf(events)[0]?.response).toEqual({ text: 'from the same model' })
})

test('an agent tool calls plugins for its agent unless includePlugins is false', async () => {
  for (const includePlugins of [true, false]) {
    const seen: string[] = []
    const plugin: Plugin = { name: 'watch', beforeModel: ({ context }) => void seen.push(context.invocation.agentName) }
    const helper = new LlmAgent({ name: 'helper', model: scriptedModel(['42']) })
    const model = scriptedModel([ask('helper'), 'ok'])
    await send(new LlmAgent({ name: 'boss', model, tools: [agentTool(helper, { includePlugins })] }), [plugin])
    expect(seen).toEqual(includePlugins ? ['boss', 'helper', 'boss'] : ['boss', 'boss'])
  }
})

test("an agent tool writes state that the caller's agent reads", async () => {
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel(['42']), outputKey: 'answer' })
  const model = scriptedModel([ask('helper'), 'ok'])
  const agent = new LlmAgent({ name: 'boss', model, instruction: 'Known: {answer?}', tools: [agentTool(helper)] })
  await send(agent)
  expect(model.requests.map(({ config }) => config.systemInstruction)).toEqual(['Known: ', 'Known: 42'])
})

test('an agent tool is not limited by toolTimeoutMs of the runner', async () => {
  const set: number[] = []
  const setTimer = (_: () => void, ms: number) => {
    set.push(ms)
    return () => {}
  }
  const look = plainTool('look', async () => 'seen', { timeoutMs: 3 })
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel([ask('look', {}), '42']), tools: [look] })
  const model = scriptedModel([ask('helper'), 'ok'])
  const agent = new LlmAgent({ name: 'boss', model, tools: [agentTool(helper)] })
  const runner = new Runner({ appName: 'app', agent, ports: { setTimer }, toolTimeoutMs: 7 })
  expect((await runner.complete({ userId: 'ada', message: 'Go' })).text).toBe('ok')
  expect(set).toContain(3)
  expect(set).not.toContain(7)
})

test('cached() around an agent tool answers an equal call from the cache', async () => {
  const inner = scriptedModel(['42'])
  const helper = new LlmAgent({ name: 'helper', model: inner })
  const model = scriptedModel([ask('helper'), ask('helper'), 'ok'])
  const { events } = await send(new LlmAgent({ name: 'boss', model, tools: [cached(agentTool(helper))] }))
  expect(responsesOf(events).map(({ response }) => response)).toEqual([{ text: '42' }, { text: '42' }])
  expect(inner.requests).toHaveLength(1)
})
