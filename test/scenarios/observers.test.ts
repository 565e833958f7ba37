import {
  agentTool,
  approve,
  cached,
  deny,
  InMemorySessionService,
  LlmAgent,
  type Measurement,
  type Model,
  type Observer,
  type Operation,
  type OperationEnd,
  Runner,
  type RunnerOptions,
  retry,
  SequentialAgent,
  ToolDispatcher,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'

/** Writes down what it sees: `outcome type name`, in the order in which operations end, indented by their parents. */
function recorder(): Observer & { readonly seen: string[]; readonly ends: [Operation, OperationEnd][] } {
  const seen: string[] = []
  const ends: [Operation, OperationEnd][] = []
  return {
    seen,
    ends,
    async around(operation, next) {
      const end = await next()
      seen.push(`${'  '.repeat(depthOf(operation))}${operation.type} ${nameOf(operation)}: ${describeEnd(end)}`)
      ends.push([operation, end])
    },
  }
}

const depthOf = ({ parent }: Operation): number => (parent ? depthOf(parent) + 1 : 0)
const describeEnd = ({ outcome, errorCode }: OperationEnd): string => (errorCode ? `${outcome} ${errorCode}` : outcome)

function nameOf(operation: Operation): string {
  if (operation.type === 'model') return operation.model
  return 'tool' in operation ? operation.tool : operation.agent
}

const add = tool({ name: 'add', description: 'Adds', effect: 'none', run: () => ({ sum: 3 }) })
const call = (name: string, args = {}) => ({ calls: [{ name, args }] })

function runnerOf(
  replies: Parameters<typeof scriptedModel>[0],
  options: Partial<ConstructorParameters<typeof LlmAgent>[0]> = {},
  more: Partial<RunnerOptions> = {},
) {
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(replies), ...options } as never)
  const observer = recorder()
  const logger = { warn: vi.fn(), error: vi.fn() }
  const runner = new Runner({ appName: 'app', agent, observers: [observer], logger, ...more })
  return { runner, ...observer, logger }
}

