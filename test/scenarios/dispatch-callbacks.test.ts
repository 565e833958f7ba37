import {
  deny,
  InMemorySessionService,
  type JsonObject,
  type PendingRequest,
  type Plugin,
  redact,
  type Tool,
  ToolError,
  tool,
} from 'toolwright'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createRecordingStore,
  createScenario,
  intentsOf,
  ManualTimers,
  plainTool,
  recordingLogger,
  runScenario,
} from './kit.ts'

const square = tool({
  name: 'square',
  description: 'Squares a number',
  parameters: z.object({ n: z.number() }),
  run: ({ n }) => n * n,
})
const calls = [{ name: 'square', args: { n: 3 } }]

describe('beforeTool', () => {
  test('may return undefined and change nothing', async () => {
    const seen: unknown[] = []
    const beforeTool = ({
      tool,
      args,
      context,
    }: {
      tool: { name: string }
      args: unknown
      context: { functionCallId: string }
    }) => void seen.push([tool.name, args, typeof context.functionCallId])
    const { response } = await runScenario({ tools: [square], calls, agent: { beforeTool } })
    expect(seen).toEqual([['square', { n: 3 }, 'string']])
    expect(response).toEqual({ result: 9 })
  })

  test('may answer the call, also with null, 0 or false', async () => {
    const never = plainTool('square', () => expect.unreachable())
    for (const result of [{ cached: true }, null, 0, false]) {
      const { response } = await runScenario({ tools: [never], calls, agent: { beforeTool: () => ({ result }) } })
      expect(response).toEqual(typeof result === 'object' && result ? result : { result })
    }
  })

  test('passes its result to afterTool, and the call is never pending', async () => {
    const slow = { ...plainTool('square', () => expect.unreachable()), isLongRunning: true }
    const { response, responses, text } = await runScenario({
      tools: [slow],
      calls,
      agent: { beforeTool: () => ({ result: 1 }), afterTool: ({ result }) => ({ seen: result }) },
    })
    expect(response).toEqual({ seen: 1 })
    expect(responses[0]?.willContinue).toBeUndefined()
    expect(text).toBe('done')
  })

  test('may rewrite the arguments, which are validated again', async () => {
    const rewrite = (args: unknown) => runScenario({ tools: [square], calls, agent: { beforeTool: () => ({ args }) } })
    expect((await rewrite({ n: 4 })).response).toEqual({ result: 16 })
    expect((await rewrite({ n: 'four' })).response).toMatchObject({
      errorCode: 'INVALID_ARGS',
      error: expect.stringContaining('n: expected number'),
    })
  })

  test('records rewritten arguments in the intent as they were before the body', async () => {
    const { sessionService, appended } = createRecordingStore()
    const spoil = tool({
      name: 'spoil',
      description: 'Spoils its arguments',
      parameters: z.object({ list: z.array(z.string()) }),
      run: ({ list }) => list.push('spoiled'),
    })
    const { events } = await runScenario({
      tools: [spoil],
      calls: [{ name: 'spoil', args: { list: ['model'] } }],
      agent: { beforeTool: () => ({ args: { list: ['callback'] } }) },
      runner: { sessionService },
    })
    expect(intentsOf(appended)[0]?.calls[0]?.args).toEqual({ list: ['callback'] })
    expect(events[0]?.content?.parts[0]?.functionCall?.args).toEqual({ list: ['model'] })
  })

  test('records rewritten arguments in the intent before the schema transforms them', async () => {
    const { sessionService, appended } = createRecordingStore()
    const remind = tool({
      name: 'remind',
      description: 'Reminds',
      parameters: z.object({ at: z.string().transform((text) => new Date(text)) }),
      run: ({ at }) => at.getTime(),
    })
    const { response } = await runScenario({
      tools: [remind],
      calls: [{ name: 'remind', args: { at: 'never' } }],
      agent: { beforeTool: () => ({ args: { at: '1970-01-02' } }) },
      runner: { sessionService },
    })
    expect(response).toEqual({ result: 86_400_000 })
    expect(intentsOf(appended)[0]?.calls[0]?.args).toEqual({ at: '1970-01-02' })
  })

  test('stops at the first result of a list and passes a rewrite to the next callback', async () => {
    const seen: unknown[] = []
    const { response } = await runScenario({
      tools: [square],
      calls,
      agent: {
        beforeTool: [
          () => undefined,
          () => ({ args: { n: 5 } }),
          ({ args }) => void seen.push(args),
          async () => ({ result: 'second' }),
          () => expect.unreachable(),
        ],
      },
    })
    expect(seen).toEqual([{ n: 5 }])
    expect(response).toEqual({ result: 'second' })
  })

  test('fails the call, not the run, when a callback throws, and the body does not run', async () => {
    const never = plainTool('square', () => expect.unreachable())
    const beforeTool = () => {
      throw new Error('no budget')
    }
    const { response, text } = await runScenario({ tools: [never], calls, agent: { beforeTool } })
    expect(response).toEqual({ error: 'no budget', errorCode: 'EXECUTION_FAILED' })
    expect(text).toBe('done')
  })

  test('writes state onto the response event', async () => {
    const { state } = await runScenario({
      tools: [square],
      calls,
      agent: { beforeTool: ({ context }) => context.state.set('calls', 1) },
    })
    expect(state).toEqual({ calls: 1 })
  })
})

