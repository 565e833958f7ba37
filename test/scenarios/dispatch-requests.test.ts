import { functionCallsOf, toolSource } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { offeredTools, plainTool, runScenario } from './kit.ts'

test('the runner calls processLlmRequest of every tool before every model call', async () => {
  const seen: string[] = []
  const adding = (name: string) =>
    plainTool(name, () => name, {
      processLlmRequest: (request, context) => {
        seen.push(`${name} for ${context.invocation.agentName}`)
        request.appendInstruction(`Use ${name}.`)
      },
    })
  const { model } = await runScenario({
    tools: [adding('a'), [toolSource(() => adding('b'))]],
    steps: [{ calls: [{ name: 'a' }] }, { calls: [{ name: 'b' }] }, 'done'],
    agent: { instruction: 'Be brief.' },
  })
  expect(seen).toEqual(Array(3).fill(['a for agent', 'b for agent']).flat())
  for (const request of model.requests) {
    expect(request.config.systemInstruction).toBe('Be brief.\n\nUse a.\n\nUse b.')
  }
})

test('the runner calls processLlmRequest of a passive tool, which is neither declared nor callable', async () => {
  let hookCalls = 0
  const passive = plainTool('preload', () => expect.unreachable(), {
    declaration: () => undefined,
    processLlmRequest: (request) => {
      hookCalls++
      request.appendConfigTool({ googleSearch: {} })
      request.appendConfigTool({ googleSearch: {} })
    },
  })
  const { model, response } = await runScenario({
    tools: [passive, plainTool('other', () => 1)],
    calls: [{ name: 'preload' }],
  })
  expect(offeredTools(model)).toEqual(['other'])
  expect(model.requests[0]?.config.tools?.slice(1)).toEqual([{ googleSearch: {} }])
  expect(response).toEqual({ error: 'Unknown tool "preload". Available tools: "other".', errorCode: 'NOT_FOUND' })
  expect(hookCalls).toBe(2)
})

test('the runner puts state written by processLlmRequest on the reply event', async () => {
  const passive = plainTool('note', () => 1, { processLlmRequest: (_, { state }) => state.set('asked', true) })
  const { events, state } = await runScenario({ tools: [passive], steps: ['hello'] })
  expect(events[0]?.actions.stateDelta).toEqual({ asked: true })
  expect(state).toEqual({ asked: true })
})

describe('call ids', () => {
  const idsFor = async (...ids: (string | undefined)[]): Promise<string[]> => {
    const calls = ids.map((id) => ({ name: 'a', ...(id !== undefined && { id }) }))
    const { events, responses, runner, sessionId } = await runScenario({ tools: [plainTool('a', () => 1)], calls })
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
    const stored = functionCallsOf(session?.events[1]?.content).map(({ id }) => id as string)
    expect(functionCallsOf(events[0]?.content).map(({ id }) => id)).toEqual(stored)
    expect(responses.map(({ id }) => id)).toEqual(stored)
    return stored
  }

  test('are kept when valid', async () => {
    expect(await idsFor('call_1', 'b')).toEqual(['call_1', 'b'])
  })

  test.each([undefined, '', 'a/b', 'x@y'])(
    'are replaced before the event is stored when the model sends %j',
    async (id) => {
      expect(await idsFor(id)).toEqual([expect.stringMatching(/^adk-[\w-]+$/)])
    },
  )

  test('are replaced when they repeat in one reply', async () => {
    const [first, second] = await idsFor('same', 'same')
    expect(first).toBe('same')
    expect(second).toMatch(/^adk-/)
  })

  test('are replaced when they repeat an earlier reply', async () => {
    const calls = [{ name: 'a', id: 'same' }]
    const { responses } = await runScenario({ tools: [plainTool('a', () => 1)], steps: [{ calls }, { calls }, 'done'] })
    expect(responses[0]?.id).toBe('same')
    expect(responses[1]?.id).toMatch(/^adk-/)
  })
})

describe('a call of an unknown tool', () => {
  const tools = [plainTool('get_weather', () => 'sunny'), plainTool('search', () => 'found')]

  test.each([
    ['Get_Weather', 'Did you mean "get_weather"?'],
    ['get_weather ', 'Did you mean "get_weather"?'],
    ['getweather', 'Did you mean "get_weather"?'],
    ['serach', 'Did you mean "search"?'],
    ['zzzzzzzzzzzz', 'Available tools: "get_weather", "search".'],
    ['adk_request_confirmation', 'Available tools: "get_weather", "search".'],
    ['', 'Available tools'],
  ])('with the name %j is answered with a helpful NOT_FOUND, and the sibling calls run', async (name, help) => {
    const { responses, text } = await runScenario({
      tools,
      calls: [{ name: 'search' }, { name }, { name: 'get_weather' }],
    })
    expect(responses.map(({ response }) => response.result ?? response.errorCode)).toEqual([
      'found',
      'NOT_FOUND',
      'sunny',
    ])
    expect(responses[1]?.response.error).toContain(help)
    expect(text).toBe('done')
  })

  test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf'])(
    'with %s as its name is answered with NOT_FOUND',
    async (name) => {
      const { response, text } = await runScenario({ tools, calls: [{ name, args: { a: 1 } }] })
      expect(response).toMatchObject({ errorCode: 'NOT_FOUND' })
      expect(text).toBe('done')
    },
  )

  test('is answered without repeating a very long name', async () => {
    const { response } = await runScenario({ tools, calls: [{ name: 'x'.repeat(100_000) }] })
    expect(String(response.error).length).toBeLessThan(300)
  })

  test('calls onToolError and no other callback', async () => {
    const called: string[] = []
    await runScenario({
      tools,
      calls: [{ name: 'nope' }],
      agent: {
        beforeTool: () => void called.push('before'),
        afterTool: () => void called.push('after'),
        onToolError: () => void called.push('error'),
      },
    })
    expect(called).toEqual(['error'])
  })
})

test('the runner runs tools named constructor and passes __proto__ in arguments as data', async () => {
  const seen: unknown[] = []
  const run = (args: unknown): string => {
    seen.push(args)
    return 'ran'
  }
  const args = JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"toString":1}')
  const tools = ['constructor', 'toString', '__proto__'].map((name) => plainTool(name, run))
  const { responses } = await runScenario({ tools, calls: tools.map(({ name }) => ({ name, args })) })
  expect(responses.map(({ response }) => response.result)).toEqual(['ran', 'ran', 'ran'])
  expect(Object.getOwnPropertyNames(seen[0])).toEqual(['__proto__', 'constructor', 'toString'])
  expect((seen[0] as { admin?: boolean }).admin).toBeUndefined()
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
})

test.each([
  ['{"amount": 5', 'a string'],
  [[1], 'a list'],
  [7, '7'],
  [true, 'true'],
])('the runner answers INVALID_ARGS for arguments that are %j instead of an object', async (given, kind) => {
  const seen: unknown[] = []
  const args = given as unknown as { [key: string]: unknown }
  const { response } = await runScenario({
    tools: [plainTool('a', (received) => seen.push(received))],
    calls: [{ name: 'a', args }],
  })
  const error = `Invalid arguments for a: they must be a JSON object, got ${kind}`
  expect(response).toEqual({ error, errorCode: 'INVALID_ARGS' })
  expect(seen).toEqual([])
})

test('the runner passes an empty object when the arguments are null', async () => {
  const seen: unknown[] = []
  const args = null as unknown as { [key: string]: unknown }
  await runScenario({ tools: [plainTool('a', (received) => seen.push(received))], calls: [{ name: 'a', args }] })
  expect(seen).toEqual([{}])
})
