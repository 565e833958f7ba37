import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { Content } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'
import type { LlmResponse, Model } from '../tool/model.ts'
import type { LlmRequest } from '../tool/tool.ts'
import { FallbackError, type FallbackOptions, fallback } from './fallback.ts'
import { FakeClock } from './call-tool.test-kit.ts'

const content = (text: string): Content => ({ role: 'model', parts: [{ text }] })
const retryable = (message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { isRetryable: true, ...more })

interface Counted extends Model {
  readonly asked: LlmRequest[]
}

/** Each step answers one request: a text, deltas and an error, an error. */
function modelOf(name: string, ...steps: (string | Error | [string, Error] | 'hang')[]): Counted {
  const asked: LlmRequest[] = []
  return {
    name,
    asked,
    async *generate(request) {
      const step = steps[asked.length] ?? new Error(`${name} has nothing left to say`)
      asked.push(request)
      if (step === 'hang') await new Promise(() => {})
      if (step instanceof Error) throw step
      if (typeof step === 'string') return void (yield { content: content(step), usageMetadata: { from: name } })
      yield { content: content(step[0]), partial: true }
      throw step[1]
    },
  }
}

const request = (): LlmRequest => ({
  model: 'the chain',
  contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
  config: {},
  tools: new Map(),
  appendInstruction: () => {},
  appendWireTool: () => {},
})

async function ask(
  model: Model,
  signal?: AbortSignal,
): Promise<{ all: LlmResponse[]; whole: LlmResponse | undefined }> {
  const all: LlmResponse[] = []
  for await (const response of model.generate(request(), { signal, stream: true })) all.push(response)
  return { all, whole: all.at(-1) }
}

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('the next model', () => {
  test('is not asked while the first replies, and nothing is recorded', async () => {
    const [first, second] = [modelOf('first', 'Hello.'), modelOf('second')]
    const { all } = await ask(fallback([first, second]))
    expect(all).toEqual([{ content: content('Hello.'), usageMetadata: { from: 'first' } }])
    expect([first.asked[0]?.model, second.asked.length]).toEqual(['first', 0])
  })

  test('is asked after a retryable failure, under its own name, and the response says why', async () => {
    const first = modelOf('first', retryable('Overloaded.', { status: 503, reason: 'UNAVAILABLE' }))
    const second = modelOf('second', retryable('Quota.', { status: 429 }))
    const third = modelOf('third', 'Hello.')
    const { all } = await ask(fallback([first, second, third]))
    expect(all).toEqual([
      {
        content: content('Hello.'),
        usageMetadata: { from: 'third' },
        fallback: {
          model: 'third',
          from: [
            { model: 'first', code: 'UNAVAILABLE', message: 'Overloaded.' },
            { model: 'second', code: '429', message: 'Quota.' },
          ],
        },
      },
    ])
    expect([first, second, third].map(({ asked }) => asked.map(({ model }) => model))).toEqual([
      ['first'],
      ['second'],
      ['third'],
    ])
  })

  test('is asked when a model gives no response at all', async () => {
    const silent: Model = { name: 'silent', async *generate() {} }
    const { whole } = await ask(fallback([silent, modelOf('second', 'Hello.')]))
    expect(whole?.fallback?.from).toEqual([
      { model: 'silent', code: 'NO_RESPONSE', message: 'Model "silent" gave no response.' },
    ])
  })

  test.each<[string, unknown]>([
    ['a plain error', new Error('Bad request.')],
    ['an error that says no', Object.assign(new Error('Bad key.'), { isRetryable: false, status: 401 })],
    ['an error whose word is not true', Object.assign(new Error('Odd.'), { isRetryable: 'yes' })],
    ['something that is no error', 'no'],
  ])('is not asked after %s: it is thrown as it is', async (_, error) => {
    const first: Model = {
      name: 'first',
      generate() {
        throw error
      },
    }
    const second = modelOf('second', 'never')
    expect(await thrownBy(ask(fallback([first, second])))).toBe(error)
    expect(second.asked).toEqual([])
  })

  test('is not asked once a delta was shown', async () => {
    const lost = retryable('Connection lost.')
    const second = modelOf('second', 'never')
    expect(await thrownBy(ask(fallback([modelOf('first', ['Hel', lost]), second])))).toBe(lost)
    expect(second.asked).toEqual([])
  })

  test('is asked after deltas that nobody asked for', async () => {
    const model = fallback([modelOf('first', ['Hel', retryable('Connection lost.')]), modelOf('second', 'Hello.')])
    const all: LlmResponse[] = []
    for await (const response of model.generate(request(), { stream: false })) all.push(response)
    expect(all).toMatchObject([{ content: content('Hello.'), fallback: { model: 'second' } }])
  })

  test('is not asked after something that is no response: it is passed on for the run to refuse', async () => {
    const odd: Model = {
      name: 'odd',
      async *generate() {
        yield null as unknown as LlmResponse
      },
    }
    expect((await ask(fallback([odd, modelOf('second')]))).all).toEqual([null])
  })

  test('is asked when the option "when" says true, and only then', async () => {
    const badKey = Object.assign(new Error('Bad key.'), { status: 401 })
    const asked: unknown[] = []
    const options = (answer: unknown): FallbackOptions => ({
      when: (error) => {
        asked.push(error)
        return answer as boolean
      },
    })
    for (const yes of [true, Promise.resolve(true)]) {
      const { whole } = await ask(fallback([modelOf('first', badKey), modelOf('second', 'Hello.')], options(yes)))
      expect(whole?.fallback?.from).toEqual([{ model: 'first', code: '401', message: 'Bad key.' }])
    }
    for (const no of [false, undefined, 'yes', 1]) {
      expect(await thrownBy(ask(fallback([modelOf('first', badKey), modelOf('second')], options(no))))).toBe(badKey)
    }
    expect(asked.every((error) => error === badKey)).toBe(true)
  })

  test('is not asked when the option "when" throws, and both errors are told', async () => {
    const when = (): boolean => {
      throw new Error('broken')
    }
    const second = modelOf('second', 'never')
    const error = await thrownBy(ask(fallback([modelOf('first', retryable('Overloaded.')), second], { when })))
    expect(error).toMatchObject({ message: expect.stringMatching(/"when".*broken.*Overloaded\./) })
    expect(second.asked).toEqual([])
  })
})

