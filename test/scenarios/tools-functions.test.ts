// Plain functions as tools: refused until their types are read, then with the guarantees of every other tool.
import {
  approve,
  deny,
  InMemorySessionService,
  type JsonObject,
  LlmAgent,
  prefixTools,
  Runner,
  StaticToolset,
  type ToolContext,
  ToolDispatcher,
  tool,
  toolSource,
} from 'toolwright'
import { toAiSdkTools } from 'toolwright/ai-sdk'
import { attachInferred, type InferredFunction, type InferredParameter } from 'toolwright/infer'
import { connectLive } from 'toolwright/live'
import { serveMcp } from 'toolwright/mcp'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { connect, startServer } from '../../src/adapters/mcp/serve/serve.test-kit.ts'
import { finalResponses, requestFor, sendMessage, startProcess } from './approvals-kit.ts'
import { declarationsOf, ManualTimers, offeredTools, progressOf, recordingLogger, runScenario } from './kit.ts'
import { callTool } from './live-calls-kit.ts'
import { startLive } from './live-kit.ts'

const model = scriptedModel([])
const liveModel = { name: 'live', connect: () => Promise.reject(new Error('not connected')) }

describe('a plain function whose types were not read', () => {
  let wiped = 0
  function wipeAll(): number {
    return ++wiped
  }

  test.each<[string, RegExp, () => unknown]>([
    [
      'in tools of an agent',
      /The tools of agent "a" contain/,
      () => new LlmAgent({ name: 'a', model, tools: [wipeAll] }),
    ],
    ['in a StaticToolset', /The tools of a StaticToolset contain/, () => new StaticToolset([wipeAll])],
    ['pushed to a StaticToolset', /StaticToolset contain/, () => new StaticToolset().push(wipeAll)],
    ['in tools of serveMcp()', /contain the function "wipeAll"/, () => serveMcp({ tools: [wipeAll] })],
    [
      'in tools of connectLive()',
      /contain the function "wipeAll"/,
      () => connectLive({ model: liveModel, tools: [wipeAll] }),
    ],
    ['passed to tool()', /tool\(\) got the function "wipeAll"/, () => tool(wipeAll, { requiresConfirmation: true })],
  ])('%s is refused when built, with the four ways to read its types, and never called', async (_, subject, build) => {
    const error = await (async () => await build())().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'NEEDS_INFER', message: expect.stringMatching(subject) })
    const { message } = error as Error
    for (const way of [
      'npx toolwright run',
      'toolwright/infer/register',
      'toolwright/infer/vite',
      'npx toolwright infer',
    ])
      expect(message).toContain(way)
    expect(wiped).toBe(0)
  })

  test('listed by toolSource() is left out and logged, and the run continues', async () => {
    const logger = recordingLogger()
    const result = await runScenario({
      tools: [toolSource(() => [wipeAll, readFunction('read', () => 1)], { name: 'desk' })],
      calls: [{ name: 'wipeAll' }, { name: 'read' }],
      runner: { logger },
    })
    expect(offeredTools(result.model)).toEqual(['read'])
    expect(result.responses.map(({ response }) => response.errorCode ?? response)).toEqual(['NOT_FOUND', { result: 1 }])
    expect(logger.lines[0]).toMatch(
      /A tool is left out: The tools of tool source "desk" contain the function "wipeAll"/,
    )
    expect(wiped).toBe(0)
  })
})

const text = { type: 'string' }
const amount = { type: 'number', minimum: 0 }
const date = { type: 'string', format: 'date-time', 'x-toolwright-type': 'Date' }
const noon = '2026-01-31T12:00:00.000Z'

/** Attaches a description to a function, as generated code does. */
function readFunction<F extends (...args: never[]) => unknown>(
  name: string,
  fn: F,
  more: { properties?: JsonObject; call?: readonly InferredParameter[]; response?: JsonObject } = {},
): F {
  const { properties = {}, call = Object.keys(properties).map((argument) => ({ argument })), response } = more
  const parameters = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
  const shape: InferredFunction = {
    name,
    description: `Does ${name}.`,
    parameters,
    call,
    ...(response && { response }),
  }
  return attachInferred(fn, shape)
}

