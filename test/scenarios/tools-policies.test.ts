import {
  cached,
  concurrency,
  type Effect,
  InMemorySessionService,
  rateLimit,
  redact,
  retry,
  type Tool,
  ToolError,
  timeout,
  withParts,
} from 'toolwright'
import { describe, expect, test } from 'vitest'
import {
  createDeferred,
  createScenario,
  declarationsOf,
  ManualTimers,
  plainTool,
  runScenario,
  waitUntil,
} from './kit.ts'

/** A body that counts its runs and fails the first runs. */
function counting(name: string, options: { fails?: number; effect?: Effect } = {}) {
  const runs: unknown[] = []
  const tool = plainTool(
    name,
    async (args) => {
      runs.push(args)
      if (runs.length <= (options.fails ?? 0)) throw new Error(`failure ${runs.length}`)
      return { run: runs.length, secret: 's3cret' }
    },
    { effect: options.effect ?? 'idempotent' },
  )
  return { tool, runs }
}
const call = (name: string, args = {}) => ({ calls: [{ name, args }] })

describe('cached()', () => {
  test('answers equal calls of a session from the cache, also simultaneous ones', async () => {
    const { tool, runs } = counting('rate')
    const rate = { name: 'rate', args: { of: 'EUR' } }
    const result = await runScenario({
      tools: [cached(tool)],
      steps: [{ calls: [rate, rate] }, { calls: [rate, { name: 'rate', args: { of: 'USD' } }] }, 'done'],
    })
    expect(result.responses.map(({ response }) => response.run)).toEqual([1, 1, 1, 2])
    expect(runs).toEqual([{ of: 'EUR' }, { of: 'USD' }])
  })

  test('does not share results between users', async () => {
    const { tool, runs } = counting('rate')
    const sessionService = new InMemorySessionService()
    const steps = [call('rate'), 'one', call('rate'), 'two', call('rate'), 'three']
    const { runner } = createScenario({ tools: [cached(tool, { scope: 'user' })], steps, runner: { sessionService } })
    for (const userId of ['ada', 'eve', 'ada']) await runner.complete({ userId, message: 'go' })
    expect(runs).toHaveLength(2)
  })

  test('does not cache a failure', async () => {
    const { tool, runs } = counting('rate', { fails: 1 })
    const { responses } = await runScenario({ tools: [cached(tool)], steps: [call('rate'), call('rate'), 'done'] })
    expect(responses.map(({ response }) => response.error ?? response.run)).toEqual(['failure 1', 2])
    expect(runs).toHaveLength(2)
  })

  test('caches the media of a result', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'aGk=' } }
    const draw = plainTool('draw', () => withParts({ ok: true }, [image]))
    const { events } = await runScenario({ tools: [cached(draw)], steps: [call('draw'), call('draw'), 'done'] })
    const media = events.flatMap((event) => event.content?.parts.filter((part) => part.inlineData) ?? [])
    expect(media).toEqual([image, image])
  })
})

describe('retry()', () => {
  test('runs a failing body again with the same idempotency key', async () => {
    const keys: string[] = []
    const { tool } = counting('put', { fails: 2 })
    const watched: Tool = {
      ...tool,
      run: (args, context) => [keys.push(context.idempotencyKey), tool.run(args, context)][1],
    }
    const { response } = await runScenario({
      tools: [retry(watched, { attempts: 3, delayMs: 0 })],
      steps: [call('put'), 'done'],
    })
    expect(response).toMatchObject({ run: 3 })
    expect(new Set(keys).size).toBe(1)
  })

  test('stops after its attempts, and at a ToolError with another code', async () => {
    const { tool, runs } = counting('put', { fails: 9 })
    let pickyRuns = 0
    const picky = plainTool('picky', () => {
      pickyRuns++
      throw new ToolError('no such order', { code: 'NOT_FOUND' })
    })
    const tools = [tool, picky].map((one) => retry(one, { attempts: 3, delayMs: 0 }))
    const { responses } = await runScenario({ tools, calls: [{ name: 'put' }, { name: 'picky' }] })
    expect(responses.map(({ response }) => response)).toEqual([
      { error: 'failure 3', errorCode: 'EXECUTION_FAILED' },
      { error: 'no such order', errorCode: 'NOT_FOUND' },
    ])
    expect([runs.length, pickyRuns]).toEqual([3, 1])
  })
})

