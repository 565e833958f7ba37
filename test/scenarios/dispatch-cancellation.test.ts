import { concurrency, type Event, LlmAgent, type Model, type Run, Runner, type Tool } from 'toolwright'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDeferred, createScenario, ManualTimers, plainTool, responsesOf } from './kit.ts'

const unhandled: unknown[] = []
const note = (reason: unknown): void => void unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', note)
})
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

async function follow(run: Run): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of run) events.push(event)
  return events
}

/** A body that waits for its signal, with promises for its start and its abort reason. */
function patient(name: string, effect: Tool['effect'] = 'none') {
  const began = createDeferred()
  const ended = createDeferred<unknown>()
  const tool = plainTool(
    name,
    (_, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          ended.resolve(signal.reason)
          reject(signal.reason)
        })
        began.resolve()
      }),
    { effect },
  )
  return { tool, began: began.promise, ended: ended.promise }
}

describe('cancelling a run', () => {
  test('aborts the signal of the model', async () => {
    const modelSignal = createDeferred<AbortSignal>()
    const model: Model = {
      name: 'slow',
      async *generate(_, { signal }) {
        modelSignal.resolve(signal as AbortSignal)
        await new Promise(() => {})
      },
    }
    const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model }) })
    const run = runner.run({ userId: 'ada', message: 'go' })
    const following = follow(run)
    const signal = await modelSignal.promise
    expect(signal.aborted).toBe(false)
    await run.cancel('enough')
    expect(signal.aborted).toBe(true)
    expect((await following).at(-1)).toMatchObject({ errorCode: 'CANCELLED', errorMessage: 'enough' })
  })

  test('aborts the signals of all bodies and records exactly one response for each call', async () => {
    const safe = patient('safe')
    const risky = patient('risky', 'atMostOnce')
    const quick = plainTool('quick', () => 'ok')
    const calls = [{ name: 'safe' }, { name: 'quick' }, { name: 'risky' }]
    const { runner } = createScenario({ tools: [safe.tool, quick, risky.tool], calls })
    const caller = new AbortController()
    const following = follow(runner.run({ userId: 'ada', message: 'go', signal: caller.signal }))
    await Promise.all([safe.began, risky.began])
    caller.abort()
    await Promise.all([safe.ended, risky.ended])
    const events = await following
    expect(responsesOf(events).map(({ name, response }) => [name, response.errorCode])).toEqual([
      ['safe', 'CANCELLED'],
      ['quick', undefined], // finished before the cancel
      ['risky', 'UNKNOWN_OUTCOME'],
    ])
    expect(events.at(-1)).toMatchObject({ errorCode: 'CANCELLED' })
  })

  test('ends the wait for a concurrency slot', async () => {
    const first = patient('limited')
    const limited = concurrency(first.tool, 1)
    const { runner } = createScenario({ tools: [limited], calls: [{ name: 'limited' }, { name: 'limited' }] })
    const run = runner.run({ userId: 'ada', message: 'go' })
    const following = follow(run)
    await first.began
    await run.cancel()
    expect(responsesOf(await following)).toHaveLength(2)
  })

  test('by breaking out of "for await" aborts the running body', async () => {
    const body = patient('body')
    const { runner } = createScenario({ tools: [body.tool], calls: [{ name: 'body' }] })
    for await (const event of runner.run({ userId: 'ada', message: 'go' })) {
      expect(event.content?.role).toBe('model')
      await body.began
      break
    }
    expect(String(await body.ended)).toContain('stopped reading the run before it ended')
  })

  test('from inside a body that then throws leaves no unhandled rejection', async () => {
    const caller = new AbortController()
    const suicidal = plainTool('suicidal', async (_, { signal }) => {
      caller.abort()
      expect(signal).toBeInstanceOf(AbortSignal)
      await Promise.resolve()
      throw new Error('after the end')
    })
    const { runner } = createScenario({ tools: [suicidal], calls: [{ name: 'suicidal' }] })
    const events = await follow(runner.run({ userId: 'ada', message: 'go', signal: caller.signal }))
    expect(events.at(-1)).toMatchObject({ errorCode: 'CANCELLED' })
  })

  test('from inside a body aborts the signal of that body and clears its timer', async () => {
    const caller = new AbortController()
    let held: AbortSignal | undefined
    const suicidal = plainTool('suicidal', async (_, { signal }) => {
      held = signal
      caller.abort()
      await new Promise(() => {})
    })
    const timers = new ManualTimers()
    const { runner } = createScenario({
      tools: [suicidal],
      calls: [{ name: 'suicidal' }],
      runner: { ports: timers.ports },
    })
    await follow(runner.run({ userId: 'ada', message: 'go', signal: caller.signal }))
    expect(held?.aborted).toBe(true)
    expect(timers.count(30_000)).toBe(0)
  })

  test('does not wait for a body that ignores its signal, and drops its late writes', async () => {
    const began = createDeferred()
    const late = createDeferred()
    const deaf = plainTool('deaf', async (_, context) => {
      began.resolve()
      await late.promise
      context.state.set('late', true)
      context.progress('late')
      throw new Error('nobody listens')
    })
    const { runner } = createScenario({ tools: [deaf], calls: [{ name: 'deaf' }] })
    const run = runner.run({ userId: 'ada', message: 'go' })
    const following = follow(run)
    await began.promise
    await run.cancel()
    const events = await following
    late.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    const { sessionId } = run
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
    expect(session?.events.slice(1).map(({ id }) => id)).toEqual(events.map(({ id }) => id))
    expect(session?.state).toEqual({})
  })

  test.each(['beforeTool', 'afterTool', 'onToolError'] as const)(
    'does not wait for the callback %s when the callback hangs',
    async (hook) => {
      const began = createDeferred()
      const hang = (): Promise<undefined> => {
        began.resolve()
        return new Promise(() => {})
      }
      const body = plainTool('body', () => {
        if (hook === 'onToolError') throw new Error('no')
      })
      const { runner } = createScenario({ tools: [body], calls: [{ name: 'body' }], agent: { [hook]: hang } })
      const run = runner.run({ userId: 'ada', message: 'go' })
      const following = follow(run)
      await began.promise
      await run.cancel()
      expect((await following).at(-1)).toMatchObject({ errorCode: 'CANCELLED' })
    },
  )
})

test('the runner accepts the next message after a cancelled run', async () => {
  const body = patient('body')
  const { runner } = createScenario({ tools: [body.tool], steps: [{ calls: [{ name: 'body' }] }, 'again'] })
  const run = runner.run({ userId: 'ada', sessionId: 's', message: 'go' })
  const following = follow(run)
  await body.began
  await run.cancel()
  await following
  expect((await runner.complete({ userId: 'ada', sessionId: 's', message: 'go on' })).text).toBe('again')
})