describe('when all models fail', () => {
  test('the error names each of them, and the last one is its cause', async () => {
    const last = retryable('Quota.', { code: 'RATE' })
    const error = await thrownBy(ask(fallback([modelOf('first', retryable('Overloaded.')), modelOf('second', last)])))
    expect(error).toBeInstanceOf(FallbackError)
    expect(error).toMatchObject({
      message: 'All 2 models that were asked failed. "first": Overloaded. | "second": Quota.',
      cause: last,
      isRetryable: true,
      models: [
        { model: 'first', message: 'Overloaded.' },
        { model: 'second', code: 'RATE', message: 'Quota.' },
      ],
    })
  })

  test('after a switch, a failure that ends the chain still names those before it', async () => {
    const models = [
      modelOf('first', retryable('Overloaded.')),
      modelOf('second', new Error('Bad request.')),
      modelOf('third'),
    ]
    const error = await thrownBy(ask(fallback(models)))
    expect(error).toMatchObject({ name: 'FallbackError', isRetryable: false })
    expect((error as Error).message).toContain('"second": Bad request.')
    expect(models[2]?.asked).toEqual([])
    const shown = await thrownBy(
      ask(fallback([modelOf('first', retryable('Overloaded.')), modelOf('second', ['Hel', retryable('Lost.')])])),
    )
    expect((shown as Error).message).toContain('"first": Overloaded. | "second": Lost.')
  })

  test('a single model throws its own error', async () => {
    const error = retryable('Overloaded.')
    expect(await thrownBy(ask(fallback([modelOf('only', error)])))).toBe(error)
  })

  test('neither secrets nor endless texts are in the message or the record', async () => {
    const first = (): Model => modelOf('first', retryable(`Key sk-abcdef0123456789 is bad. ${'x'.repeat(5_000)}`))
    const { whole } = await ask(fallback([first(), modelOf('second', 'Hello.')]))
    const error = await thrownBy(ask(fallback([first(), modelOf('second', retryable('Quota.'))])))
    for (const text of [JSON.stringify(whole?.fallback), (error as Error).message]) {
      expect(text).toContain('Key [hidden] is bad.')
      expect(text.length).toBeLessThan(1_500)
    }
  })

  test('an error that cannot be read does not break the chain', async () => {
    const hostile = new Error('x')
    Object.defineProperty(hostile, 'isRetryable', { value: true })
    Object.defineProperty(hostile, 'reason', {
      get() {
        throw new Error('never')
      },
    })
    const { whole } = await ask(fallback([modelOf('first', hostile), modelOf('second', 'Hello.')]))
    expect(whole?.fallback?.from).toEqual([{ model: 'first', message: 'x' }])
  })
})