describe('a plain function whose types were read', () => {
  const response = { type: 'object', properties: { city: text, at: { type: 'string', format: 'date-time' } } }
  const getWeather = vi.fn((city: string, at: Date, context: ToolContext) => {
    context.state.set('city', city)
    return { city, at, isDate: at instanceof Date }
  })
  const read = readFunction('getWeather', getWeather, {
    properties: { city: text, at: date },
    call: [{ argument: 'city' }, { argument: 'at' }, { context: true }],
    response,
  })

  test('is declared with its parameters and its response, and called with its arguments in order', async () => {
    const call = { name: 'getWeather', args: { at: noon, city: 'Oslo' } }
    const result = await runScenario({ tools: [read], calls: [call] })
    expect(declarationsOf(result.model)).toEqual([
      {
        name: 'getWeather',
        description: 'Does getWeather.',
        parametersJsonSchema: expect.objectContaining({
          properties: { city: text, at: { type: 'string', format: 'date-time' } },
        }),
        responseJsonSchema: response,
      },
    ])
    expect(result.response).toEqual({ city: 'Oslo', at: noon, isDate: true })
    expect(result.state).toEqual({ city: 'Oslo' })
    expect(result.events[0]?.content?.parts[0]?.functionCall?.args).toEqual(call.args)
  })

  test.each<[string, JsonObject, string]>([
    ['a missing argument', { city: 'Oslo' }, 'at: expected'],
    ['an argument of the wrong type', { city: 5, at: noon }, 'city: expected string'],
    ['an unknown argument', { city: 'Oslo', at: noon, units: 'c' }, 'units'],
    ['text that is no date', { city: 'Oslo', at: 'noon' }, 'at: expected'],
    ['a date that does not exist', { city: 'Oslo', at: '2016-12-31T23:59:60Z' }, 'at: expected a date and time'],
    ['an argument called __proto__', JSON.parse(`{"city":"Oslo","at":"${noon}","__proto__":{}}`), '__proto__'],
  ])('is not called with %s', async (_, args, problem) => {
    getWeather.mockClear()
    const result = await runScenario({ tools: [read], calls: [{ name: 'getWeather', args }] })
    expect(result.response.errorCode).toBe('INVALID_ARGS')
    expect(result.response.error).toContain(problem)
    expect(getWeather).not.toHaveBeenCalled()
  })

  test('is one tool in two agents, and works with prefixes, toolsets and tool sources', async () => {
    const lookUp = readFunction('lookUp', () => 'found')
    const tools = [prefixTools(new StaticToolset([lookUp]), 'a_'), toolSource(() => lookUp)]
    const result = await runScenario({ tools, calls: [{ name: 'a_lookUp' }, { name: 'lookUp' }] })
    expect(result.responses.map((one) => one.response)).toEqual([{ result: 'found' }, { result: 'found' }])
    expect(() => new LlmAgent({ name: 'b', model, tools: [lookUp, lookUp] })).toThrow('"lookUp" is defined twice')
  })

  test('reports progress when it is a generator', async () => {
    const copy = readFunction('copy', async function* () {
      yield 'half'
      return { copied: 2 }
    })
    const result = await runScenario({ tools: [copy], calls: [{ name: 'copy' }] })
    expect(progressOf(result.events).map((one) => one.response)).toEqual([{ progress: 'half' }])
    expect(result.response).toEqual({ copied: 2 })
  })

  test('is stopped at its timeout, and its signal is aborted', async () => {
    const timers = new ManualTimers()
    let signal: AbortSignal | undefined
    const hang = (context: ToolContext): Promise<never> => {
      signal = context.signal
      return new Promise(() => {})
    }
    const made = tool(readFunction('hang', hang, { call: [{ context: true }] }), { timeoutMs: 7 })
    const running = runScenario({ tools: [made], calls: [{ name: 'hang' }], runner: { ports: timers.ports } })
    await timers.fire(7)
    expect((await running).response).toMatchObject({ errorCode: 'TIMEOUT' })
    expect(signal?.aborted).toBe(true)
  })

  test('transfers to another agent through its context', async () => {
    const clerk = new LlmAgent({ name: 'clerk', model: scriptedModel(['clerk here']) })
    const handOver = (context: ToolContext): string => {
      context.actions.transferToAgent = 'clerk'
      return 'transferred'
    }
    const tools = [readFunction('handOver', handOver, { call: [{ context: true }] })]
    const root = new LlmAgent({
      name: 'root',
      model: scriptedModel([{ calls: [{ name: 'handOver' }] }]),
      tools,
      subAgents: [clerk],
    })
    const { text: said } = await new Runner({ appName: 'app', agent: root }).complete({ userId: 'ada', message: 'go' })
    expect(said).toBe('clerk here')
  })

  test('that throws is an error result', async () => {
    const fail = readFunction('fail', () => {
      throw new Error('no stock')
    })
    const { response: failed, text: said } = await runScenario({ tools: [fail], calls: [{ name: 'fail' }] })
    expect([failed, said]).toEqual([{ error: 'no stock', errorCode: 'EXECUTION_FAILED' }, 'done'])
  })

  test('is served to MCP clients with its schemas', async () => {
    const sum = (values: number[]): { sum: number } => ({ sum: values.reduce((a, b) => a + b, 0) })
    const properties = { values: { type: 'array', items: { type: 'number' } } }
    const sumResponse = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }
    const { url } = await startServer({ tools: [readFunction('sum', sum, { properties, response: sumResponse })] })
    const client = await connect(url, { era: '2026' })
    const { tools } = await client.listTools()
    expect(tools).toMatchObject([{ name: 'sum', inputSchema: { properties }, outputSchema: sumResponse }])
    const called = await client.callTool({ name: 'sum', arguments: { values: [1, 2] } })
    expect(called.structuredContent).toEqual({ sum: 3 })
    expect(await client.callTool({ name: 'sum', arguments: { values: 'all' } })).toMatchObject({ isError: true })
  })

  test('answers the calls of a live model', async () => {
    const { connection } = await startLive({
      tools: [readFunction('echo', (said: string) => said, { properties: { said: text } })],
    })
    expect(await callTool(connection, 'echo', { said: 'hi' })).toMatchObject({ result: 'hi' })
    expect(await callTool(connection, 'echo', { said: 5 }, 'c2')).toMatchObject({ errorCode: 'INVALID_ARGS' })
  })
})

