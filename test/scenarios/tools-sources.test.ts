// toolSource(): tools that depend on the context. A function whose types were not read is rejected and never called.
import {
  agentTool,
  concurrency,
  exitLoop,
  googleSearch,
  type JsonObject,
  LlmAgent,
  loadMemory,
  longRunning,
  prefixTools,
  Runner,
  StaticToolset,
  type Tool,
  type Toolset,
  tool,
  toolSource,
} from 'toolwright'
import { toAiSdkTools } from 'toolwright/ai-sdk'
import { type ScriptedModel, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import {
  createDeferred,
  createScenario,
  declarationsOf,
  ManualTimers,
  offeredTools,
  plainTool,
  recordingLogger,
  responsesOf,
  runMessage,
  runScenario,
  waitUntil,
} from './kit.ts'

const model = scriptedModel([])
const refused = (where: RegExp) =>
  expect.objectContaining({ code: 'NEEDS_INFER', message: expect.stringMatching(where) })

describe('a plain function whose types were not read', () => {
  let wiped = 0
  function wipeAll(): { wiped: boolean } {
    wiped++
    return { wiped: true }
  }

  test.each<[string, () => unknown]>([
    ['in tools', () => new LlmAgent({ name: 'a', model, tools: [wipeAll] })],
    ['in a nested list', () => new LlmAgent({ name: 'a', model, tools: [[[wipeAll]]] })],
    ['of an agent tool', () => agentTool(new LlmAgent({ name: 'a', model, tools: [wipeAll] }))],
    ['in a StaticToolset', () => new StaticToolset([wipeAll])],
    ['pushed to a StaticToolset', () => new StaticToolset().push(wipeAll)],
    ['for the AI SDK', () => toAiSdkTools([wipeAll as never], { userId: 'ada' })],
    ['that is a class', () => new LlmAgent({ name: 'a', model, tools: [StaticToolset as never] })],
  ])('%s is rejected when built, and never called', (_where, make) => {
    expect(make).toThrow(refused(/function "\w+", whose types were not read.*tool\(\{.*toolSource\(fn\)/s))
    expect(wiped).toBe(0)
  })

  test.each([
    ['googleSearch', googleSearch],
    ['loadMemory', loadMemory],
    ['exitLoop', exitLoop],
  ])('that is the built-in %s is rejected with advice to call it', (name, make) => {
    const advice = `If it makes a tool or a toolset, call it: ${name}().`
    expect(() => new LlmAgent({ name: 'a', model, tools: [make as never] })).toThrow(advice)
    expect(() => new LlmAgent({ name: 'a', model, tools: [make()] })).not.toThrow()
  })

  test('passed to tool() is rejected with advice to use toolwright/infer', () => {
    expect(() => tool(wipeAll)).toThrow(refused(/toolwright\/infer/))
  })

  test('passed to agentTool() is rejected', () => {
    expect(() => agentTool(wipeAll as never)).toThrow('agentTool() must be an agent')
  })

  test.each<[string, Toolset | ReturnType<typeof toolSource>]>([
    ['a toolset', { name: 'odd', listTools: async () => [wipeAll as never, plainTool('read', () => 1)] }],
    ['a tool source', toolSource(() => [wipeAll, plainTool('read', () => 1)], { name: 'odd' })],
    [
      'a nested tool source',
      toolSource(() => toolSource(() => [wipeAll, plainTool('read', () => 1)], { name: 'odd' })),
    ],
  ])('listed by %s is left out and logged, and the other tools stay', async (_what, source) => {
    const logger = recordingLogger()
    const result = await runScenario({ tools: [source], calls: [{ name: 'read' }], runner: { logger } })
    expect(offeredTools(result.model)).toEqual(['read'])
    expect(result.response).toEqual({ result: 1 })
    expect(logger.lines[0]).toMatch(
      /A tool is left out: The tools of (toolset|tool source) "odd" contain the function "wipeAll"/,
    )
    expect(wiped).toBe(0)
  })
})

describe('toolSource()', () => {
  test('is called before each model call with the context of the run', async () => {
    const list = vi.fn(({ state }) => (state.get('beta') === true ? [plainTool('search', () => 'found')] : []))
    const { runner, model } = createScenario({
      tools: [toolSource(list)],
      steps: ['one', { calls: [{ name: 'search' }] }, 'two'],
    })
    const { sessionId } = await runMessage(runner, model)
    const { response } = await runMessage(runner, model, { sessionId, stateDelta: { beta: true } })
    expect(response).toEqual({ result: 'found' })
    expect([0, 1, 2].map((at) => offeredTools(model, at))).toEqual([[], ['search'], ['search']])
    expect(list).toHaveBeenCalledTimes(3)
  })

  test('may return a tool, a toolset, a list or another source, also in a promise', async () => {
    const given = [
      plainTool('search', () => 1),
      new StaticToolset([plainTool('search', () => 1)]),
      [[plainTool('search', () => 1)]],
      toolSource(() => plainTool('search', () => 1)),
    ]
    for (const one of given) {
      const result = await runScenario({ tools: [toolSource(async () => one)], calls: [{ name: 'search' }] })
      expect(result.response).toEqual({ result: 1 })
    }
  })

  test('that fails is left out and logged under its name or the name of its function', async () => {
    const logger = recordingLogger()
    function seasonal(): never {
      throw new Error('offline')
    }
    await runScenario({ tools: [toolSource(seasonal), toolSource(seasonal, { name: 'winter' })], runner: { logger } })
    expect(logger.lines).toEqual(
      expect.arrayContaining([
        'The tools of tool source "seasonal" are left out: offline',
        'The tools of tool source "winter" are left out: offline',
      ]),
    )
  })

  test('that returns itself is left out as nested too deep', async () => {
    const logger = recordingLogger()
    const again: ReturnType<typeof toolSource> = toolSource(() => again, { name: 'again' })
    const result = await runScenario({ tools: [again], steps: ['done'], runner: { logger } })
    expect(result.text).toBe('done')
    expect(logger.lines[0]).toContain('nested more than 8 levels deep')
  })

  test.each([undefined, {}, [], 'tools'])('rejects %j instead of a function', (wrong) => {
    expect(() => toolSource(wrong as never)).toThrow('toolSource() takes a function')
  })

  test('lists the tools of an agent inside an agent tool', async () => {
    const inner = scriptedModel([{ calls: [{ name: 'search' }] }, 'found it'])
    const helper = new LlmAgent({
      name: 'helper',
      model: inner,
      tools: [toolSource(() => plainTool('search', () => 1))],
    })
    const result = await runScenario({
      tools: [agentTool(helper)],
      calls: [{ name: 'helper', args: { request: 'search' } }],
    })
    expect(result.text).toBe('done')
    expect(offeredTools(inner)).toEqual(['search'])
    expect(new Runner({ appName: 'app', agent: helper })).toBeInstanceOf(Runner)
  })
})

describe('toolsets returned by a tool source', () => {
  /** Creates toolsets and tracks which are open. */
  function createToolsets() {
    const open = new Set<number>()
    let made = 0
    const make = (): Toolset => {
      const n = ++made
      open.add(n)
      return {
        name: `set ${n}`,
        listTools: async () => [plainTool('read', () => n)],
        shutdown: async () => void open.delete(n),
      }
    }
    return { open, make, made: () => made }
  }
  const steps = [{ calls: [{ name: 'read' }] }, { calls: [{ name: 'read' }] }, 'done']

  test('are created once per key, shared by runs, and closed with the runner', async () => {
    const { open, make } = createToolsets()
    const source = toolSource(() => prefixTools(make(), 'x_'), { key: ({ invocation }) => invocation.userId })
    const reply = { calls: [{ name: 'x_read' }] }
    const { runner } = createScenario({ tools: [source], steps: [reply, reply, 'done', reply, 'done', reply, 'done'] })
    for (const userId of ['ada', 'ada', 'bob']) {
      const { events } = await runner.complete({ userId, message: 'go' })
      const results = responsesOf(events).map(({ response }) => response.result)
      expect(new Set(results)).toEqual(new Set([userId === 'ada' ? 1 : 2]))
    }
    expect([...open]).toEqual([1, 2])
    await runner.close()
    expect([...open]).toEqual([])
  })

  test('without a key are closed with the runner, and many of them are logged once', async () => {
    const { open, make, made } = createToolsets()
    const logger = recordingLogger()
    const source = toolSource(() => make(), { name: 'fresh' })
    const { runner, model } = createScenario({
      tools: [source],
      steps: Array.from({ length: 15 }, () => 'done'),
      runner: { logger },
    })
    for (let n = 0; n < 15; n++) await runMessage(runner, model)
    expect([open.size, made()]).toEqual([15, 15])
    expect(logger.lines.filter((line) => line.includes('give toolSource() a key'))).toHaveLength(1)
    await runner.close()
    expect(open.size).toBe(0)
  })

  test('that are the same each time are closed once and not logged', async () => {
    const logger = recordingLogger()
    const shutdown = vi.fn(async () => {})
    const set: Toolset = { name: 'one', listTools: async () => [plainTool('read', () => 1)], shutdown }
    const { runner, model } = createScenario({ tools: [toolSource(() => [set])], steps, runner: { logger } })
    await runMessage(runner, model)
    await runner.close()
    expect(logger.lines).toEqual([])
    expect(shutdown).toHaveBeenCalledOnce()
  })

  test.each<[string, () => string]>([
    [
      'throws',
      () => {
        throw new Error('no user')
      },
    ],
    ['returns no string', () => 7 as never],
  ])('are left out when the key %s', async (_, key) => {
    const logger = recordingLogger()
    const list = vi.fn(() => [])
    const { text } = await runScenario({
      tools: [toolSource(list, { name: 'odd', key })],
      steps: ['done'],
      runner: { logger },
    })
    expect([text, list.mock.calls.length]).toEqual(['done', 0])
    expect(logger.lines.join()).toContain('The tools of tool source "odd" are left out')
  })

  test('are listed again after a failure for a key', async () => {
    let listings = 0
    const list = () => {
      if (++listings === 1) throw new Error('not yet')
      return [plainTool('read', () => listings)]
    }
    const { runner, model } = createScenario({
      tools: [toolSource(list, { key: () => 'k' })],
      steps: ['one', 'two', 'three'],
    })
    for (let n = 0; n < 3; n++) await runMessage(runner, model)
    expect(listings).toBe(2)
    expect([offeredTools(model, 0), offeredTools(model, 1), offeredTools(model, 2)]).toEqual([[], ['read'], ['read']])
  })
})

test.each([
  ['with a key', { key: () => 'k' }],
  ['without a key', {}],
])('the runner closes a toolset once that a source %s returns after runner.close()', async (_, options) => {
  const listing = createDeferred()
  const listed = createDeferred<Toolset>()
  const shutdown = vi.fn(async () => {})
  const list = (): Promise<Toolset> => {
    listing.resolve()
    return listed.promise
  }
  const { runner, model } = createScenario({ tools: [toolSource(list, options)], steps: ['done'] })
  const run = runMessage(runner, model)
  await listing.promise
  await runner.close()
  await run
  listed.resolve({ name: 'late', listTools: async () => [], shutdown })
  await waitUntil(() => shutdown.mock.calls.length > 0)
  await runner.close()
  expect(shutdown).toHaveBeenCalledTimes(1)
})

describe('a listing that hangs', () => {
  const hang = () => new Promise<never>(() => {})
  test.each<[string, Toolset | ReturnType<typeof toolSource>]>([
    ['a toolset', { name: 'slow', listTools: hang }],
    ['a tool source', toolSource(hang, { name: 'slow' })],
    ['a tool source with a key', toolSource(hang, { name: 'slow', key: () => 'k' })],
    ['a toolset of a tool source', toolSource(() => ({ name: 'slow', listTools: hang }))],
  ])('of %s is left out after 30 seconds, and the run continues', async (_, source) => {
    const timers = new ManualTimers()
    const logger = recordingLogger()
    const playing = runScenario({
      tools: [source, plainTool('read', () => 1)],
      steps: ['done'],
      runner: { logger, ports: timers.ports },
    })
    await timers.fire(30_000)
    const { text, model } = await playing
    expect([text, offeredTools(model)]).toEqual(['done', ['read']])
    expect(logger.lines[0]).toMatch(
      /The tools of (toolset|tool source) "slow" are left out: listing the tools took longer/,
    )
  })
})

describe('a declaration that changes between model calls', () => {
  function changing(how: 'static' | 'listed' | 'wrapped') {
    let n = 0
    const read: Tool = {
      name: 'read',
      description: 'Reads',
      effect: 'none',
      declaration: () => ({
        name: 'read',
        description: n === 0 ? 'Reads a page' : 'Reads a chapter',
        parametersJsonSchema: { type: 'object', properties: {}, required: [n === 0 ? 'page' : 'chapter'] },
      }),
      run: (args) => {
        n = 1
        return args
      },
    }
    if (how === 'wrapped') return concurrency(read, 2)
    return how === 'static' ? read : new StaticToolset([read])
  }
  const described = (model: ScriptedModel, at: number) =>
    declarationsOf(model, at).map(({ description }) => description)

  test.each(['static', 'listed', 'wrapped'] as const)(
    'is sent again, and arguments are validated with it: %s',
    async (how) => {
      const call = (args: JsonObject) => ({ calls: [{ name: 'read', args }] })
      const result = await runScenario({
        tools: [changing(how)],
        steps: [call({ page: 1 }), call({ page: 2 }), call({ chapter: 2 }), 'done'],
      })
      expect([0, 1, 2].map((at) => described(result.model, at)[0])).toEqual([
        'Reads a page',
        'Reads a chapter',
        'Reads a chapter',
      ])
      expect(result.responses.map(({ response }) => response.errorCode ?? response)).toEqual([
        { page: 1 },
        'INVALID_ARGS',
        { chapter: 2 },
      ])
    },
  )

  test('into an invalid one is logged, and the earlier declaration stays', async () => {
    let n = 0
    const logger = recordingLogger()
    const read: Tool = {
      ...plainTool('read', () => ++n),
      declaration: () => ({ name: n === 0 ? 'read' : 'other', description: 'Reads' }),
    }
    const result = await runScenario({
      tools: [read],
      steps: [{ calls: [{ name: 'read' }] }, 'done'],
      runner: { logger },
    })
    expect([offeredTools(result.model, 1), result.text]).toEqual([['read'], 'done'])
    expect(logger.lines[0]).toContain('Tool "read" keeps its earlier declaration')
  })
})

test('the runner describes a plain tool with isLongRunning like one made with longRunning()', async () => {
  const job = plainTool('job', () => ({ ticket: 1 }))
  const handWritten = { ...job, isLongRunning: true }
  const [a, b] = await Promise.all(
    [handWritten, longRunning(job)].map(async (one) =>
      declarationsOf((await runScenario({ tools: [one], steps: ['done'] })).model),
    ),
  )
  expect(a).toEqual(b)
  expect(a?.[0]?.description).toContain('do not call the tool again for the same work')
})
