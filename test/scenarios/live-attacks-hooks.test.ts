import { background, confirm, LlmAgent, type ResultFormatter, Runner, ToolDispatcher } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { plainTool, responsesOf, silentLogger, waitUntil } from './kit.ts'
import { attack, expectWholeLog, ticks, watchRejections } from './live-attacks-kit.ts'

const fail = (): never => {
  throw new Error('The hook failed.')
}

describe('a formatter of background results that', () => {
  const usual: ResultFormatter = {
    formatRunning: () => ({ state: 'running' }),
    formatResult: () => ({ state: 'done' }),
    formatCancelled: () => ({ state: 'cancelled' }),
  }
  const hostile = {
    get value() {
      return fail()
    },
  }
  const formatters: [string, Partial<Record<keyof ResultFormatter, () => unknown>>][] = [
    ['throws for a running call', { formatRunning: fail }],
    ['returns nothing for a running call', { formatRunning: () => undefined }],
    ['throws for a result', { formatResult: fail }],
    ['returns nothing for a result', { formatResult: () => undefined }],
    ['returns a result that cannot be read', { formatResult: () => hostile }],
  ]

  test.each(formatters)('%s does not lose the result of a text run', async (_title, given) => {
    const rejections = watchRejections()
    let runs = 0
    const formatter = { ...usual, ...given } as ResultFormatter
    const work = plainTool('work', () => ({ done: ++runs }), { effect: 'atMostOnce' })
    const model = scriptedModel([{ calls: [{ name: 'work' }] }, 'Finished.'])
    const agent = new LlmAgent({ name: 'desk', model, tools: [background(work, { formatter })] })
    const runner = new Runner({ appName: 'app', agent, logger: silentLogger })
    onTestFinished(() => runner.close())
    const run = runner.run({ userId: 'ada', message: 'go' })
    for await (const _ of run);
    await waitUntil(() => model.requests.length === 2)
    await ticks()
    const where = { userId: 'ada', sessionId: run.sessionId }
    const log = await runner.sessionService.getSession({ appName: 'app', ...where })
    const [handle, result, ...more] = responsesOf(log?.events ?? [])
    expect(handle).toMatchObject({ willContinue: true })
    expect([{ state: 'done' }, { status: 'completed', tool: 'work', result: { done: 1 } }]).toContainEqual(
      result?.response,
    )
    expect([runs, more, await runner.pending(where), rejections]).toEqual([1, [], [], []])
  })

  test.each(formatters)('%s does not lose the result of a live session', async (_title, given) => {
    const formatter = { ...usual, ...given } as ResultFormatter
    const work = background(
      plainTool('work', () => ({ done: 1 })),
      { formatter },
    )
    const { connection, runner, session } = await attack([work])
    connection.emit({ type: 'toolCall', calls: [{ id: 'c1', name: 'work', args: {} }] })
    await waitUntil(() => connection.sent.length === 2)
    const responses = connection.sent.flatMap((one) => (one.type === 'toolResponses' ? one.responses : []))
    expect(responses.map(({ willContinue }) => willContinue)).toEqual([true, false])
    await expectWholeLog(runner, session)
  })
})

describe('hooks without end', () => {
  test('a watcher that writes its own key is stopped, and the session goes on', async () => {
    let runs = 0
    const { session, event } = await attack([], {
      watchers: [
        {
          key: 'n',
          on: () => true,
          run: ({ state }) => {
            runs++
            state.set('n', state.get('n', 0) + 1)
          },
        },
      ],
    })
    session.state.set('n', 1)
    expect((await event('error')).message).toContain('A watcher of "n" did not run')
    await ticks()
    const before = runs
    expect(before).toBeLessThanOrEqual(101)
    session.state.set('n', 0) // a write of the app counts again
    await ticks()
    expect(runs).toBeGreaterThan(before)
  })

  test('phases that change each other through their hooks are stopped', async () => {
    let entered = 0
    const phase = (name: string, to: string) => ({
      name,
      instruction: name,
      onEnter: ({ state }: { state: { set(key: string, value: unknown): void } }) => state.set('n', ++entered),
      transitions: [{ to, when: () => entered > 0 }],
    })
    const phases = [phase('a', 'b'), phase('b', 'a')]
    const { session } = await attack([], { phases, initialPhase: 'a' })
    await ticks()
    const before = entered
    await ticks()
    expect(entered).toBe(before)
    await session.close()
  })
})

test('a logger that throws, and hooks that fail, end neither the session nor the process', async () => {
  const rejections = watchRejections()
  const { connection, session, runner, events } = await attack(
    [confirm(plainTool('pay', () => ({}))), plainTool('look', () => ({}))],
    {
      confirmationProvider: fail,
      beforeToolResponse: fail,
      watchers: [{ key: 'n', on: () => true, run: fail }],
      patterns: [{ name: 'words', rate: { of: 'text', count: 1, perMs: 1_000 }, run: fail }],
    },
    { logger: { warn: fail, error: fail } },
  )
  session.state.set('n', 1)
  const calls = ['look', 'pay'].map((name) => ({ id: name, name, args: {} }))
  connection.emit({ type: 'text', text: 'Hm.' }, { type: 'toolCall', calls })
  await waitUntil(() => events.filter(({ type }) => type === 'error').length >= 4)
  await waitUntil(() => events.filter(({ type }) => type === 'toolCall').length === 1 && session.openCalls === 0)
  await ticks()
  expect(rejections).toEqual([])
  await session.close()
  await expectWholeLog(runner, session)
})

test('a dispatcher does not wait for a confirmation provider after the call was cancelled', async () => {
  const controller = new AbortController()
  const dispatcher = new ToolDispatcher({
    confirmationProvider: () => {
      controller.abort()
      return new Promise(() => {})
    },
  }).register(confirm(plainTool('pay', () => ({}))))
  const calling = dispatcher.call('pay', {}, { signal: controller.signal })
  await expect(calling).rejects.toMatchObject({ code: 'CANCELLED' })
  await dispatcher.shutdown()
})
