import type { Event, ToolContext } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { createDeferred, createScenario, ManualTimers, plainTool, runScenario, type ScenarioResult } from './kit.ts'

/** Bodies that log their start and end, and return when the test ends them. */
function stepwise(names: readonly string[]) {
  const log: string[] = []
  const ends = new Map(names.map((name) => [name, createDeferred()]))
  const started = new Map(names.map((name) => [name, createDeferred()]))
  const run = async (name: string): Promise<string> => {
    log.push(`+${name}`)
    started.get(name)?.resolve()
    await ends.get(name)?.promise
    log.push(`-${name}`)
    return name
  }
  const tools = names.map((name) => plainTool(name, () => run(name)))
  return {
    log,
    tools,
    calls: names.map((name) => ({ name })),
    end: (name: string) => ends.get(name)?.resolve(),
    started: (name: string) => started.get(name)?.promise,
  }
}

const results = ({ responses }: ScenarioResult): unknown[] => responses.map(({ response }) => response.result)

test('the runner runs the calls of a batch at the same time and records responses in call order', async () => {
  const { log, tools, calls, end, started } = stepwise(['a', 'b', 'c'])
  const playing = runScenario({ tools, calls })
  await Promise.all(['a', 'b', 'c'].map(started))
  for (const name of ['c', 'a', 'b']) end(name)
  const result = await playing
  expect(log.slice(0, 3)).toEqual(['+a', '+b', '+c'])
  expect(results(result)).toEqual(['a', 'b', 'c'])
  expect(result.events.filter((event) => event.content?.role === 'tool')).toHaveLength(1)
})

test('the runner runs one call at a time with toolExecution.parallel false', async () => {
  const { log, tools, calls, end } = stepwise(['a', 'b'])
  end('b')
  end('a')
  const result = await runScenario({ tools, calls, agent: { toolExecution: { parallel: false } } })
  expect(log).toEqual(['+a', '-a', '+b', '-b'])
  expect(results(result)).toEqual(['a', 'b'])
})

describe('the event with the responses of a batch tells when each call ran', () => {
  const START = 1_000_000
  /** Calls a tool that takes 30 ms and one that takes 200 ms. Returns the times of the calls after the start of the batch. */
  async function timesOf(toolExecution: { parallel: boolean }, names = ['quick', 'slow']): Promise<unknown> {
    let now = START
    const quickEnded = createDeferred()
    const quick = plainTool('quick', async () => {
      now += 30
      setImmediate(quickEnded.resolve) // after the outcome has reached the dispatcher
    })
    const slow = plainTool('slow', async () => {
      await quickEnded.promise
      now += 200
    })
    const calls = names.map((name) => ({ name, id: name }))
    const ports = { now: () => now }
    const { events } = await runScenario({ tools: [quick, slow], calls, agent: { toolExecution }, runner: { ports } })
    const { callTimes } = events.find((event) => event.content?.role === 'tool') as Event
    const sinceStart = (seconds: number): number => Math.round(seconds * 1000 - START)
    return (
      callTimes &&
      Object.entries(callTimes).map(
        ([id, { startedAt, endedAt }]) => `${id} ${sinceStart(startedAt)}-${sinceStart(endedAt)}`,
      )
    )
  }

  test('with calls at the same time', async () => {
    expect(await timesOf({ parallel: true })).toEqual(['quick 0-30', 'slow 0-230'])
  })

  test('with one call at a time', async () => {
    expect(await timesOf({ parallel: false })).toEqual(['quick 0-30', 'slow 30-230'])
  })

  test('but not for a single call, which ends with its event', async () => {
    expect(await timesOf({ parallel: true }, ['quick'])).toBeUndefined()
  })
})

test('the runner runs at most maxConcurrency calls at once', async () => {
  const { log, tools, calls, end, started } = stepwise(['a', 'b', 'c', 'd'])
  const playing = runScenario({ tools, calls, agent: { toolExecution: { maxConcurrency: 2 } } })
  await started('b')
  expect(log).toEqual(['+a', '+b'])
  end('b')
  await started('c')
  expect(log).toEqual(['+a', '+b', '-b', '+c'])
  end('a')
  await started('d')
  expect(log).toEqual(['+a', '+b', '-b', '+c', '-a', '+d'])
  for (const name of ['c', 'd']) end(name)
  expect(results(await playing)).toEqual(['a', 'b', 'c', 'd'])
})

test('the runner runs eight calls at once by default', async () => {
  let running = 0
  let most = 0
  const gate = createDeferred()
  const eight = createDeferred()
  const work = plainTool('work', async () => {
    most = Math.max(most, ++running)
    if (running === 8) eight.resolve()
    await gate.promise
    running--
  })
  const playing = runScenario({ tools: [work], calls: Array.from({ length: 20 }, () => ({ name: 'work' })) })
  await eight.promise
  gate.resolve()
  expect((await playing).responses).toHaveLength(20)
  expect(most).toBe(8)
})