describe('a gated function', () => {
  function refundFunction(
    more: Parameters<typeof tool<undefined, undefined, unknown, (amount: number) => unknown>>[1] = {},
  ) {
    const refund = vi.fn((value: number): unknown => ({ refunded: value }))
    const read = readFunction('refund', (value: number) => refund(value), { properties: { amount } })
    return { refund, gated: tool(read, { requiresConfirmation: true, ...more }) }
  }
  const reply = (args: JsonObject) => ({ calls: [{ id: 'c1', name: 'refund', args }] })

  test('waits for the approval and then runs once', async () => {
    const { refund, gated } = refundFunction()
    const { runner } = startProcess(new InMemorySessionService(), {
      tools: [gated],
      steps: [reply({ amount: 5 }), 'done'],
    })
    const { pending } = await sendMessage(runner)
    expect(refund).not.toHaveBeenCalled()
    expect(requestFor(pending).args).toEqual({ amount: 5 })
    const { events, text: said } = await sendMessage(runner, [approve(requestFor(pending))])
    expect(finalResponses(events).c1).toEqual({ refunded: 5 })
    expect([refund.mock.calls, said]).toEqual([[[5]], 'done'])
  })

  test('does not run after a denial', async () => {
    const { refund, gated } = refundFunction()
    const { runner } = startProcess(new InMemorySessionService(), {
      tools: [gated],
      steps: [reply({ amount: 5 }), 'sorry'],
    })
    const { pending } = await sendMessage(runner)
    const { text: said } = await sendMessage(runner, [deny(requestFor(pending), { reason: 'Too much' })])
    expect([refund.mock.calls, said]).toEqual([[], 'sorry'])
  })

  test('with invalid arguments asks for no approval', async () => {
    const { refund, gated } = refundFunction()
    const { runner } = startProcess(new InMemorySessionService(), {
      tools: [gated],
      steps: [reply({ amount: -1 }), 'sorry'],
    })
    const { pending, events } = await sendMessage(runner)
    expect([pending, refund.mock.calls]).toEqual([[], []])
    expect(finalResponses(events).c1?.errorCode).toBe('INVALID_ARGS')
  })

  test('decides by its arguments, and pauses when its predicate throws', async () => {
    const { refund, gated } = refundFunction({
      requiresConfirmation: (args) => {
        if (args.amount === 0) throw new Error('broken')
        return Number(args.amount) > 100
      },
      confirmationHint: (args) => `Refund ${args.amount}?`,
    })
    const calls = [1, 101, 0].map((value, at) => ({ id: `c${at}`, name: 'refund', args: { amount: value } }))
    const { runner } = startProcess(new InMemorySessionService(), { tools: [gated], steps: [{ calls }] })
    const { pending } = await sendMessage(runner)
    expect(pending.map(({ hint }) => hint)).toEqual(['Refund 101?', 'Refund 0?'])
    expect(refund.mock.calls).toEqual([[1]])
  })

  test('gets a date after the approval in another process, and the request shows text', async () => {
    const given: unknown[] = []
    const book = (): ReturnType<typeof tool> =>
      tool(
        readFunction('book', (at: Date) => given.push(at), { properties: { at: date } }),
        {
          requiresConfirmation: ({ at }) => at instanceof Date,
        },
      ) as ReturnType<typeof tool>
    const store = new InMemorySessionService()
    const steps = [{ calls: [{ id: 'c1', name: 'book', args: { at: noon } }] }]
    const { pending } = await sendMessage(startProcess(store, { tools: [book()], steps }).runner)
    expect(requestFor(pending).args).toEqual({ at: noon })
    await sendMessage(startProcess(store, { tools: [book()], steps: ['done'] }).runner, [approve(requestFor(pending))])
    expect(given).toEqual([new Date(noon)])
  })
})

test('a ToolDispatcher and toAiSdkTools() take plain functions whose types were read', async () => {
  const add = attachInferred(({ a, b }: { a: number; b: number }) => a + b, {
    name: 'add',
    description: 'Adds.',
    parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    call: [{ allArguments: true }],
  })
  expect(await new ToolDispatcher().register(add).call('add', { a: 1, b: 2 })).toEqual({ result: 3 })
  expect(Object.keys(toAiSdkTools([add], { userId: 'ada' }))).toEqual(['add'])
  expect(() => new ToolDispatcher().register(() => 1)).toThrow(expect.objectContaining({ code: 'NEEDS_INFER' }))
})