describe('stopping', () => {
  test('an abort is never a reason to switch, whatever the model throws', async () => {
    const stop = new AbortController()
    const first: Model = {
      name: 'first',
      generate() {
        stop.abort(new Error('Enough.'))
        throw retryable('Overloaded.')
      },
    }
    const second = modelOf('second', 'never')
    const model = fallback([first, second], { when: () => true })
    expect(await thrownBy(ask(model, stop.signal))).toEqual(new Error('Enough.'))
    expect(second.asked).toEqual([])
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })

  test('an abort ends a model that does not look at its signal', async () => {
    const stop = new AbortController()
    const asked = thrownBy(
      ask(fallback([modelOf('first', 'hang'), modelOf('second')], { when: () => true }), stop.signal),
    )
    queueMicrotask(() => stop.abort(new Error('Enough.')))
    expect(await asked).toEqual(new Error('Enough.'))
  })

  test('nobody is asked when it was aborted before', async () => {
    const first = modelOf('first', 'never')
    expect(await thrownBy(ask(fallback([first]), AbortSignal.abort(new Error('Enough.'))))).toEqual(
      new Error('Enough.'),
    )
    expect(first.asked).toEqual([])
  })

  test('leaving the reply aborts the model and runs its cleanup', async () => {
    let heard: AbortSignal | undefined
    let isClean = false
    const first: Model = {
      name: 'first',
      async *generate(_, { signal }) {
        heard = signal
        try {
          yield { content: content('Hel'), partial: true }
          yield { content: content('Hello.') }
        } finally {
          isClean = true
        }
      },
    }
    for await (const _ of fallback([first]).generate(request(), { stream: true })) break
    await Promise.resolve()
    expect([heard?.aborted, isClean]).toEqual([true, true])
  })
})

describe('timeoutMs', () => {
  test('asks the next model when the first response is late, and aborts the late one', async () => {
    const clock = new FakeClock()
    let heard: AbortSignal | undefined
    const slow: Model = {
      name: 'slow',
      async *generate(_, { signal }) {
        heard = signal
        await new Promise(() => {})
      },
    }
    const asked = ask(fallback([slow, modelOf('second', 'Hello.')], { timeoutMs: 1_000 }, clock))
    await clock.advance(999)
    expect(heard?.aborted).toBe(false)
    await clock.advance(1)
    expect((await asked).whole?.fallback?.from).toEqual([
      { model: 'slow', code: 'TIMEOUT', message: expect.stringContaining('no response within 1000 ms') },
    ])
    expect(heard?.aborted).toBe(true)
  })

  test('does not bound a reply that has begun', async () => {
    const clock = new FakeClock()
    let goOn: (() => void) | undefined
    const steady: Model = {
      name: 'steady',
      async *generate() {
        yield { content: content('Hel'), partial: true }
        await new Promise<void>((resolve) => (goOn = resolve))
        yield { content: content('Hello.') }
      },
    }
    const asked = ask(fallback([steady, modelOf('second')], { timeoutMs: 1_000 }, clock))
    await clock.advance(5_000)
    goOn?.()
    expect((await asked).whole).toEqual({ content: content('Hello.') })
  })
})