describe('concurrency() and rateLimit()', () => {
  test('limit the bodies that run at the same time across runs', async () => {
    const began: { finish: () => void }[] = []
    const third = createDeferred()
    let most = 0
    let running = 0
    const work = plainTool('work', async () => {
      const { promise, resolve } = createDeferred()
      most = Math.max(most, ++running)
      if (began.push({ finish: resolve }) === 3) third.resolve()
      await promise
      running--
      return 'ok'
    })
    const steps = [{ calls: [{ name: 'work' }, { name: 'work' }] }, 'done']
    const limited = concurrency(work, 2)
    const playing = [runScenario({ tools: [limited], steps }), runScenario({ tools: [limited], steps })]
    await waitUntil(() => began.length === 2)
    for (const one of began) one.finish()
    await third.promise
    await waitUntil(() => began.length === 4)
    for (const one of began) one.finish()
    for (const { responses } of await Promise.all(playing)) {
      expect(responses.map(({ response }) => response.result)).toEqual(['ok', 'ok'])
    }
    expect(most).toBe(2)
  })

  test('do not count the wait for a slot against the timeout', async () => {
    const timers = new ManualTimers()
    const first = createDeferred()
    let runs = 0
    const work = plainTool('work', async () => {
      if (++runs === 1) await first.promise
      return runs
    })
    const tools = [concurrency(timeout(work, 50), 1)]
    const playing = runScenario({ tools, calls: [{ name: 'work' }, { name: 'work' }], runner: { ports: timers.ports } })
    await waitUntil(() => timers.count(50) > 0)
    expect(timers.count(50)).toBe(1)
    first.resolve()
    expect((await playing).responses.map(({ response }) => response.result)).toEqual([1, 2])
  })

  test('delay calls over the rate until there is room', async () => {
    const timers = new ManualTimers()
    let now = 0
    const ports = { ...timers.ports, now: () => now }
    const starts: number[] = []
    const work = plainTool('work', () => starts.push(now))
    const tools = [rateLimit(work, { max: 2, perMs: 100 }, ports)]
    const playing = runScenario({ tools, calls: Array.from({ length: 3 }, () => ({ name: 'work' })) })
    await waitUntil(() => timers.count(100) > 0)
    expect(starts).toEqual([0, 0])
    now = 100
    await timers.fire(100)
    await playing
    expect(starts).toEqual([0, 0, 100])
  })
})

test('redact() hides values in the result everywhere, and in the arguments from callbacks', async () => {
  const { tool, runs } = counting('login')
  const seen: unknown[] = []
  const result = await runScenario({
    tools: [redact(tool, { result: ['secret'], args: ['password'] })],
    calls: [{ name: 'login', args: { user: 'ada', password: 'hunter2' } }],
    agent: { afterTool: ({ args, result }) => void seen.push(args, result) },
  })
  expect(runs).toEqual([{ user: 'ada', password: 'hunter2' }])
  expect(result.response).toEqual({ run: 1, secret: '[redacted]' })
  expect(seen).toEqual([
    { user: 'ada', password: '[redacted]' },
    { run: 1, secret: '[redacted]' },
  ])
  expect(JSON.stringify([result.events, result.model.requests[1]?.contents])).not.toContain('s3cret')
})

describe('all policies nested', () => {
  const layers: ((tool: Tool) => Tool)[] = [
    (tool) => timeout(tool, 10_000),
    (tool) => cached(tool),
    (tool) => retry(tool, { attempts: 3, delayMs: 0 }),
    (tool) => rateLimit(tool, { max: 10, perMs: 1_000 }),
    (tool) => concurrency(tool, 1),
    (tool) => redact(tool, ['secret']),
  ]
  const orders = [layers, layers.toReversed(), [...layers.slice(3), ...layers.slice(0, 3)]]
  test.each(orders.map((order, at) => [at, order] as const))(
    'retry a failing body, cache its result and hide its secret in order %d',
    async (_, order) => {
      const { tool, runs } = counting('work', { fails: 2 })
      const wrapped = order.reduce((inner, wrap) => wrap(inner), tool)
      const { responses, model } = await runScenario({ tools: [wrapped], steps: [call('work'), call('work'), 'done'] })
      expect(responses.map(({ response }) => response)).toEqual(Array(2).fill({ run: 3, secret: '[redacted]' }))
      expect(runs).toHaveLength(3)
      expect(declarationsOf(model)).toEqual([{ name: 'work', description: 'work' }])
    },
  )
})
