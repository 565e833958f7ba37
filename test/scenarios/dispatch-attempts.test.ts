// Attempts of a call: what a failed or timed-out attempt leaves behind, and malformed replies and results.
import {
  cached,
  filterTools,
  LlmAgent,
  prefixTools,
  Runner,
  retry,
  StaticToolset,
  type Toolset,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const call = (name: string, args = {}): ScriptedStep => ({ calls: [{ name, args }] })
const quiet = { warn: () => {}, error: () => {} }
const run = (steps: readonly ScriptedStep[], options: Partial<ConstructorParameters<typeof LlmAgent>[0]>) => {
  const agent = new LlmAgent({ name: 'a', model: scriptedModel(steps), ...options })
  const runner = new Runner({ appName: 'app', agent, logger: quiet })
  const session = () => runner.sessionService.getSession({ appName: 'app', userId: 'u', sessionId: 's' })
  return { runner, session, done: () => runner.complete({ userId: 'u', sessionId: 's', message: 'go' }) }
}

test('the runner drops state of a failed attempt and keeps state of the successful attempt', async () => {
  let tries = 0
  const flaky = tool({
    name: 'flaky',
    description: 'fails once',
    effect: 'idempotent',
    run: (_args, { state }) => {
      state.set(`try${++tries}`, true)
      if (tries === 1) throw new Error('not yet')
      return { tries }
    },
  })
  const { done, session } = run([call('flaky'), 'ok'], { tools: [retry(flaky, { attempts: 2, delayMs: 0 })] })
  await done()
  expect((await session())?.state).toEqual({ try2: true })
})

test('the runner drops a late state write of an attempt that timed out', async () => {
  let tries = 0
  let first: (() => void) | undefined
  const slow = tool({
    name: 'slow',
    description: 'hangs once',
    effect: 'idempotent',
    timeoutMs: 5,
    run: (_args, context) => {
      if (++tries > 1) {
        first?.()
        return { tries }
      }
      first = () => context.state.set('late', true)
      return new Promise(() => {})
    },
  })
  const { done, session } = run([call('slow'), 'ok'], { tools: [retry(slow, { attempts: 2, delayMs: 0 })] })
  expect((await done()).events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({ tries: 2 })
  expect((await session())?.state).toEqual({})
})

test('the runner drops state of the body and keeps state of callbacks when onToolError recovers the call', async () => {
  const broken = tool({
    name: 'broken',
    description: 'fails',
    run: (_args, { state }) => {
      state.set('body', true)
      throw new Error('no')
    },
  })
  const { done, session } = run([call('broken'), 'ok'], {
    tools: [broken],
    beforeTool: ({ context }) => {
      context.state.set('before', true)
    },
    onToolError: ({ context }) => {
      context.state.set('saved', true)
      return { saved: true }
    },
  })
  await done()
  expect((await session())?.state).toEqual({ before: true, saved: true })
})

test('the runner validates arguments that beforeTool changes in place', async () => {
  const seen: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'pays',
    parameters: z.object({ amount: z.number().max(10) }),
    run: (args) => void seen.push(args),
  })
  const tamper = ({ args }: { args: Record<string, unknown> }): void => {
    args.amount = 9_999
  }
  const refused = await run([call('pay', { amount: 1 }), 'ok'], { tools: [pay], beforeTool: tamper }).done()
  expect(refused.events[1]?.content?.parts[0]?.functionResponse?.response).toMatchObject({ errorCode: 'INVALID_ARGS' })
  const raise = ({ args }: { args: Record<string, unknown> }): void => {
    args.amount = 7
  }
  await run([call('pay', { amount: 1 }), 'ok'], { tools: [pay], beforeTool: raise }).done()
  expect(seen).toEqual([{ amount: 7 }])
})

test('the runner treats a result with `error: null` as a success, which may repeat and is cached', async () => {
  let runs = 0
  const fetchAll = tool({ name: 'fetch', description: 'fetches', run: () => ({ data: ++runs, error: null }) })
  const steps = [...Array.from({ length: 5 }, () => call('fetch')), 'ok']
  expect((await run(steps, { tools: [fetchAll] }).done()).text).toBe('ok')
  expect(runs).toBe(5)
  await run(steps, { tools: [cached(fetchAll)] }).done()
  expect(runs).toBe(6)
})

