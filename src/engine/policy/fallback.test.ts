import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { Content } from '../../core/content/content.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { LlmRequest } from '../model/llm-request.ts'
import type { LlmResponse, Model } from '../model/model.ts'
import { FakeClock } from './call-tool.test-kit.ts'
import { FallbackError, type FallbackOptions, fallback } from './fallback.ts'

const content = (text: string): Content => ({ role: 'model', parts: [{ text }] })
const retryable = (message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { isRetryable: true, ...more })

interface Counted extends Model {
  readonly asked: LlmRequest[]
}

/** A model whose steps each answer one request: with a text, with deltas and an error, or with an error. */
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
  appendConfigTool: () => {},
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

describe('the next model of a fallback chain', () => {
  test('is not tried when the first model replies', async () => {
    const [first, second] = [modelOf('first', 'Hello.'), modelOf('second')]
    const { all } = await ask(fallback([first, second]))
    expect(all).toEqual([{ content: content('Hello.'), modelVersion: 'first', usageMetadata: { from: 'first' } }])
    expect([first.asked[0]?.model, second.asked.length]).toEqual(['first', 0])
  })

  test('is tried after a retryable error, and the response names the failure', async () => {
    const first = modelOf('first', retryable('Overloaded.', { status: 503, reason: 'UNAVAILABLE' }))
    const second = modelOf('second', retryable('Quota.', { status: 429 }))
    const third = modelOf('third', 'Hello.')
    const { all } = await ask(fallback([first, second, third]))
    expect(all).toEqual([
      {
        content: content('Hello.'),
        modelVersion: 'third',
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

  test('is tried when a model yields no response', async () => {
    const silent: Model = { name: 'silent', async *generate() {} }
    const { whole } = await ask(fallback([silent, modelOf('second', 'Hello.')]))
    expect(whole?.fallback?.from).toEqual([
      {
        model: 'silent',
        code: 'NO_RESPONSE',
        message:
          'Model "silent" ended its reply without a response. Its generate() must yield at least one response that is not partial.',
      },
    ])
  })

  test.each<[string, unknown]>([
    ['a plain error', new Error('Bad request.')],
    ['an error that is not retryable', Object.assign(new Error('Bad key.'), { isRetryable: false, status: 401 })],
    ['an error whose isRetryable is not a boolean', Object.assign(new Error('Odd.'), { isRetryable: 'yes' })],
    ['a thrown string', 'no'],
  ])('is not tried after %s, which is thrown unchanged', async (_, error) => {
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

  test('is not tried after the first delta', async () => {
    const lost = retryable('Connection lost.')
    const second = modelOf('second', 'never')
    expect(await thrownBy(ask(fallback([modelOf('first', ['Hel', lost]), second])))).toBe(lost)
    expect(second.asked).toEqual([])
  })

  test('is tried after deltas of a model that ignores stream: false', async () => {
    const model = fallback([modelOf('first', ['Hel', retryable('Connection lost.')]), modelOf('second', 'Hello.')])
    const all: LlmResponse[] = []
    for await (const response of model.generate(request(), { stream: false })) all.push(response)
    expect(all).toMatchObject([{ content: content('Hello.'), fallback: { model: 'second' } }])
  })

  test('is not tried after an invalid response, which the run rejects', async () => {
    const odd: Model = {
      name: 'odd',
      async *generate() {
        yield null as unknown as LlmResponse
      },
    }
    expect((await ask(fallback([odd, modelOf('second')]))).all).toEqual([null])
  })

  test('is tried only when the option "when" returns true', async () => {
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

  test('is not tried when the option "when" throws, and the error names both errors', async () => {
    const when = (): boolean => {
      throw new Error('broken')
    }
    const second = modelOf('second', 'never')
    const error = await thrownBy(ask(fallback([modelOf('first', retryable('Overloaded.')), second], { when })))
    expect(error).toMatchObject({ message: expect.stringMatching(/"when".*broken.*Overloaded\./) })
    expect(second.asked).toEqual([])
  })
})

describe('the error when all models of a fallback chain fail', () => {
  test('names each model and has the last error as its cause', async () => {
    const last = retryable('Quota.', { code: 'RATE' })
    const error = await thrownBy(ask(fallback([modelOf('first', retryable('Overloaded.')), modelOf('second', last)])))
    expect(error).toBeInstanceOf(FallbackError)
    expect(error).toMatchObject({
      message: 'All 2 models failed. "first": Overloaded. | "second": Quota.',
      cause: last,
      isRetryable: true,
      models: [
        { model: 'first', message: 'Overloaded.' },
        { model: 'second', code: 'RATE', message: 'Quota.' },
      ],
    })
  })

  test('names the models before a final failure', async () => {
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

  test('is the error of the model when the chain has a single model', async () => {
    const error = retryable('Overloaded.')
    expect(await thrownBy(ask(fallback([modelOf('only', error)])))).toBe(error)
  })

  test('hides secrets and truncates long messages', async () => {
    const first = (): Model => modelOf('first', retryable(`Key sk-abcdef0123456789 is bad. ${'x'.repeat(5_000)}`))
    const { whole } = await ask(fallback([first(), modelOf('second', 'Hello.')]))
    const error = await thrownBy(ask(fallback([first(), modelOf('second', retryable('Quota.'))])))
    for (const text of [JSON.stringify(whole?.fallback), (error as Error).message]) {
      expect(text).toContain('Key [hidden] is bad.')
      expect(text.length).toBeLessThan(1_500)
    }
  })

  test('does not depend on errors whose getters throw', async () => {
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

describe('aborting a fallback chain', () => {
  test('never tries the next model, whatever the model throws', async () => {
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

  test('ends a model that ignores its signal', async () => {
    const stop = new AbortController()
    const asked = thrownBy(
      ask(fallback([modelOf('first', 'hang'), modelOf('second')], { when: () => true }), stop.signal),
    )
    queueMicrotask(() => stop.abort(new Error('Enough.')))
    expect(await asked).toEqual(new Error('Enough.'))
  })

  test('tries no model when the signal is already aborted', async () => {
    const first = modelOf('first', 'never')
    expect(await thrownBy(ask(fallback([first]), AbortSignal.abort(new Error('Enough.'))))).toEqual(
      new Error('Enough.'),
    )
    expect(first.asked).toEqual([])
  })

  test('aborts the model and runs its cleanup when the consumer stops iterating', async () => {
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

describe('timeoutMs of fallback()', () => {
  test('tries the next model and aborts a model whose first response is late', async () => {
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
      { model: 'slow', code: 'TIMEOUT', message: expect.stringContaining('did not respond within 1000 ms') },
    ])
    expect(heard?.aborted).toBe(true)
  })

  test('does not limit a reply after its first delta', async () => {
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
    expect((await asked).whole).toEqual({ content: content('Hello.'), modelVersion: 'steady' })
  })
})

describe('cooldownMs of fallback()', () => {
  const failing = (name: string, times: number, ...then: string[]): Counted =>
    modelOf(name, ...Array.from({ length: times }, () => retryable(`${name} is down.`)), ...then)

  test('is 0 by default: every call starts with the first model', async () => {
    const [first, second] = [failing('first', 2, 'Back.'), modelOf('second', 'One.', 'Two.')]
    const model = fallback([first, second])
    for (let at = 0; at < 2; at++) expect((await ask(model)).whole?.fallback?.model).toBe('second')
    expect((await ask(model)).whole).toMatchObject({ content: content('Back.') })
  })

  test('tries a failed model last, and the response still names its failure', async () => {
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
    expect((await ask(model)).whole).toEqual({
      content: content('Back.'),
      modelVersion: 'first',
      usageMetadata: { from: 'first' },
    })
  })

  test('still tries a failed model when the others fail', async () => {
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

describe('a fallback chain of models', () => {
  const capable = (capabilities?: Model['capabilities']): Model => ({
    ...modelOf('one'),
    ...(capabilities && { capabilities }),
  })

  test('has the capabilities that all models share', () => {
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

  test('combines the server tools that every model combines', () => {
    const pair = { combinableServerTools: [['googleSearch', 'urlContext']] }
    const any = { serverToolsWithFunctions: true }
    const groupsOf = (...all: Model['capabilities'][]) => fallback(all.map(capable)).capabilities?.combinableServerTools
    expect(groupsOf(pair, any)).toEqual([['googleSearch', 'urlContext']])
    expect(groupsOf(pair, pair)).toEqual([['googleSearch', 'urlContext']])
    expect(groupsOf(pair, {})).toBeUndefined()
    expect(groupsOf(any, any)).toBeUndefined()
  })

  test('has a name with its models, or the given name', () => {
    const models = [modelOf('first'), modelOf('second')]
    expect(fallback(models).name).toBe('fallback(first, second)')
    expect(fallback(models, { name: 'main' }).name).toBe('main')
  })

  test('can contain another chain, and names the model that replied', async () => {
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
    ['a model instead of a list', [modelOf('only')], 'got an object'],
    ['an empty list', [[]], 'got an empty list'],
    ['the name of a model', [[modelOf('first'), 'gpt-5']], 'at index 1'],
    ['an unknown option', [[modelOf('first')], { timeout: 5 }], '"timeout". Did you mean "timeoutMs"?'],
    ['a timeoutMs of 0', [[modelOf('first')], { timeoutMs: 0 }], 'timeoutMs must be a positive number'],
    ['a negative cooldownMs', [[modelOf('first')], { cooldownMs: -1 }], 'cooldownMs must be a number of milliseconds'],
    ['a "when" that is not a function', [[modelOf('first')], { when: true }], 'when must be a function'],
  ])('rejects %s', (_, args, message) => {
    const build = (): Model => (fallback as (...args: unknown[]) => Model)(...args)
    expect(build).toThrow(ToolwrightError)
    expect(build).toThrow(message)
  })
})