describe('cooldownMs', () => {
  const failing = (name: string, times: number, ...then: string[]): Counted =>
    modelOf(name, ...Array.from({ length: times }, () => retryable(`${name} is down.`)), ...then)

  test('without it every call starts with the first model', async () => {
    const [first, second] = [failing('first', 2, 'Back.'), modelOf('second', 'One.', 'Two.')]
    const model = fallback([first, second])
    for (let at = 0; at < 2; at++) expect((await ask(model)).whole?.fallback?.model).toBe('second')
    expect((await ask(model)).whole).toMatchObject({ content: content('Back.') })
  })

  test('skips a model that failed for so long, and the response still says so', async () => {
    const clock = new FakeClock()
    const [first, second] = [failing('first', 1, 'Back.'), modelOf('second', 'One.', 'Two.')]
    const model = fallback([first, second], { cooldownMs: 1_000 }, clock)
    await ask(model)
    await clock.advance(999)
    const { whole } = await ask(model)
    expect(whole).toMatchObject({ content: content('Two.') })
    expect(whole?.fallback).toEqual({ model: 'second', from: [{ model: 'first', message: 'first is down.' }] })
    expect(first.asked).toHaveLength(1)
    await clock.advance(1)
    expect((await ask(model)).whole).toEqual({ content: content('Back.'), usageMetadata: { from: 'first' } })
  })

  test('a model that failed lately is still asked when the others fail', async () => {
    const clock = new FakeClock()
    const first = failing('first', 1, 'Back.')
    const second = modelOf('second', 'One.', retryable('second is down.'))
    const model = fallback([first, second], { cooldownMs: 1_000 }, clock)
    await ask(model)
    expect((await ask(model)).whole).toMatchObject({
      content: content('Back.'),
      fallback: { model: 'first', from: [{ model: 'second', message: 'second is down.' }] },
    })
  })
})

describe('the chain', () => {
  const capable = (capabilities?: Model['capabilities']): Model => ({
    ...modelOf('one'),
    ...(capabilities && { capabilities }),
  })

  test('can do what all of its models can', () => {
    const strong = {
      toolsWithOutputSchema: true,
      serverTools: ['googleSearch', 'urlContext'],
      serverToolsWithFunctions: true,
    }
    const some = { toolsWithOutputSchema: true, serverTools: ['urlContext', 'other'] }
    expect(fallback([capable(strong), capable(strong)]).capabilities).toEqual(strong)
    expect(fallback([capable(strong), capable(some)]).capabilities).toEqual({
      toolsWithOutputSchema: true,
      serverTools: ['urlContext'],
      serverToolsWithFunctions: false,
    })
    for (const models of [
      [capable(strong), capable()],
      [capable(), capable(strong)],
    ]) {
      expect(fallback(models).capabilities).toEqual({
        toolsWithOutputSchema: false,
        serverTools: [],
        serverToolsWithFunctions: false,
      })
    }
  })

  test('has a name that lists its models, or the one it is given', () => {
    const models = [modelOf('first'), modelOf('second')]
    expect(fallback(models).name).toBe('fallback(first, second)')
    expect(fallback(models, { name: 'main' }).name).toBe('main')
  })

  test('may be part of another chain, which names the model that replied', async () => {
    const inner = fallback([modelOf('b', retryable('B.')), modelOf('c', 'Hello.')])
    const { whole } = await ask(fallback([modelOf('a', retryable('A.')), inner]))
    expect(whole?.fallback).toEqual({
      model: 'c',
      from: [
        { model: 'a', message: 'A.' },
        { model: 'b', message: 'B.' },
      ],
    })
    const failing = fallback([modelOf('b', retryable('B.')), modelOf('c', retryable('C.'))])
    expect((await ask(fallback([failing, modelOf('d', 'Hello.')]))).whole?.fallback?.model).toBe('d')
  })

  test.each<[string, unknown[], string]>([
    ['no list', [modelOf('only')], 'got an object'],
    ['an empty list', [[]], 'got an empty list'],
    ['a name', [[modelOf('first'), 'gpt-5']], 'at index 1'],
    ['an unknown option', [[modelOf('first')], { timeout: 5 }], '"timeout". Did you mean "timeoutMs"?'],
    ['a time that is none', [[modelOf('first')], { timeoutMs: 0 }], 'timeoutMs must be a positive number'],
    ['a cooldown that is none', [[modelOf('first')], { cooldownMs: -1 }], 'cooldownMs must be milliseconds, or 0'],
    ['a "when" that is none', [[modelOf('first')], { when: true }], 'when must be a function'],
  ])('is refused when it is built with %s', (_, args, told) => {
    const build = (): Model => (fallback as (...args: unknown[]) => Model)(...args)
    expect(build).toThrow(ToolwrightError)
    expect(build).toThrow(told)
  })
})