test('the runner runs a sequential tool alone', async () => {
  const { log, tools, calls, end, started } = stepwise(['a', 'alone', 'b', 'c'])
  const given = tools.map((tool) => (tool.name === 'alone' ? { ...tool, sequential: true } : tool))
  const playing = runScenario({ tools: given, calls })
  await started('a')
  expect(log).toEqual(['+a'])
  end('a')
  await started('alone')
  expect(log).toEqual(['+a', '-a', '+alone'])
  end('alone')
  await Promise.all([started('b'), started('c')])
  expect(log).toEqual(['+a', '-a', '+alone', '-alone', '+b', '+c'])
  for (const name of ['b', 'c']) end(name)
  expect(results(await playing)).toEqual(['a', 'alone', 'b', 'c'])
})

describe('the arguments of a call', () => {
  const spoil = (args: unknown): unknown => {
    const { list } = args as { list: string[] }
    const before = [...list]
    list.push('spoiled')
    return before
  }
  const given = { list: ['good'] }
  const callsOf = ({ events }: ScenarioResult): unknown[] =>
    events.flatMap((event) => event.content?.parts.flatMap((part) => part.functionCall?.args ?? []) ?? [])

  test('changed by a body stay unchanged in the event and in sibling calls', async () => {
    const calls = [
      { name: 'spoil', args: given },
      { name: 'spoil', args: given },
    ]
    const result = await runScenario({ tools: [plainTool('spoil', spoil)], calls })
    expect(results(result)).toEqual([['good'], ['good']])
    expect(callsOf(result)).toEqual([{ list: ['good'] }, { list: ['good'] }])
    expect(given).toEqual({ list: ['good'] })
  })

  test('changed by a callback stay unchanged in the event', async () => {
    const result = await runScenario({
      tools: [plainTool('spoil', () => 1)],
      calls: [{ name: 'spoil', args: given }],
      agent: { beforeTool: ({ args }) => void spoil(args), afterTool: ({ args }) => void spoil(args) },
    })
    expect(callsOf(result)).toEqual([{ list: ['good'] }])
    expect(given).toEqual({ list: ['good'] })
  })
})

describe('the response of a fast call next to a slow call', () => {
  const begin = () => {
    const timers = new ManualTimers()
    const steps = stepwise(['fast', 'slow'])
    const { runner } = createScenario({ tools: steps.tools, calls: steps.calls, runner: { ports: timers.ports } })
    const events = runner.run({ userId: 'ada', message: 'go' })[Symbol.asyncIterator]()
    return { timers, ...steps, next: async () => (await events.next()).value as Event }
  }

  test('is recorded alone after one second, and the model gets both responses', async () => {
    const { timers, end, next } = begin()
    await next()
    const first = next()
    end('fast')
    await timers.fire(1_000)
    const early = await first
    expect(early.content?.parts.map((part) => part.functionResponse?.name)).toEqual(['fast'])
    end('slow')
    const late = await next()
    expect(late.content?.parts.map((part) => part.functionResponse?.name)).toEqual(['slow'])
    const last = await next()
    expect(last.content?.parts[0]?.text).toBe('done')
  })

  test('is recorded together with the slow response when both finish within one second', async () => {
    const { timers, end, started, next } = begin()
    await next()
    const first = next()
    await started('slow')
    end('fast')
    end('slow')
    const both = await first
    expect(both.content?.parts.map((part) => part.functionResponse?.name)).toEqual(['fast', 'slow'])
    expect(timers.count(1_000)).toBe(0)
  })
})

test('the runner applies the state delta of an early response once', async () => {
  const timers = new ManualTimers()
  const slow = createDeferred()
  const read = (context: ToolContext): unknown => context.state.get('fast', 'not yet')
  const tools = [
    plainTool('fast', (_, { state }) => state.set('fast', 1)),
    plainTool('slow', async (_, context) => {
      const before = read(context)
      await slow.promise
      return [before, read(context)]
    }),
  ]
  const { runner } = createScenario({
    tools,
    calls: [{ name: 'fast' }, { name: 'slow' }],
    runner: { ports: timers.ports },
  })
  const events = runner.run({ userId: 'ada', message: 'go' })[Symbol.asyncIterator]()
  await events.next()
  const early = events.next()
  await timers.fire(1_000)
  expect((await early).value?.actions.stateDelta).toEqual({ fast: 1 })
  slow.resolve()
  const { value } = await events.next()
  expect(value?.content?.parts[0]?.functionResponse?.response.result).toEqual(['not yet', 1])
  expect(value?.actions).toEqual({})
})
