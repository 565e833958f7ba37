import { ToolError, tool, withParts } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { plainTool, progressOf, runScenario } from './kit.ts'

describe('the response of a body', () => {
  const at = new Date(0)
  class Point {
    x = 1
    get bad(): never {
      throw new Error('never read')
    }
  }
  const cases: [what: string, given: unknown, response: unknown][] = [
    ['an object', { a: 1, b: { c: [true, null] } }, { a: 1, b: { c: [true, null] } }],
    ['an empty object', {}, {}],
    ['a text', 'hi', { result: 'hi' }],
    ['an empty text', '', { result: '' }],
    ['zero', 0, { result: 0 }],
    ['false', false, { result: false }],
    ['null', null, { result: null }],
    ['undefined', undefined, { result: null }],
    ['a list', [1, 2], { result: [1, 2] }],
    ['a promise of a text', Promise.resolve('later'), { result: 'later' }],
    // biome-ignore lint/suspicious/noThenProperty: a foreign promise is what is tested
    ['a thenable', { then: (resolve: (value: unknown) => void) => resolve({ a: 1 }) }, { a: 1 }],
    ['NaN', { n: Number.NaN }, { n: null }],
    ['a BigInt', { n: 12345678901234567890n }, { n: '12345678901234567890' }],
    ['a date', { at }, { at: '1970-01-01T00:00:00.000Z' }],
    ['a date by itself', at, { result: '1970-01-01T00:00:00.000Z' }],
    ['a map', new Map([['a', 1]]), { a: 1 }],
    ['a map with odd keys', { m: new Map([[1, 'one']]) }, { m: [[1, 'one']] }],
    ['a set', { s: new Set([1, 2]) }, { s: [1, 2] }],
    ['a buffer', { b: Buffer.from('hi') }, { b: 'aGk=' }],
    ['an instance of a class', new Point(), { x: 1 }],
    ['a function in an object', { f: () => 1, a: 1 }, { a: 1 }],
    ['an error as a value', { e: new TypeError('no') }, { e: { name: 'TypeError', message: 'no' } }],
  ]
  test.each(cases)('is a JSON object when the body returns %s', async (_, given, response) => {
    const outcome = await runScenario({ tools: [plainTool('give', () => given)], calls: [{ name: 'give' }] })
    expect(outcome.response).toEqual(response)
    expect(outcome.text).toBe('done')
  })

  test('is followed by media as separate parts', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'aGk=' } }
    const draw = plainTool('draw', () => withParts({ status: 'drawn' }, [image]))
    const { events, response, model } = await runScenario({ tools: [draw], calls: [{ name: 'draw' }] })
    expect(response).toEqual({ status: 'drawn' })
    expect(events[1]?.content?.parts[1]).toEqual(image)
    expect(model.requests[1]?.contents.at(-1)?.parts[1]).toEqual(image)
  })

  test('has no media when the media is not a list of parts', async () => {
    const odd = plainTool('odd', () => withParts({ ok: true }, 'nonsense' as unknown as []))
    const { events } = await runScenario({ tools: [odd], calls: [{ name: 'odd' }] })
    expect(events[1]?.content?.parts).toHaveLength(1)
  })

  test('is not affected by later changes to the result or its media', async () => {
    const result = { list: [1] }
    const media = { inlineData: { mimeType: 'image/png', data: 'aGk=' } }
    const keep = plainTool('keep', () => withParts(result, [media]))
    const outcome = await runScenario({ tools: [keep], calls: [{ name: 'keep' }] })
    result.list.push(2)
    media.inlineData.data = 'changed'
    expect(outcome.response).toEqual({ list: [1] })
    const { runner, sessionId } = outcome
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
    expect(session?.events[2]?.content?.parts[1]?.inlineData?.data).toBe('aGk=')
  })
})