describe('what observers see', () => {
  test('a turn with one call is a run with two model calls and one attempt', async () => {
    const { runner, seen } = runnerOf([call('add'), 'Three.'], { tools: [add] })
    const { text } = await runner.complete({ userId: 'ada', message: 'Go' })
    expect(text).toBe('Three.')
    expect(seen).toEqual([
      '  model scripted: completed',
      '  tool add: completed',
      '  model scripted: completed',
      'run desk: completed',
    ])
  })

  test('each attempt of retry() is an operation, and a cached result none that ran', async () => {
    let count = 0
    const flaky = tool({
      name: 'flaky',
      description: 'Fails once',
      effect: 'none',
      run: () => {
        if (count++ === 0) throw new Error('no')
        return { ok: true }
      },
    })
    const script = [call('flaky'), call('add'), call('add'), 'Done.']
    const { runner, seen, ends } = runnerOf(script, { tools: [retry(flaky, { attempts: 2, delayMs: 0 }), cached(add)] })
    await runner.complete({ userId: 'ada', message: 'Go' })
    expect(seen.filter((line) => !line.includes('model'))).toEqual([
      '  tool flaky: failed EXECUTION_FAILED',
      '  tool flaky: completed',
      '  tool add: completed',
      '  call add: cached',
      'run desk: completed',
    ])
    expect(ends.flatMap(([one]) => (one.type === 'tool' ? one.attempt : []))).toEqual([1, 2, 1])
  })

  test('calls that never reach their body are operations: unknown tools, invalid arguments and answers of callbacks', async () => {
    const strict = tool({
      name: 'strict',
      description: 'Wants a number',
      effect: 'none',
      parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      run: () => ({}),
    })
    const beforeTool: NonNullable<ConstructorParameters<typeof LlmAgent>[0]['beforeTool']> = ({ tool: { name } }) =>
      name === 'add' ? { result: { sum: 4 } } : undefined
    const { runner, seen } = runnerOf([call('ad'), call('strict'), call('add'), 'Done.'], {
      tools: [add, strict],
      beforeTool,
    })
    await runner.complete({ userId: 'ada', message: 'Go' })
    expect(seen.filter((line) => line.includes('call'))).toEqual([
      '  call ad: failed NOT_FOUND',
      '  call strict: failed INVALID_ARGS',
      '  call add: completed',
    ])
  })

  test('an approved call is an operation before the pause and one after; its request is one too', async () => {
    const gated = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) })
    const { runner, seen, ends } = runnerOf([call('pay'), 'Paid.'], { tools: [gated] })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Go' })
    expect(seen.splice(0)).toEqual(['  model scripted: completed', '  call pay: paused', 'run desk: paused'])
    await runner.complete({ userId: 'ada', sessionId, message: pending.map((one) => approve(one)) })
    expect(seen).toEqual([
      '  request pay: completed',
      '  tool pay: completed',
      '  model scripted: completed',
      'run desk: completed',
    ])
    expect(ends.at(-1)?.[0]).toMatchObject({ type: 'run', isContinued: true })
  })

  test('a denied call and its request are denied', async () => {
    const gated = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) })
    const { runner, seen } = runnerOf([call('pay'), 'Not paid.'], { tools: [gated] })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Go' })
    seen.length = 0
    await runner.complete({ userId: 'ada', sessionId, message: pending.map((one) => deny(one, { reason: 'No.' })) })
    expect(seen.slice(0, 2)).toEqual(['  request pay: denied', '  call pay: denied CANCELLED'])
  })

  test('sub-agents, agent tools and the targets of transfers are operations of their own', async () => {
    const model = scriptedModel([
      call('helper', { request: 'x' }),
      'Helped.',
      call('transfer_to_agent', { agent_name: 'other' }),
      'Bye.',
    ])
    const helper = new LlmAgent({ name: 'helper', description: 'Helps' })
    const other = new LlmAgent({ name: 'other', description: 'Other' })
    const first = new LlmAgent({ name: 'first', model, tools: [agentTool(helper)], subAgents: [other] })
    const observer = recorder()
    const agent = new SequentialAgent({ name: 'flow', subAgents: [first] })
    const runner = new Runner({ appName: 'app', agent, model, observers: [observer] })
    await runner.complete({ userId: 'ada', message: 'Go' })
    expect(observer.seen).toEqual([
      '    model scripted: completed',
      '        model scripted: completed',
      '      agent helper: completed',
      '    tool helper: completed',
      '    model scripted: completed',
      '    tool transfer_to_agent: completed',
      '  agent first: completed',
      '    model scripted: completed',
      '  agent other: completed',
      'run flow: completed',
    ])
  })

  test('a model that fails, and one that never answers before the run is cancelled', async () => {
    const failing: Model = {
      name: 'down',
      // biome-ignore lint/correctness/useYield: it throws
      async *generate() {
        throw new Error('down')
      },
    }
    const { runner, seen } = runnerOf([], { model: failing })
    await runner.complete({ userId: 'ada', message: 'Go' })
    expect(seen).toEqual(['  model down: failed MODEL_ERROR', 'run desk: failed MODEL_ERROR'])

    const asked = Promise.withResolvers<void>()
    const hanging: Model = {
      name: 'slow',
      async *generate() {
        asked.resolve()
        await new Promise(() => {})
        yield {}
      },
    }
    const other = runnerOf([], { model: hanging })
    const controller = new AbortController()
    const running = other.runner.complete({ userId: 'ada', message: 'Go', signal: controller.signal })
    await asked.promise
    controller.abort()
    await running
    expect(other.seen).toEqual(['  model slow: cancelled', 'run desk: cancelled CANCELLED'])
  })

  test('single calls are traced like those of agents', async () => {
    const observer = recorder()
    const dispatcher = new ToolDispatcher({ observers: [observer] }).register(add)
    await dispatcher.call('add')
    expect(observer.seen).toEqual(['  tool add: completed', 'run dispatcher: completed'])
  })
})

describe('figures of stores and workers', () => {
  test('are appends, and how long interrupted work rested until another runner continued it', async () => {
    const measured: Measurement[] = []
    const observers: Observer[] = [{ around: (_, next) => next(), measure: (one) => void measured.push(one) }]
    const began = Promise.withResolvers<void>()
    let runs = 0
    const slow = tool({
      name: 'slow',
      description: 'Slow',
      effect: 'idempotent',
      run: async () => {
        began.resolve()
        if (runs++ === 0) await new Promise(() => {})
        return {}
      },
    })
    const sessionService = new InMemorySessionService()
    const first = runnerOf([call('slow')], { tools: [slow] }, { observers, sessionService })
    const running = first.runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go' }).catch(() => {})
    await began.promise
    await first.runner.close({ interrupt: true })
    await running
    expect(measured.map(({ type }) => type)).not.toContain('recovery')
    const second = runnerOf(['Done.'], { tools: [slow] }, { observers, sessionService })
    for await (const event of second.runner.resume({ userId: 'ada', sessionId: 's1' })) void event
    expect(measured.filter(({ type }) => type === 'recovery')).toEqual([
      { type: 'recovery', seconds: expect.any(Number) },
    ])
    expect(measured.filter(({ type }) => type === 'append').length).toBeGreaterThan(3)
  })
})