test('the runner answers INVALID_ARGS for 5,000 levels of nesting and keeps the session readable', async () => {
  let deep: object = {}
  for (let level = 0; level < 5_000; level++) deep = { deep }
  let ran = false
  const take = tool({
    name: 'take',
    description: 'takes anything',
    parameters: { type: 'object' },
    run: () => (ran = true),
  })
  const { done, session } = run([call('take', { deep }), 'ok'], { tools: [take] })
  const { events, text } = await done()
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toMatchObject({ errorCode: 'INVALID_ARGS' })
  expect([text, ran]).toEqual(['ok', false])
  expect((await session())?.events).toHaveLength(4)
})

test('the runner answers calls without a name or with a numeric id', async () => {
  const odd = {
    parts: [
      { functionCall: { id: 7, args: {} } as never },
      { functionCall: { id: 'x', name: 'no', args: 5 } as never },
    ],
  }
  const { events, text } = await run([odd, 'ok'], {}).done()
  expect(text).toBe('ok')
  expect(events[1]?.content?.parts.map((part) => part.functionResponse?.response.errorCode)).toEqual([
    'NOT_FOUND',
    'NOT_FOUND',
  ])
  expect(typeof events[0]?.content?.parts[0]?.functionCall?.id).toBe('string')
})

test('the runner truncates a result by bytes when it has wide or escaped characters', async () => {
  const wide = tool({ name: 'wide', description: 'wide', run: () => '字'.repeat(200_000) })
  const odd = tool({ name: 'odd', description: 'odd', run: () => '\u0001'.repeat(100_000) })
  const { events } = await run([{ calls: [{ name: 'wide' }, { name: 'odd' }] }, 'ok'], { tools: [wide, odd] }).done()
  for (const part of events[1]?.content?.parts ?? []) {
    expect(part.functionResponse?.response).toMatchObject({ truncated: true })
    expect(new TextEncoder().encode(JSON.stringify(part)).length).toBeLessThan(260_000)
  }
})

test('the runner runs a generator that a body returns in a promise', async () => {
  const steps = tool({
    name: 'steps',
    description: 'steps',
    run: async () =>
      (async function* () {
        yield 1
        return { done: true }
      })(),
  })
  const { events } = await run([call('steps'), 'ok'], { tools: [steps] }).done()
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({ done: true })
})

test('the runner keeps a finished response when the run is cancelled while a sibling call hangs', async () => {
  let hanging = (): void => {}
  const hangs = new Promise<void>((resolve) => {
    hanging = resolve
  })
  const paid = tool({
    name: 'paid',
    description: 'pays',
    run: (_args, { state }) => {
      state.set('paid', true)
      return { receipt: 1 }
    },
  })
  const hang = tool({
    name: 'hang',
    description: 'hangs',
    run: () => {
      hanging()
      return new Promise(() => {})
    },
  })
  const { runner, done, session } = run([{ calls: [{ name: 'paid' }, { name: 'hang' }] }], { tools: [paid, hang] })
  const completion = done()
  await hangs
  await runner.cancel({ userId: 'u', sessionId: 's' })
  const { events, error } = await completion
  expect(error?.code).toBe('CANCELLED')
  expect(events.at(-2)?.content?.parts.map((part) => part.functionResponse?.response)).toEqual([
    { receipt: 1 },
    expect.objectContaining({ status: 'unknown_outcome' }),
  ])
  expect((await session())?.state).toEqual({ paid: true })
})

test('the runner shuts down a toolset once when several agents share it', async () => {
  let closed = 0
  const shared: Toolset = Object.assign(new StaticToolset([]), { shutdown: async () => void closed++ })
  const child = new LlmAgent({ name: 'child', tools: [prefixTools(shared, 'x_')] })
  const agent = new LlmAgent({
    name: 'a',
    model: scriptedModel([]),
    tools: [shared, filterTools(shared, [])],
    subAgents: [child],
  })
  const runner = new Runner({ appName: 'app', agent })
  await Promise.all([runner.close(), runner.close()])
  expect(closed).toBe(1)
})

test('the runner accepts the arguments passed to beforeTool as the return value of beforeTool', async () => {
  const seen: unknown[] = []
  const take = tool({
    name: 'take',
    description: 'takes a number written out',
    parameters: z.object({ n: z.string().transform(Number) }),
    run: (args) => void seen.push(args),
  })
  await run([call('take', { n: '7' }), 'ok'], { tools: [take], beforeTool: ({ args }) => ({ args }) }).done()
  expect(seen).toEqual([{ n: 7 }])
})