describe('a generator body', () => {
  const handle = { id: 'c1', name: 'work', willContinue: true }
  const yields = async (run: () => unknown): Promise<unknown[]> => {
    const outcome = await runScenario({ tools: [plainTool('work', run)], calls: [{ name: 'work', id: 'c1' }] })
    expect(outcome.text).toBe('done')
    return [...progressOf(outcome.events).map((one) => one.response.progress), '->', outcome.response]
  }

  test('reports yields as partial events and returns its result', async () => {
    const outcome = await runScenario({
      tools: [
        plainTool('work', async function* () {
          yield 'half'
          yield { done: 0.9 }
          return { ok: true }
        }),
      ],
      calls: [{ name: 'work', id: 'c1' }],
    })
    expect(progressOf(outcome.events)).toEqual([
      { ...handle, response: { progress: 'half' } },
      { ...handle, response: { progress: { done: 0.9 } } },
    ])
    expect(outcome.responses).toEqual([{ id: 'c1', name: 'work', response: { ok: true } }])
    const { runner, sessionId } = outcome
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
    expect(JSON.stringify(session?.events)).not.toContain('half')
  })

  test('may be synchronous', async () => {
    expect(
      await yields(function* () {
        yield 1
        return 'two'
      }),
    ).toEqual([1, '->', { result: 'two' }])
  })

  test('without yields and result answers { status: completed }', async () => {
    expect(await yields(async function* () {})).toEqual(['->', { status: 'completed' }])
  })

  test('without a result answers with its only yield', async () => {
    expect(
      await yields(function* () {
        yield { page: 1 }
      }),
    ).toEqual([{ page: 1 }, '->', { page: 1 }])
  })

  test('without a result answers with the list of its yields', async () => {
    expect(
      await yields(async function* () {
        yield 1
        yield 2
      }),
    ).toEqual([1, 2, '->', { results: [1, 2] }])
  })

  test('answers EXECUTION_FAILED when it throws after a yield', async () => {
    expect(
      await yields(async function* () {
        yield 1
        throw new ToolError('the disk is full')
      }),
    ).toEqual([1, '->', { error: 'the disk is full', errorCode: 'EXECUTION_FAILED' }])
  })

  test('receives typed arguments', async () => {
    const count = tool({
      name: 'count',
      description: 'Counts',
      parameters: { type: 'object', properties: { to: { type: 'integer' } }, required: ['to'] },
      *run({ to }) {
        for (let i = 1; i <= to; i++) yield i
        return { counted: to }
      },
    })
    const { events, response } = await runScenario({ tools: [count], calls: [{ name: 'count', args: { to: 3 } }] })
    expect(progressOf(events).map((one) => one.response.progress)).toEqual([1, 2, 3])
    expect(response).toEqual({ counted: 3 })
  })
})

describe('a failing body', () => {
  const unreadable = new Proxy(new Error('x'), {
    get() {
      throw new Error('not even this')
    },
    has: () => true,
  })
  const cases: [what: string, thrown: unknown, error: string][] = [
    ['an error', new Error('no route to host'), 'no route to host'],
    ['a text', 'just text', 'just text'],
    ['undefined', undefined, 'a value that is not an error was thrown (undefined)'],
    ['a number', 42, 'a value that is not an error was thrown (number)'],
    ['an error without a message', new RangeError(), 'RangeError'],
    ['an error that cannot be read', unreadable, 'an error that cannot be read was thrown'],
  ]
  test.each(cases)('answers EXECUTION_FAILED when it throws %s', async (_, thrown, error) => {
    for (const run of [
      () => {
        throw thrown
      },
      () => Promise.reject(thrown),
    ]) {
      const outcome = await runScenario({ tools: [plainTool('fail', run)], calls: [{ name: 'fail' }] })
      expect(outcome.response).toEqual({ error, errorCode: 'EXECUTION_FAILED' })
      expect(outcome.text).toBe('done')
    }
  })

  test.each(['NOT_FOUND', 'INVALID_ARGS', 'TIMEOUT', 'CANCELLED', 'EXECUTION_FAILED'] as const)(
    'answers with the code %s of a ToolError',
    async (code) => {
      const fail = plainTool('fail', () => {
        throw new ToolError('Which order?', { code })
      })
      const { response } = await runScenario({ tools: [fail], calls: [{ name: 'fail' }] })
      expect(response).toEqual({ error: 'Which order?', errorCode: code })
    },
  )
})
