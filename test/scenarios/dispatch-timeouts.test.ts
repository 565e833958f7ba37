import { agentTool, type Effect, LlmAgent, retry, type Tool, timeout, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { createDeferred, createScenario, ManualTimers, plainTool, progressOf, runScenario } from './kit.ts'

const forever = (): Promise<never> => new Promise(() => {})

/** Runs a scenario in which one timer fires. */
async function whenLate(ms: number, tools: readonly Tool[], story: Parameters<typeof runScenario>[0] = {}) {
  const timers = new ManualTimers()
  const calls = tools.map(({ name }) => ({ name }))
  const playing = runScenario({ tools, calls, ...story, runner: { ports: timers.ports, ...story.runner } })
  await timers.fire(ms)
  return await playing
}

describe('the timeout of a hanging body', () => {
  test.each<[Effect | undefined, object]>([
    [
      'none',
      {
        error: 'Tool "hang" timed out after 30000 ms. Raise timeoutMs or make the tool long-running.',
        errorCode: 'TIMEOUT',
      },
    ],
    [
      'idempotent',
      {
        error: 'Tool "hang" timed out after 30000 ms. Raise timeoutMs or make the tool long-running.',
        errorCode: 'TIMEOUT',
      },
    ],
    [
      'atMostOnce',
      {
        status: 'unknown_outcome',
        error:
          'Tool "hang" timed out after 30000 ms and may have taken effect. Check the outcome before you call it again.',
        errorCode: 'TIMEOUT',
      },
    ],
    [
      undefined,
      {
        status: 'unknown_outcome',
        error:
          'Tool "hang" timed out after 30000 ms and may have taken effect. Check the outcome before you call it again.',
        errorCode: 'TIMEOUT',
      },
    ],
  ])('answers after 30 seconds when the effect is %s', async (effect, response) => {
    const result = await whenLate(30_000, [{ ...plainTool('hang', forever), effect }])
    expect(result.response).toEqual(response)
    expect(result.text).toBe('done')
  })

  test('uses toolTimeoutMs of the runner', async () => {
    const { response } = await whenLate(5, [plainTool('hang', forever)], { runner: { toolTimeoutMs: 5 } })
    expect(response.error).toBe('Tool "hang" timed out after 5 ms. Raise timeoutMs or make the tool long-running.')
  })

  test.each([10, 60_000])('uses timeoutMs of the tool: %d ms', async (timeoutMs) => {
    const { response } = await whenLate(timeoutMs, [plainTool('hang', forever, { timeoutMs })])
    expect(response.error).toBe(
      `Tool "hang" timed out after ${timeoutMs} ms. Raise timeoutMs or make the tool long-running.`,
    )
  })

  test('uses the smallest of nested timeouts', async () => {
    const { response } = await whenLate(20, [timeout(timeout(timeout(plainTool('hang', forever), 50), 20), 90)])
    expect(response.error).toBe('Tool "hang" timed out after 20 ms. Raise timeoutMs or make the tool long-running.')
  })

  test('aborts the signal of the body and not those of sibling calls', async () => {
    const signals: AbortSignal[] = []
    const watching = (name: string): Tool =>
      plainTool(name, (_, { signal }) => {
        signals.push(signal)
        return name === 'hang' ? forever() : 'ok'
      })
    const { responses } = await whenLate(30_000, [watching('hang'), watching('fine')])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect(String(signals[0]?.reason)).toContain('timed out')
    expect(responses.map(({ response }) => response.result ?? response.errorCode)).toEqual(['TIMEOUT', 'ok'])
  })

  test('closes a generator body', async () => {
    const closed = createDeferred<string>()
    const gen = plainTool('gen', async function* (_, { signal }) {
      try {
        yield 'started'
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      } finally {
        closed.resolve('closed')
      }
    })
    const { response } = await whenLate(30_000, [gen])
    expect(response.errorCode).toBe('TIMEOUT')
    expect(await closed.promise).toBe('closed')
  })
})

test('the runner answers TIMEOUT for a generator that yields without waiting', async () => {
  let yields = 0
  const busy = plainTool(
    'busy',
    function* () {
      while (yields < 300_000) yield ++yields
    },
    { timeoutMs: 20 },
  )
  const { response } = await runScenario({ tools: [busy], calls: [{ name: 'busy' }] })
  expect(response.errorCode).toBe('TIMEOUT')
  expect(yields).toBeLessThan(300_000)
})

test('the runner drops a late result, late progress and a late error', async () => {
  const timers = new ManualTimers()
  const late = createDeferred()
  const ended = createDeferred<string>()
  const slow = plainTool('slow', async (_, context) => {
    await late.promise
    context.progress('too late')
    ended.resolve('ended')
    throw new Error('nobody listens')
  })
  const wait = plainTool('wait', async () => {
    late.resolve()
    return await ended.promise
  })
  const playing = runScenario({
    tools: [slow, wait],
    steps: [{ calls: [{ name: 'slow' }] }, { calls: [{ name: 'wait' }] }, 'done'],
    runner: { ports: timers.ports },
  })
  await timers.fire(30_000)
  const { responses, events } = await playing
  expect(responses.map(({ name, response }) => [name, response.errorCode ?? response.result])).toEqual([
    ['slow', 'TIMEOUT'],
    ['wait', 'ended'],
  ])
  expect(progressOf(events)).toEqual([])
})

test('the runner leaves no timer after a body that finishes in time', async () => {
  const timers = new ManualTimers()
  const tools = [plainTool('ok', async () => 1), plainTool('bad', () => Promise.reject(new Error('no')))]
  await runScenario({ tools, calls: [{ name: 'ok' }, { name: 'bad' }], runner: { ports: timers.ports } })
  expect(timers.count(30_000)).toBe(0)
  expect(timers.count(1_000)).toBe(0)
})

test('the runner sets no deadline for an agent tool by default', async () => {
  const timers = new ManualTimers()
  const modelCalled = createDeferred()
  const answer = createDeferred<string>()
  const model = scriptedModel([
    () => {
      modelCalled.resolve()
      return answer.promise
    },
  ])
  const helper = new LlmAgent({ name: 'helper', model })
  const calls = [{ name: 'helper', args: { request: 'help' } }]
  const playing = runScenario({ tools: [agentTool(helper)], calls, runner: { ports: timers.ports } })
  await modelCalled.promise
  expect(timers.count(30_000)).toBe(0)
  answer.resolve('helped')
  expect((await playing).responses[0]?.response).toEqual({ text: 'helped' })
})

test('the runner retries a timed-out attempt with a new signal and the same idempotency key', async () => {
  const attempts: { signal: AbortSignal; key: string }[] = []
  const flaky = tool({
    name: 'flaky',
    description: 'Hangs once',
    effect: 'idempotent',
    timeoutMs: 40,
    run: async (_, { signal, idempotencyKey }) => {
      attempts.push({ signal, key: idempotencyKey })
      return attempts.length === 1 ? await forever() : 'second time'
    },
  })
  const { response } = await whenLate(40, [retry(flaky, { attempts: 2, delayMs: 0 })])
  expect(response).toEqual({ result: 'second time' })
  expect(attempts.map(({ signal }) => signal.aborted)).toEqual([true, false])
  expect(attempts[0]?.key).toBe(attempts[1]?.key)
})

test('the runner accepts the next message after a timeout', async () => {
  const timers = new ManualTimers()
  const steps = [{ calls: [{ name: 'hang' }] }, 'one', 'two']
  const { runner } = createScenario({ tools: [plainTool('hang', forever)], steps, runner: { ports: timers.ports } })
  const first = runner.complete({ userId: 'ada', sessionId: 's', message: 'go' })
  await timers.fire(30_000)
  expect((await first).text).toBe('one')
  expect((await runner.complete({ userId: 'ada', sessionId: 's', message: 'go' })).text).toBe('two')
})
