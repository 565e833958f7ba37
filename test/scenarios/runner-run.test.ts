import {
  agentTool,
  type Event,
  InMemorySessionService,
  LlmAgent,
  type LlmResponse,
  type Model,
  ParallelAgent,
  Runner,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { plainTool, recordingLogger } from './kit.ts'

const keyOf = (sessionId: string) => ({ appName: 'app', userId: 'ada', sessionId })
const runnerOf = (steps: readonly ScriptedStep[], sessionService = new InMemorySessionService()) => {
  const look = plainTool('look', function* () {
    yield 'half way'
    return 'seen'
  })
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel(steps), tools: [look] })
  return new Runner({ appName: 'app', agent, sessionService, logger: recordingLogger() })
}

test('a run has ids before it starts and starts at the first iteration', async () => {
  const runner = runnerOf(['ok'])
  const run = runner.run({ userId: 'ada', message: 'Go' })
  const { sessionId, invocationId } = run
  expect(sessionId).toBeTruthy()
  expect(invocationId).toBeTruthy()
  await Promise.resolve()
  expect(await runner.sessionService.getSession(keyOf(sessionId))).toBeUndefined()
  for await (const event of run) expect(event.invocationId).toBe(invocationId)
  expect((await runner.sessionService.getSession(keyOf(sessionId)))?.events).toHaveLength(2)
})

test('the runner creates the session with the given id and uses the session for the next message', async () => {
  const runner = runnerOf(['one', 'two'])
  const first = await runner.complete({ userId: 'ada', sessionId: 'mine', message: 'Go' })
  const second = await runner.complete({ userId: 'ada', sessionId: 'mine', message: 'On' })
  expect([first.sessionId, second.sessionId]).toEqual(['mine', 'mine'])
  expect(second.invocationId).not.toBe(first.invocationId)
  const session = await runner.sessionService.getSession(keyOf('mine'))
  expect(session?.events.map(({ content }) => content?.parts[0]?.text)).toEqual(['Go', 'one', 'On', 'two'])
})

test('the runner yields every stored event after it is stored, in that order', async () => {
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel([{ deltas: ['4', '2'] }]) })
  const model = scriptedModel([
    { text: 'hm', calls: [{ name: 'look' }, { name: 'helper', args: { request: 'x' } }] },
    { error: 'down' },
  ])
  const look = plainTool('look', async function* () {
    yield 'half'
    return 1
  })
  const boss = new LlmAgent({ name: 'boss', model, tools: [look, agentTool(helper)] })
  const other = new LlmAgent({
    name: 'other',
    model: scriptedModel(['beside']),
    beforeAgent: ({ context }) => context.state.set('a', 1),
  })
  const agent = new ParallelAgent({ name: 'both', subAgents: [boss, other] })
  const runner = new Runner({ appName: 'app', agent, logger: recordingLogger() })
  const yielded: Event[] = []
  for await (const event of runner.run({
    userId: 'ada',
    sessionId: 's1',
    message: 'Go',
    runConfig: { streaming: true },
  })) {
    const stored = (await runner.sessionService.getSession(keyOf('s1')))?.events ?? []
    expect(stored.some(({ id }) => id === event.id)).toBe(!event.partial)
    yielded.push(event)
  }
  const stored = (await runner.sessionService.getSession(keyOf('s1')))?.events ?? []
  expect(stored.filter(({ author }) => author !== 'user')).toEqual(yielded.filter(({ partial }) => !partial))
  expect(yielded.filter(({ partial }) => partial).length).toBeGreaterThanOrEqual(3)
  expect(new Set(yielded.map(({ id }) => id)).size).toBe(yielded.length)
})

const call = (name: string, id?: string): LlmResponse['content'] => ({
  role: 'model',
  parts: [{ functionCall: { name, args: {}, ...(id && { id }) } }],
})

test.each([
  ['the model sends them', 'x', 'y'],
  ['the framework assigns them', undefined, undefined],
])('calls in deltas have the ids of the complete reply when %s', async (_, x, y) => {
  let modelCalls = 0
  const model: Model = {
    name: 'm',
    async *generate() {
      if (modelCalls++) {
        yield { content: { role: 'model', parts: [{ text: 'done' }] } }
        return
      }
      const [one, two] = [call('look', x), call('listen', y)]
      yield { content: one, partial: true }
      yield { content: two, partial: true }
      yield { content: { role: 'model', parts: [...(one?.parts ?? []), ...(two?.parts ?? [])] } }
    },
  }
  const tools = [plainTool('look', () => 1), plainTool('listen', () => 2)]
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools }) })
  const partial: unknown[] = []
  const whole: unknown[] = []
  for await (const event of runner.run({ userId: 'ada', message: 'Go', runConfig: { streaming: true } })) {
    for (const { functionCall } of event.content?.parts ?? []) {
      if (functionCall) (event.partial ? partial : whole).push([functionCall.name, functionCall.id])
    }
  }
  expect(partial).toEqual(whole)
  expect(new Set(whole.map(String)).size).toBe(2)
  if (x)
    expect(whole).toEqual([
      ['look', x],
      ['listen', y],
    ])
})

test('the runner yields deltas only with streaming', async () => {
  const texts = async (streaming: boolean) => {
    const seen: unknown[] = []
    const run = runnerOf([{ deltas: ['a', 'b'] }]).run({ userId: 'ada', message: 'Go', runConfig: { streaming } })
    for await (const { content, partial } of run) seen.push([content?.parts[0]?.text, partial ?? false])
    return seen
  }
  expect(await texts(false)).toEqual([['ab', false]])
  expect(await texts(true)).toEqual([
    ['a', true],
    ['b', true],
    ['ab', false],
  ])
})

