import { ToolError, tool, withParts } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { bare, play, progressOf } from './kit.ts'

describe('whatever a body gives becomes a response object', () => {
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
    ['nothing', undefined, { result: null }],
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
    ['bytes', { b: Buffer.from('hi') }, { b: 'aGk=' }],
    ['an instance of a class', new Point(), { x: 1 }],
    ['a function in an object', { f: () => 1, a: 1 }, { a: 1 }],
    ['an error that was returned', { e: new TypeError('no') }, { e: { name: 'TypeError', message: 'no' } }],
  ]
  test.each(cases)('%s', async (_, given, response) => {
    const told = await play({ tools: [bare('give', () => given)], calls: [{ name: 'give' }] })
    expect(told.response).toEqual(response)
    expect(told.text).toBe('done')
  })

  test('media goes beside the response, not into it', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'aGk=' } }
    const draw = bare('draw', () => withParts({ status: 'drawn' }, [image]))
    const { events, response, model } = await play({ tools: [draw], calls: [{ name: 'draw' }] })
    expect(response).toEqual({ status: 'drawn' })
    expect(events[1]?.content?.parts[1]).toEqual(image)
    expect(model.requests[1]?.contents.at(-1)?.parts[1]).toEqual(image)
  })

  test('media that is no list of parts is none', async () => {
    const odd = bare('odd', () => withParts({ ok: true }, 'nonsense' as unknown as []))
    const { events } = await play({ tools: [odd], calls: [{ name: 'odd' }] })
    expect(events[1]?.content?.parts).toHaveLength(1)
  })

  test('what the body does to its result afterwards, media included, is too late', async () => {
    const result = { list: [1] }
    const media = { inlineData: { mimeType: 'image/png', data: 'aGk=' } }
    const keep = bare('keep', () => withParts(result, [media]))
    const told = await play({ tools: [keep], calls: [{ name: 'keep' }] })
    result.list.push(2)
    media.inlineData.data = 'changed'
    expect(told.response).toEqual({ list: [1] })
    const { runner, sessionId } = told
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
    expect(session?.events[2]?.content?.parts[1]?.inlineData?.data).toBe('aGk=')
  })
})

describe('a generator', () => {
  const handle = { id: 'c1', name: 'work', willContinue: true }
  const yields = async (run: () => unknown): Promise<unknown[]> => {
    const told = await play({ tools: [bare('work', run)], calls: [{ name: 'work', id: 'c1' }] })
    expect(told.text).toBe('done')
    return [...progressOf(told.events).map((one) => one.response.progress), '->', told.response]
  }

  test('reports its yields as partial events and returns its result', async () => {
    const told = await play({
      tools: [
        bare('work', async function* () {
          yield 'half'
          yield { done: 0.9 }
          return { ok: true }
        }),
      ],
      calls: [{ name: 'work', id: 'c1' }],
    })
    expect(progressOf(told.events)).toEqual([
      { ...handle, response: { progress: 'half' } },
      { ...handle, response: { progress: { done: 0.9 } } },
    ])
    expect(told.responses).toEqual([{ id: 'c1', name: 'work', response: { ok: true } }])
    const { runner, sessionId } = told
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
    expect(JSON.stringify(session?.events)).not.toContain('half')
  })

  test('need not be asynchronous', async () => {
    expect(
      await yields(function* () {
        yield 1
        return 'two'
      }),
    ).toEqual([1, '->', { result: 'two' }])
  })

  test('that does nothing has completed', async () => {
    expect(await yields(async function* () {})).toEqual(['->', { status: 'completed' }])
  })

  test('that returns nothing answers with its one yield', async () => {
    expect(
      await yields(function* () {
        yield { page: 1 }
      }),
    ).toEqual([{ page: 1 }, '->', { page: 1 }])
  })

  test('that returns nothing answers with all its yields', async () => {
    expect(
      await yields(async function* () {
        yield 1
        yield 2
      }),
    ).toEqual([1, 2, '->', { results: [1, 2] }])
  })

  test('that throws after a yield has failed', async () => {
    expect(
      await yields(async function* () {
        yield 1
        throw new ToolError('the disk is full')
      }),
    ).toEqual([1, '->', { error: 'the disk is full', errorCode: 'EXECUTION_FAILED' }])
  })

  test('has its typed arguments like any body', async () => {
    const count = tool({
      name: 'count',
      description: 'Counts',
      parameters: { type: 'object', properties: { to: { type: 'integer' } }, required: ['to'] },
      *run({ to }) {
        for (let i = 1; i <= to; i++) yield i
        return { counted: to }
      },
    })
    const { events, response } = await play({ tools: [count], calls: [{ name: 'count', args: { to: 3 } }] })
    expect(progressOf(events).map((one) => one.response.progress)).toEqual([1, 2, 3])
    expect(response).toEqual({ counted: 3 })
  })
})

describe('a body that fails', () => {
  const unreadable = new Proxy(new Error('x'), {
    get() {
      throw new Error('not even this')
    },
    has: () => true,
  })
  const cases: [what: string, thrown: unknown, error: string][] = [
    ['an error', new Error('no route to host'), 'no route to host'],
    ['a text', 'just text', 'just text'],
    ['nothing', undefined, 'a value that is not an error was thrown (undefined)'],
    ['a number', 42, 'a value that is not an error was thrown (number)'],
    ['an error without words', new RangeError(), 'RangeError'],
    ['an error that cannot be read', unreadable, 'an error that cannot be read was thrown'],
  ]
  test.each(cases)('by throwing %s is an error result', async (_, thrown, error) => {
    for (const run of [
      () => {
        throw thrown
      },
      () => Promise.reject(thrown),
    ]) {
      const told = await play({ tools: [bare('fail', run)], calls: [{ name: 'fail' }] })
      expect(told.response).toEqual({ error, errorCode: 'EXECUTION_FAILED' })
      expect(told.text).toBe('done')
    }
  })

  test.each(['NOT_FOUND', 'INVALID_ARGS', 'TIMEOUT', 'CANCELLED', 'EXECUTION_FAILED'] as const)(
    'on purpose says so with the code %s',
    async (code) => {
      const fail = bare('fail', () => {
        throw new ToolError('Which order?', { code })
      })
      const { response } = await play({ tools: [fail], calls: [{ name: 'fail' }] })
      expect(response).toEqual({ error: 'Which order?', errorCode: code })
    },
  )
})
