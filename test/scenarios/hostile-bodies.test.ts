// Bodies that hang, throw any value, or return results that no log can hold.
import { InMemoryArtifactService, tool } from 'toolwright'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { finalResponses, sendMessage, startProcess, storedEvents, stores, where } from './approvals-kit.ts'
import { createDeferred, ManualTimers, plainTool, recordingLogger } from './kit.ts'

const forever = (): Promise<never> => new Promise(() => {})
const once = (...names: string[]) => ({ calls: names.map((name, at) => ({ id: `c${at + 1}`, name })) })

const unhandled: unknown[] = []
const noteRejection = (reason: unknown): void => void unhandled.push(reason)
beforeEach(() => void process.on('unhandledRejection', noteRejection))
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve)) // unhandled rejections are reported after the microtasks
  process.off('unhandledRejection', noteRejection)
  expect(unhandled.splice(0)).toEqual([])
})

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test('answers TIMEOUT for a body that ignores its signal and drops its late result [DG-20]', async () => {
    const timers = new ManualTimers()
    const store = newStore()
    const late = createDeferred<object>()
    let signal: AbortSignal | undefined
    const hang = plainTool('hang', (_args, context) => {
      signal = context.signal
      return late.promise
    })
    const { runner } = startProcess(store, {
      tools: [hang],
      steps: [once('hang'), 'timed out', 'fine'],
      runner: { ports: timers.ports },
    })
    const completion = sendMessage(runner)
    await timers.fire(30_000)
    const { events, text } = await completion
    expect(finalResponses(events).c1).toEqual({
      error: 'Tool "hang" timed out after 30000 ms. Raise timeoutMs or make the tool long-running.',
      errorCode: 'TIMEOUT',
    })
    expect(text).toBe('timed out')
    expect(signal?.aborted).toBe(true)
    const before = await storedEvents(store)
    late.resolve({ secret: 'late' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(await storedEvents(store)).toEqual(before)
    expect((await sendMessage(runner, 'and now?')).text).toBe('fine')
    expect(JSON.stringify(await storedEvents(store))).not.toContain('late')
  })

  test('records the result of a body that finishes in time and does not abort its signal [DG-20]', async () => {
    const timers = new ManualTimers()
    let signal: AbortSignal | undefined
    const look = plainTool('look', async (_args, context) => {
      signal = context.signal
      return { found: true }
    })
    const { runner } = startProcess(newStore(), {
      tools: [look],
      steps: [once('look'), 'done'],
      runner: { ports: timers.ports },
    })
    expect(finalResponses((await sendMessage(runner)).events).c1).toEqual({ found: true })
    expect(signal?.aborted).toBe(false)
    expect(timers.count(30_000)).toBe(0)
  })

  const circular = Object.assign(new Error('round'), { cause: undefined as unknown })
  circular.cause = circular
  const thrown: [string, unknown][] = [
    ['a text', 'no'],
    ['undefined', undefined],
    ['null', null],
    ['a symbol', Symbol('no')],
    ['an error that is its own cause', circular],
    [
      'an error whose message throws',
      Object.defineProperty(new Error(), 'message', {
        get() {
          throw new Error('even this')
        },
      }),
    ],
    ['an object without a prototype', Object.create(null)],
  ]
  test.each(thrown)(
    'answers EXECUTION_FAILED when a body throws %s, and the sibling call and the run continue [DG-21]',
    async (_what, value) => {
      for (const run of [
        () => {
          throw value
        },
        () => Promise.reject(value),
        // biome-ignore lint/correctness/useYield: the generator throws before its first yield
        async function* () {
          throw value
        },
      ]) {
        const tools = [plainTool('fail', run), plainTool('look', () => ({ found: true }))]
        const { events, text } = await sendMessage(
          startProcess(newStore(), { tools, steps: [once('fail', 'look'), 'done'] }).runner,
        )
        expect(finalResponses(events).c1).toMatchObject({ error: expect.any(String), errorCode: 'EXECUTION_FAILED' })
        expect(finalResponses(events).c2).toEqual({ found: true })
        expect(text).toBe('done')
      }
    },
  )

  test('answers TIMEOUT for a body that throws after its deadline, without an unhandled rejection [DG-21]', async () => {
    const timers = new ManualTimers()
    const late = createDeferred<never>()
    const hang = plainTool('hang', () => late.promise)
    const { runner } = startProcess(newStore(), {
      tools: [hang],
      steps: [once('hang'), 'done'],
      runner: { ports: timers.ports },
    })
    const completion = sendMessage(runner)
    await timers.fire(30_000)
    const { events, text } = await completion
    late.reject(new Error('too late'))
    expect(finalResponses(events).c1).toMatchObject({ errorCode: 'TIMEOUT' })
    expect(text).toBe('done')
  })

  test('aborts every running body of a batch on cancel and records one response per call in order [DG-22]', async () => {
    const store = newStore()
    const began = Array.from({ length: 8 }, () => createDeferred())
    const signals: AbortSignal[] = []
    let later = 0
    const work = tool({
      name: 'work',
      description: 'Work',
      run: async (_args, { functionCallId, signal }) => {
        const at = Number(functionCallId.slice(1)) - 1
        signals[at] = signal
        began[at]?.resolve()
        if (at === 0) return { ok: true }
        if (at === 2) throw new Error('broken')
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        later++
      },
    })
    const caller = new AbortController()
    const { runner } = startProcess(store, { tools: [work], steps: [once(...Array(8).fill('work')), 'fine'] })
    const completion = runner.complete({ ...where, message: 'go', signal: caller.signal })
    await Promise.all(began.map(({ promise }) => promise))
    caller.abort()
    await completion
    const areAborted = signals.map(({ aborted }) => aborted)
    expect(areAborted, 'every body that still ran').toEqual([false, true, false, true, true, true, true, true])
    const ids = (await storedEvents(store)).flatMap(({ content }) =>
      (content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse?.id ?? []),
    )
    expect(ids).toEqual(['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'])
    const given = finalResponses(await storedEvents(store))
    expect(given.c1).toEqual({ ok: true })
    expect(given.c3).toMatchObject({ errorCode: 'EXECUTION_FAILED' })
    expect(given.c8).toMatchObject({ status: 'unknown_outcome' })
    expect(later).toBe(0)
    expect((await sendMessage(runner, 'and now?')).text).toBe('fine')
  })

  test('records eight responses in order when one body of the batch fails [DG-22]', async () => {
    const work = tool({
      name: 'work',
      description: 'Work',
      run: (_args, { functionCallId }) => {
        if (functionCallId === 'c3') throw new Error('broken')
        return { by: functionCallId }
      },
    })
    const { events, text } = await sendMessage(
      startProcess(newStore(), { tools: [work], steps: [once(...Array(8).fill('work')), 'fine'] }).runner,
    )
    expect(Object.values(finalResponses(events)).map(({ by, errorCode }) => by ?? errorCode)).toEqual([
      'c1',
      'c2',
      'EXECUTION_FAILED',
      'c4',
      'c5',
      'c6',
      'c7',
      'c8',
    ])
    expect(text).toBe('fine')
  })

  const deep = (): unknown => {
    let value: unknown = 'bottom'
    for (let n = 0; n < 10_000; n++) value = { value }
    return value
  }
  const cyclic = (): unknown => {
    const value: { self?: unknown } = {}
    value.self = value
    return value
  }
  const results: [string, () => unknown][] = [
    ['a text of 20 MB', () => 'x'.repeat(20_000_000)],
    ['an object of ten thousand levels', deep],
    ['a cyclic object', cyclic],
    ['a BigInt', () => ({ n: 2n ** 70n })],
    ['a buffer of 1 MB', () => Buffer.alloc(1_000_000, 1)],
    [
      'a proxy that throws',
      () =>
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('no')
            },
          },
        ),
    ],
    [
      'an object of a hundred thousand keys',
      () => Object.fromEntries(Array.from({ length: 100_000 }, (_one, n) => [`k${n}`, n])),
    ],
  ]
  test.each(results)(
    'limits the size of the log when a body returns %s, and completes the run [DG-23]',
    { timeout: 30_000 },
    async (_what, make) => {
      const store = newStore()
      const artifactService = new InMemoryArtifactService()
      const logger = recordingLogger()
      const tools = [plainTool('give', make), plainTool('look', () => ({ found: true }))]
      const { runner, model } = startProcess(store, {
        tools,
        steps: [once('give', 'look'), 'done'],
        runner: { artifactService, logger },
      })
      const { events, text } = await sendMessage(runner)
      expect(text).toBe('done')
      expect(finalResponses(events).c2, 'the sibling response is unchanged').toEqual({ found: true })
      expect(JSON.stringify(await storedEvents(store)).length).toBeLessThan(300_000)
      expect(JSON.stringify(model.requests[1]?.contents).length).toBeLessThan(300_000)
      const { artifact, truncated } = finalResponses(events).c1 ?? {}
      if (!truncated) return
      const { filename } = artifact as { filename: string }
      const whole = await artifactService.loadArtifact({ appName: 'app', ...where, filename })
      expect(JSON.stringify(whole).length).toBeGreaterThan(300_000)
    },
  )

  test('closes a runner while a body hangs [DG-20]', async () => {
    const began = createDeferred()
    const hang = plainTool('hang', () => {
      began.resolve()
      return forever()
    })
    const { runner } = startProcess(newStore(), { tools: [hang], steps: [once('hang')] })
    const completion = sendMessage(runner)
    await began.promise
    await runner.close()
    expect((await completion).error?.code).toBe('CANCELLED')
  })
})