test('the runner stores nothing of a reply that fails after some deltas', async () => {
  const runner = runnerOf([{ deltas: ['a', 'b'], error: 'lost' }])
  const codes: unknown[] = []
  for await (const { partial, errorCode } of runner.run({
    userId: 'ada',
    sessionId: 's1',
    message: 'Go',
    runConfig: { streaming: true },
  })) {
    codes.push(errorCode ?? partial)
  }
  expect(codes).toEqual([true, true, 'MODEL_ERROR'])
  const session = await runner.sessionService.getSession(keyOf('s1'))
  expect(JSON.stringify(session?.events)).not.toContain('"a"')
})

test('complete() returns the text and the events, without partial events', async () => {
  const runner = runnerOf([{ deltas: ['a'], calls: [{ name: 'look' }] }, 'All seen.'])
  const done = await runner.complete({ userId: 'ada', message: 'Go', runConfig: { streaming: true } })
  expect(done).toMatchObject({ text: 'All seen.', pending: [], error: undefined })
  expect(done.events.map(({ content, partial }) => [content?.role, partial])).toEqual([
    ['model', undefined],
    ['tool', undefined],
    ['model', undefined],
  ])
})

test('complete() returns the pending requests', async () => {
  const order = tool({ name: 'order', description: 'Orders', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const model = scriptedModel([{ calls: [{ name: 'order', args: {}, id: 'o1' }] }])
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools: [order] }) })
  const { pending, sessionId, invocationId } = await runner.complete({ userId: 'ada', message: 'Go' })
  expect(pending).toEqual([
    expect.objectContaining({
      id: 'o1',
      kind: 'longRunning',
      userId: 'ada',
      sessionId,
      invocationId,
      functionCallId: 'o1',
      tool: 'order',
      args: {},
      agent: 'agent',
    }),
  ])
})

test('the runner applies and stores stateDelta of the message before the first model call', async () => {
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel(['ok', 'ok']), instruction: '{mood} {temp:now?}' })
  const runner = new Runner({ appName: 'app', agent })
  const stateDelta = { mood: 'good', 'user:name': 'Ada', 'temp:now': 'here', gone: null }
  const { error } = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go', stateDelta })
  expect(error).toBeUndefined()
  const session = await runner.sessionService.getSession(keyOf('s1'))
  expect(session?.state).toEqual({ mood: 'good', 'user:name': 'Ada' })
  expect(session?.events[0]?.actions.stateDelta).toEqual({ mood: 'good', 'user:name': 'Ada', gone: null })
})

test('the runner puts customMetadata of runConfig on every event, including user and partial events', async () => {
  const runner = runnerOf([
    { deltas: ['a'], calls: [{ name: 'look' }], response: { customMetadata: { own: 1 } } },
    'ok',
  ])
  const runConfig = { streaming: true, customMetadata: { trace: 't1' } }
  let seen = 0
  for await (const event of runner.run({ userId: 'ada', sessionId: 's1', message: 'Go', runConfig })) {
    expect(event.customMetadata).toMatchObject({ trace: 't1' })
    seen++
  }
  expect(seen).toBeGreaterThan(3)
  const session = await runner.sessionService.getSession(keyOf('s1'))
  expect(session?.events[0]?.customMetadata).toEqual({ trace: 't1' })
  expect(session?.events[1]?.customMetadata).toEqual({ trace: 't1', own: 1 })
})

test('the runner rejects a second iteration of one run', async () => {
  const run = runnerOf(['ok']).run({ userId: 'ada', message: 'Go' })
  for await (const _ of run);
  await expect(async () => {
    for await (const _ of run);
  }).rejects.toThrow('once')
})

test.each([
  ['a call', [{ functionCall: { name: 'look', args: {} } }]],
  ['a call beside text', { role: 'user', parts: [{ text: 'x' }, { functionCall: { name: 'look', args: {} } }] }],
  ['undefined', undefined],
  ['null', null],
  ['white space', ' \n'],
  ['a number', 7],
  ['an empty list', []],
  ['a list of texts', ['text']],
  ['an empty part', [{}]],
  ['a text that is a number', [{ text: 7 }]],
  ['an object without parts', { role: 'user' }],
  ['a functionResponse that is a text', [{ functionResponse: 'yes' }]],
])('the runner rejects a message of %s and creates no session', async (_, message) => {
  const runner = runnerOf([])
  const refused = await runner.complete({ userId: 'ada', sessionId: 's1', message: message as never }).catch((e) => e)
  expect(refused).toMatchObject({ name: 'ToolwrightError', code: 'INVALID_REQUEST' })
  expect(await runner.sessionService.getSession(keyOf('s1'))).toBeUndefined()
})

describe('an invalid message', () => {
  const runner = runnerOf(['hello'])
  const bad: [string, unknown][] = [
    ['a number', 42],
    ['undefined', undefined],
    ['an empty text', ' '],
    ['a function call', [{ functionCall: { name: 'pay', args: {} } }]],
  ]

  test.each(bad)('of %s rejects the iteration, and run() does not throw', async (_, message) => {
    const run = runner.run({ userId: 'ada', sessionId: 's9', message: message as string })
    expect(run.sessionId).toBe('s9')
    await expect(run[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'INVALID_REQUEST', status: 400 })
    expect(await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's9' })).toBeUndefined()
  })

  test('of a run without a consumer causes no unhandled rejection, also with detach', () => {
    runner.run({ userId: 'ada', message: 42 as never })
    runner.run({ userId: 'ada', message: 42 as never, runConfig: { detach: true } })
  })

  test('rejects complete()', async () => {
    await expect(runner.complete({ userId: 'ada', message: 42 as never })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    })
  })
})