describe('afterTool', () => {
  test('chains callbacks: each sees the result of the previous one', async () => {
    const { response } = await runScenario({
      tools: [square],
      calls,
      agent: {
        afterTool: [
          ({ result }) => ({ was: result }),
          () => undefined,
          async ({ result, args }) => ({ ...(result as object), args }),
        ],
      },
    })
    expect(response).toEqual({ was: 9, args: { n: 3 } })
  })

  test('fails the call and drops its state when a callback throws', async () => {
    const write = plainTool('square', (_, { state }) => state.set('a', 1))
    const afterTool = () => {
      throw new Error('cannot look')
    }
    const { response, state, text } = await runScenario({ tools: [write], calls, agent: { afterTool } })
    expect(response).toEqual({ error: 'cannot look', errorCode: 'EXECUTION_FAILED' })
    expect(state).toEqual({})
    expect(text).toBe('done')
  })
})

describe('onToolError', () => {
  const fail = plainTool('square', () => {
    throw new ToolError('no such number', { code: 'NOT_FOUND' })
  })

  test('recovers with a result, which afterTool sees', async () => {
    const seen: unknown[] = []
    const { response } = await runScenario({
      tools: [fail],
      calls,
      agent: {
        onToolError: [
          ({ error }) => void seen.push((error as Error).message),
          () => ({ guess: 9 }),
          () => expect.unreachable(),
        ],
        afterTool: ({ result }) => void seen.push(result),
      },
    })
    expect(response).toEqual({ guess: 9 })
    expect(seen).toEqual(['no such number', { guess: 9 }])
  })

  test('does not replace the error when the callback returns undefined', async () => {
    const { response } = await runScenario({ tools: [fail], calls, agent: { onToolError: () => undefined } })
    expect(response).toEqual({ error: 'no such number', errorCode: 'NOT_FOUND' })
  })

  test('does not replace the error, and logs a warning, when the callback throws', async () => {
    const logger = recordingLogger()
    const onToolError = () => {
      throw new Error('the callback is broken')
    }
    const { response, text } = await runScenario({ tools: [fail], calls, agent: { onToolError }, runner: { logger } })
    expect(response).toEqual({ error: 'no such number', errorCode: 'NOT_FOUND' })
    expect(logger.lines.join()).toContain('the callback is broken')
    expect(text).toBe('done')
  })

  test('is called after a timeout', async () => {
    const timers = new ManualTimers()
    const hang = plainTool('square', () => new Promise(() => {}))
    const playing = runScenario({
      tools: [hang],
      calls,
      agent: { onToolError: ({ error }) => ({ heard: (error as Error).message }) },
      runner: { ports: timers.ports },
    })
    await timers.fire(30_000)
    expect((await playing).response).toEqual({ heard: 'Tool "square" timed out after 30000 ms' })
  })

  test('answers a call of an unknown tool, plugins first', async () => {
    const seen: unknown[] = []
    const plugin: Plugin = { name: 'watch', onToolError: ({ tool, args }) => void seen.push([tool.name, args]) }
    const { response, text } = await runScenario({
      tools: [square],
      calls: [{ name: 'squar', args: { n: 3 } }],
      agent: {
        onToolError: [
          ({ error, tool }) => void seen.push([(error as ToolError).code, tool.description]),
          ({ context }) => {
            context.state.set('misses', 1)
            return { hint: 'It is square.' }
          },
          () => expect.unreachable(),
        ],
        afterTool: ({ result }) => void seen.push(result),
      },
      runner: { plugins: [plugin] },
    })
    expect(response).toEqual({ hint: 'It is square.' })
    expect(seen).toEqual([['squar', { n: 3 }], ['NOT_FOUND', 'Tool not found'], { hint: 'It is square.' }])
    expect(text).toBe('done')
  })

  test.each<[string, unknown, Partial<Tool>]>([
    ['that are invalid', { n: 'three' }, {}],
    ['that a validator fails to check', { n: 3 }, { parse: () => Promise.reject(new Error('down')) }],
    ['that beforeTool made invalid', { n: 3 }, {}],
  ])('answers a call with arguments %s, and the call never runs', async (what, args, more) => {
    const seen: unknown[] = []
    const { sessionService, appended } = createRecordingStore()
    const pay = { ...square, ...more, run: () => expect.unreachable() }
    const { response } = await runScenario({
      tools: [pay],
      calls: [{ name: 'square', args: args as JsonObject }],
      agent: {
        ...(what.includes('beforeTool') && { beforeTool: () => ({ args: { n: 'rewritten' } }) }),
        onToolError: ({ error, args: shown, tool }) => {
          seen.push([(error as ToolError).code, shown, tool.name])
          return { recovered: true }
        },
      },
      runner: { sessionService },
    })
    expect(response).toEqual({ recovered: true })
    expect(seen).toEqual([['INVALID_ARGS', what.includes('beforeTool') ? { n: 'rewritten' } : args, 'square']])
    expect(intentsOf(appended)).toEqual([])
  })

  test('does not replace errors for unknown tools and invalid arguments when the callback returns undefined', async () => {
    const { responses } = await runScenario({
      tools: [square],
      calls: [
        { name: 'squar', args: {} },
        { name: 'square', args: {} },
      ],
      agent: { onToolError: ({ args }) => void Object.assign(args, { n: 3 }) },
    })
    expect(responses.map(({ response }) => response.errorCode)).toEqual(['NOT_FOUND', 'INVALID_ARGS'])
  })

  test('sees redacted arguments of a rejected call', async () => {
    const seen: unknown[] = []
    const discreet = redact(square, { args: ['n'] })
    const onToolError = ({ args }: { args: unknown }) => void seen.push(args)
    await runScenario({ tools: [discreet], calls: [{ name: 'square', args: { n: 'secret' } }], agent: { onToolError } })
    expect(seen).toEqual([{ n: '[redacted]' }])
  })

  test('is not called for a call that the approver denied', async () => {
    const seen: unknown[] = []
    const store = new InMemorySessionService()
    const agent = { onToolError: ({ error }: { error: unknown }) => void seen.push(error) }
    const guarded = plainTool('guarded', () => expect.unreachable(), { requiresConfirmation: true })
    const { runner } = createScenario({
      tools: [guarded],
      calls: [{ name: 'guarded' }],
      agent,
      runner: { sessionService: store },
    })
    const { pending } = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'go' })
    await runner.complete({ userId: 'ada', sessionId: 's1', message: [deny(pending[0] as PendingRequest)] })
    expect(seen).toEqual([])
  })
})

test('the runner calls plugin callbacks before callbacks of the agent', async () => {
  const order: string[] = []
  const plugin: Plugin = {
    name: 'watch',
    beforeTool: () => void order.push('plugin before'),
    afterTool: () => void order.push('plugin after'),
  }
  await runScenario({
    tools: [square],
    calls,
    agent: { beforeTool: () => void order.push('agent before'), afterTool: () => void order.push('agent after') },
    runner: { plugins: [plugin] },
  })
  expect(order).toEqual(['plugin before', 'agent before', 'plugin after', 'agent after'])
})
