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
import { bare, HandTimers, intentsOf, notebook, openLog, play, stage } from './kit.ts'

const square = tool({
  name: 'square',
  description: 'Squares a number',
  parameters: z.object({ n: z.number() }),
  run: ({ n }) => n * n,
})
const calls = [{ name: 'square', args: { n: 3 } }]

describe('beforeTool', () => {
  test('may look and do nothing', async () => {
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
    const { response } = await play({ tools: [square], calls, agent: { beforeTool } })
    expect(seen).toEqual([['square', { n: 3 }, 'string']])
    expect(response).toEqual({ result: 9 })
  })

  test('may answer instead of the tool, also with nothing much', async () => {
    const never = bare('square', () => expect.unreachable())
    for (const result of [{ cached: true }, null, 0, false]) {
      const { response } = await play({ tools: [never], calls, agent: { beforeTool: () => ({ result }) } })
      expect(response).toEqual(typeof result === 'object' && result ? result : { result })
    }
  })

  test('an answer is shown to afterTool and is never pending', async () => {
    const slow = { ...bare('square', () => expect.unreachable()), isLongRunning: true }
    const { response, responses, text } = await play({
      tools: [slow],
      calls,
      agent: { beforeTool: () => ({ result: 1 }), afterTool: ({ result }) => ({ seen: result }) },
    })
    expect(response).toEqual({ seen: 1 })
    expect(responses[0]?.willContinue).toBeUndefined()
    expect(text).toBe('done')
  })

  test('may rewrite the arguments, which are checked again', async () => {
    const rewrite = (args: unknown) => play({ tools: [square], calls, agent: { beforeTool: () => ({ args }) } })
    expect((await rewrite({ n: 4 })).response).toEqual({ result: 16 })
    expect((await rewrite({ n: 'four' })).response).toMatchObject({
      errorCode: 'INVALID_ARGS',
      error: expect.stringContaining('n: expected number'),
    })
  })

  test('what it rewrote is in the intent, as it was before the body', async () => {
    const { sessionService, appended } = openLog()
    const spoil = tool({
      name: 'spoil',
      description: 'Spoils its arguments',
      parameters: z.object({ list: z.array(z.string()) }),
      run: ({ list }) => list.push('spoiled'),
    })
    const { events } = await play({
      tools: [spoil],
      calls: [{ name: 'spoil', args: { list: ['model'] } }],
      agent: { beforeTool: () => ({ args: { list: ['callback'] } }) },
      runner: { sessionService },
    })
    expect(intentsOf(appended)[0]?.calls[0]?.args).toEqual({ list: ['callback'] })
    expect(events[0]?.content?.parts[0]?.functionCall?.args).toEqual({ list: ['model'] })
  })

  test('the intent holds rewritten arguments as they can be checked again, not what the schema made of them', async () => {
    const { sessionService, appended } = openLog()
    const remind = tool({
      name: 'remind',
      description: 'Reminds',
      parameters: z.object({ at: z.string().transform((text) => new Date(text)) }),
      run: ({ at }) => at.getTime(),
    })
    const { response } = await play({
      tools: [remind],
      calls: [{ name: 'remind', args: { at: 'never' } }],
      agent: { beforeTool: () => ({ args: { at: '1970-01-02' } }) },
      runner: { sessionService },
    })
    expect(response).toEqual({ result: 86_400_000 })
    expect(intentsOf(appended)[0]?.calls[0]?.args).toEqual({ at: '1970-01-02' })
  })

  test('a list stops at the first answer; a rewrite is passed on', async () => {
    const seen: unknown[] = []
    const { response } = await play({
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

  test('that throws fails the call, not the run, and the body is not called', async () => {
    const never = bare('square', () => expect.unreachable())
    const beforeTool = () => {
      throw new Error('no budget')
    }
    const { response, text } = await play({ tools: [never], calls, agent: { beforeTool } })
    expect(response).toEqual({ error: 'no budget', errorCode: 'EXECUTION_FAILED' })
    expect(text).toBe('done')
  })

  test('what it writes to state rides with the call', async () => {
    const { state } = await play({
      tools: [square],
      calls,
      agent: { beforeTool: ({ context }) => context.state.set('calls', 1) },
    })
    expect(state).toEqual({ calls: 1 })
  })
})

describe('afterTool', () => {
  test('is chained: each sees what the one before made of the result', async () => {
    const { response } = await play({
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

  test('that throws fails the call, which then changes no state', async () => {
    const write = bare('square', (_, { state }) => state.set('a', 1))
    const afterTool = () => {
      throw new Error('cannot look')
    }
    const { response, state, text } = await play({ tools: [write], calls, agent: { afterTool } })
    expect(response).toEqual({ error: 'cannot look', errorCode: 'EXECUTION_FAILED' })
    expect(state).toEqual({})
    expect(text).toBe('done')
  })
})

describe('onToolError', () => {
  const fail = bare('square', () => {
    throw new ToolError('no such number', { code: 'NOT_FOUND' })
  })

  test('recovers with a result, which afterTool sees', async () => {
    const seen: unknown[] = []
    const { response } = await play({
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

  test('that has nothing to say leaves the error as it is', async () => {
    const { response } = await play({ tools: [fail], calls, agent: { onToolError: () => undefined } })
    expect(response).toEqual({ error: 'no such number', errorCode: 'NOT_FOUND' })
  })

  test('that throws leaves the error as it is, and is reported', async () => {
    const logger = notebook()
    const onToolError = () => {
      throw new Error('the callback is broken')
    }
    const { response, text } = await play({ tools: [fail], calls, agent: { onToolError }, runner: { logger } })
    expect(response).toEqual({ error: 'no such number', errorCode: 'NOT_FOUND' })
    expect(logger.lines.join()).toContain('the callback is broken')
    expect(text).toBe('done')
  })

  test('hears of a timeout', async () => {
    const timers = new HandTimers()
    const hang = bare('square', () => new Promise(() => {}))
    const playing = play({
      tools: [hang],
      calls,
      agent: { onToolError: ({ error }) => ({ heard: (error as Error).message }) },
      runner: { ports: timers.ports },
    })
    await timers.fire(30_000)
    expect((await playing).response).toEqual({ heard: 'square timed out after 30000 ms' })
  })

  test('answers a call of an unknown tool, plugins first', async () => {
    const seen: unknown[] = []
    const plugin: Plugin = { name: 'watch', onToolError: ({ tool, args }) => void seen.push([tool.name, args]) }
    const { response, text } = await play({
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
    ['that do not fit', { n: 'three' }, {}],
    ['that a validator cannot check', { n: 3 }, { parse: () => Promise.reject(new Error('down')) }],
    ['that beforeTool made unfit', { n: 3 }, {}],
  ])('answers a call with arguments %s, and the call never runs', async (what, args, more) => {
    const seen: unknown[] = []
    const { sessionService, appended } = openLog()
    const pay = { ...square, ...more, run: () => expect.unreachable() }
    const { response } = await play({
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

  test('that has nothing to say leaves unknown tools and unfit arguments refused', async () => {
    const { responses } = await play({
      tools: [square],
      calls: [
        { name: 'squar', args: {} },
        { name: 'square', args: {} },
      ],
      agent: { onToolError: ({ args }) => void Object.assign(args, { n: 3 }) },
    })
    expect(responses.map(({ response }) => response.errorCode)).toEqual(['NOT_FOUND', 'INVALID_ARGS'])
  })

  test('sees redacted arguments of a refused call', async () => {
    const seen: unknown[] = []
    const discreet = redact(square, { args: ['n'] })
    const onToolError = ({ args }: { args: unknown }) => void seen.push(args)
    await play({ tools: [discreet], calls: [{ name: 'square', args: { n: 'secret' } }], agent: { onToolError } })
    expect(seen).toEqual([{ n: '[redacted]' }])
  })

  test('is not asked about a call that a human refused', async () => {
    const seen: unknown[] = []
    const store = new InMemorySessionService()
    const agent = { onToolError: ({ error }: { error: unknown }) => void seen.push(error) }
    const guarded = bare('guarded', () => expect.unreachable(), { requiresConfirmation: true })
    const { runner } = stage({
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

test('plugins come before the agent’s own callbacks', async () => {
  const order: string[] = []
  const plugin: Plugin = {
    name: 'watch',
    beforeTool: () => void order.push('plugin before'),
    afterTool: () => void order.push('plugin after'),
  }
  await play({
    tools: [square],
    calls,
    agent: { beforeTool: () => void order.push('agent before'), afterTool: () => void order.push('agent after') },
    runner: { plugins: [plugin] },
  })
  expect(order).toEqual(['plugin before', 'agent before', 'plugin after', 'agent after'])
})