describe('observers that misbehave', () => {
  afterEach(() => vi.useRealTimers())

  const misbehaving: [string, Observer['around']][] = [
    [
      'throws before next()',
      () => {
        throw new Error('bad observer')
      },
    ],
    [
      'throws after next()',
      async (_, next) => {
        await next()
        throw new Error('bad observer')
      },
    ],
    [
      'rejects at once',
      async () => {
        throw new Error('bad observer')
      },
    ],
    ['never calls next()', () => undefined],
    [
      'calls next() too late',
      async (_, next) => {
        await Promise.resolve()
        await next()
      },
    ],
  ]
  test.each(misbehaving)('one that %s stops no run, and is logged once', async (_, around) => {
    const honest = recorder()
    const { runner, logger } = runnerOf(
      [call('add'), 'Three.', 'Four.'],
      { tools: [add] },
      { observers: [{ around }, honest] },
    )
    const { text, sessionId } = await runner.complete({ userId: 'ada', message: 'Go' })
    expect(text).toBe('Three.')
    await runner.complete({ userId: 'ada', sessionId, message: 'Go' })
    expect(honest.seen).toHaveLength(6)
    expect(logger.warn.mock.calls.map(([problem]) => problem)).toEqual([
      expect.stringMatching(/^An observer failed, and runs go on without it: /),
    ])
  })

  test('one that never returns from around() delays no run', async () => {
    const { runner, logger } = runnerOf(
      [call('add'), 'Three.'],
      { tools: [add] },
      {
        observers: [
          {
            around: async (_, next) => {
              await next()
              await new Promise(() => {})
            },
          },
        ],
      },
    )
    expect((await runner.complete({ userId: 'ada', message: 'Go' })).text).toBe('Three.')
    expect(logger.warn).not.toHaveBeenCalled()
  })

  test('one that calls next() twice runs a body once', async () => {
    let count = 0
    const counted = tool({ name: 'add', description: 'Adds', effect: 'none', run: () => ({ count: ++count }) })
    const around: Observer['around'] = (_, next) => Promise.all([next(), next()])
    const { runner } = runnerOf([call('add'), 'Done.'], { tools: [counted] }, { observers: [{ around }] })
    await runner.complete({ userId: 'ada', message: 'Go' })
    expect(count).toBe(1)
  })

  test('one whose measure() rejects later stops no process, and is logged once', async () => {
    const measure = async (): Promise<void> => {
      await Promise.resolve()
      throw new Error('collector is away') // unhandled, it would fail this file
    }
    const { runner, logger } = runnerOf(['Hi.'], {}, { observers: [{ around: (_, next) => next(), measure }] })
    expect((await runner.complete({ userId: 'ada', message: 'Go' })).text).toBe('Hi.')
    expect(logger.warn.mock.calls.map(([problem]) => problem)).toEqual([
      'An observer failed, and runs go on without it: collector is away',
    ])
  })

  const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  test.each<[string, unknown, readonly string[]]>([
    ['a text that is none', `${TRACE}\r\nx-admin: 1`, []],
    ['a promise', Promise.resolve(TRACE), []],
    ['a long text', 'x'.repeat(1_000_000), []],
    ['the W3C form', TRACE, [TRACE]],
  ])('the log holds a trace context only in its W3C form: %s', async (_, trace, recorded) => {
    const sessionService = new InMemorySessionService()
    const observers = [{ around: (_: unknown, next: () => unknown) => next(), traceOf: () => trace as string }]
    const { runner, logger } = runnerOf(['Hi.'], {}, { observers, sessionService })
    const { sessionId } = await runner.complete({ userId: 'ada', message: 'Go' })
    const { appName } = runner
    const log = await sessionService.readLog({ appName, userId: 'ada', sessionId })
    expect(log?.entries.flatMap(({ event }) => event?.trace ?? [])).toEqual(recorded)
    expect(logger.warn).toHaveBeenCalledTimes(recorded.length ? 0 : 1)
  })

  test('a logger that throws stops no run either', async () => {
    const logger = {
      warn: () => {
        throw new Error('full')
      },
      error: () => {},
    }
    const { runner } = runnerOf(
      ['Hi.'],
      {},
      {
        logger,
        observers: [
          {
            around: () => {
              throw new Error('bad')
            },
          },
        ],
      },
    )
    expect((await runner.complete({ userId: 'ada', message: 'Go' })).text).toBe('Hi.')
  })

  test('a run is not observed while all observers are idle, and again when one is not', async () => {
    let isIdle = true
    const idle = { ...recorder(), isIdle: () => isIdle }
    const { runner } = runnerOf(['Hi.', 'Hi.'], {}, { observers: [idle] })
    await runner.complete({ userId: 'ada', message: 'Go' })
    expect(idle.seen).toEqual([])
    isIdle = false
    await runner.complete({ userId: 'ada', message: 'Go' })
    expect(idle.seen).toEqual(['  model scripted: completed', 'run desk: completed'])
  })

  test('refuses what is no observer when the runner is built', () => {
    expect(() => runnerOf([], {}, { observers: [{}] as never })).toThrow(/observers must be a list of observers/)
  })
})
