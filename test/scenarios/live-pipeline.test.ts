// The way of a tool call of a live model: phase filter, onToolCall, dispatch, beforeToolResponse, one response per id.
import { background, type FunctionResponse, type JsonObject, type Tool } from 'toolwright'
import type { LiveOptions, LiveSession } from 'toolwright/live'
import { describe, expect, test, vi } from 'vitest'
import { createDeferred, plainTool, waitUntil } from './kit.ts'
import {
  callTool,
  collectResponses,
  flushed,
  liveRunner,
  nextResponse,
  nextResponses,
  received,
  startStrict,
  storedEvents,
} from './live-calls-kit.ts'

const echo = plainTool('echo', (args: JsonObject) => ({ said: args.word ?? null }))
const words = (...all: string[]) => all.map((word) => ({ id: `c-${word}`, name: 'echo', args: { word } }))

describe('onToolCall', () => {
  test.each<[string, NonNullable<LiveOptions<LiveSession>['onToolCall']>, JsonObject[]]>([
    ['answers none', () => undefined, [{ said: 'a' }, { said: 'b' }]],
    ['answers none with a list', () => [], [{ said: 'a' }, { said: 'b' }]],
    [
      'answers one',
      ({ calls }) => calls.slice(1).map(({ id = '', name }) => ({ id, name, response: { by: 'hook' } })),
      [{ said: 'a' }, { by: 'hook' }],
    ],
    [
      'answers all',
      ({ calls }) => calls.map(({ id = '', name, args }) => ({ id, name, response: { hook: args.word } })),
      [{ hook: 'a' }, { hook: 'b' }],
    ],
    [
      'answers unknown ids and one id twice',
      ({ calls: [first] }) => [
        { id: 'other', name: 'echo', response: { by: 'nobody' } },
        { id: first?.id ?? '', name: 'echo', response: { n: 1 } },
        { id: first?.id ?? '', name: 'echo', response: { n: 2 } },
      ],
      [{ n: 1 }, { said: 'b' }],
    ],
    [
      'answers without ids',
      () => [{ name: 'echo', response: { first: true } }] as FunctionResponse[],
      [{ first: true }, { said: 'b' }],
    ],
    [
      'answers with a text instead of an object',
      ({ calls: [first] }) => [{ id: first?.id ?? '', name: 'echo', response: 'yes' as never }],
      [{ result: 'yes' }, { said: 'b' }],
    ],
    ['returns a list of garbage', (() => [null, 5, {}]) as never, [{ said: 'a' }, { said: 'b' }]],
  ])('%s, and the other calls run', async (_, onToolCall, expected) => {
    const { connection, server, session } = await startStrict({ tools: [echo], onToolCall })
    connection.call(words('a', 'b'))
    const responses = await collectResponses(connection, 2)
    expect([responses.get('c-a'), responses.get('c-b')]).toEqual(expected.map((one) => [one]))
    await flushed(session, connection)
    for (const id of ['c-a', 'c-b']) expect(received(server, id)).toHaveLength(1)
    expect(session.openCalls).toBe(0)
  })

  test('that returns no list answers all calls with an error: it may be a guard', async () => {
    const run = vi.fn()
    const { runner } = liveRunner([plainTool('pay', run)])
    const { connection } = await startStrict({ runner, onToolCall: (() => ({ denied: true })) as never })
    expect(await callTool(connection, 'pay')).toMatchObject({ errorCode: 'EXECUTION_FAILED' })
    expect(run).not.toHaveBeenCalled()
  })

  test('that throws answers all calls with the error, and nothing runs', async () => {
    const run = vi.fn()
    const { runner } = liveRunner([plainTool('pay', run)])
    const { connection, event } = await startStrict({
      runner,
      onToolCall: () => {
        throw new Error('guard broken')
      },
    })
    expect(await callTool(connection, 'pay')).toEqual({
      error: 'Tool execution failed: guard broken',
      errorCode: 'EXECUTION_FAILED',
    })
    expect(await event('error')).toMatchObject({ errorCode: 'HOOK_FAILED' })
    expect(run).not.toHaveBeenCalled()
  })

  test('gets copies of the calls and state that tools see', async () => {
    const read = plainTool('read', (_, { state }) => ({ user: state.get('user') }))
    const { connection } = await startStrict({
      tools: [read],
      onToolCall: ({ calls, state }) => {
        for (const call of calls) Object.assign(call, { name: 'other', args: { changed: true } })
        state.set('user', 'Ada')
        return undefined
      },
    })
    expect(await callTool(connection, 'read')).toEqual({ user: 'Ada' })
  })

  test('that the model cancels meanwhile runs nothing', async () => {
    const run = vi.fn()
    const asked = createDeferred()
    const answer = createDeferred<undefined>()
    const { connection, server, session, event } = await startStrict({
      tools: [plainTool('pay', run)],
      onToolCall: () => {
        asked.resolve()
        return answer.promise
      },
    })
    connection.call([{ id: 'c1', name: 'pay' }])
    await asked.promise
    connection.cancelCalls(['c1'])
    expect(await event('toolCancelled')).toMatchObject({ ids: ['c1'] })
    answer.resolve(undefined)
    await event('toolResponse')
    await flushed(session, connection)
    expect([run.mock.calls.length, received(server, 'c1').length, session.openCalls]).toEqual([0, 0, 0])
  })
})

describe('beforeToolResponse', () => {
  test.each<[string, NonNullable<LiveOptions<LiveSession>['beforeToolResponse']>, JsonObject]>([
    [
      'changes a response',
      ({ responses: [one] }) => [{ ...one, response: { said: '***' } } as FunctionResponse],
      { said: '***' },
    ],
    ['returns it unchanged', ({ responses }) => responses, { said: 'a' }],
    [
      'duplicates it',
      ({ responses: [one] }) => [{ ...one, response: { n: 1 } } as FunctionResponse, one as FunctionResponse],
      { n: 1 },
    ],
    ['adds an unknown one', ({ responses }) => [{ id: 'x', name: 'x', response: {} }, ...responses], { said: 'a' }],
    [
      'returns a text as its response',
      ({ responses: [one] }) => [{ ...one, response: 'hi' as never } as FunctionResponse],
      { result: 'hi' },
    ],
  ])('%s, and the model gets one response', async (_, beforeToolResponse, expected) => {
    const { connection, server, session } = await startStrict({ tools: [echo], beforeToolResponse })
    expect(await callTool(connection, 'echo', { word: 'a' }, 'c1')).toEqual(expected)
    await flushed(session, connection)
    expect(received(server, 'c1')).toHaveLength(1)
  })

  const withheld = {
    error:
      'The response of tool "echo" is withheld: beforeToolResponse did not return it. The call is done; do not repeat it.',
    errorCode: 'INVALID_RESULT',
  }
  test.each<[string, NonNullable<LiveOptions<LiveSession>['beforeToolResponse']>]>([
    ['drops a response', () => []],
    ['returns nothing', (() => undefined) as never],
    ['returns garbage', (() => [null, 'x', { id: 5 }]) as never],
    [
      'throws',
      () => {
        throw new Error('filter broken')
      },
    ],
  ])('%s, and the model gets an error instead of the result', async (_, beforeToolResponse) => {
    const { runner } = liveRunner([echo])
    const { connection } = await startStrict({ runner, beforeToolResponse })
    expect(await callTool(connection, 'echo', { word: 'secret' })).toEqual(withheld)
  })

  test('sees refused calls, errors and background results, and its state is recorded with them', async () => {
    const seen: string[] = []
    const { runner } = liveRunner([background(plainTool('search', () => ({ hits: 1 }))), echo])
    const { connection, session } = await startStrict({
      runner,
      userId: 'ada',
      phases: [{ name: 'only', instruction: 'Talk.', tools: ['search'] }],
      initialPhase: 'only',
      beforeToolResponse: ({ responses, state }) => {
        seen.push(...responses.map(({ name }) => name))
        state.set('seen', seen.length)
        return responses
      },
    })
    await callTool(connection, 'echo')
    await callTool(connection, 'unknown')
    connection.call([{ id: 'c1', name: 'search' }])
    await nextResponse(connection)
    await nextResponse(connection)
    expect(seen).toEqual(['echo', 'unknown', 'search'])
    expect(session.state.get('seen')).toBe(3)
    const deltas = (await storedEvents(runner, session)).map(({ actions }) => actions.stateDelta ?? {})
    expect(deltas).toContainEqual({ seen: 3 })
  })
})

test('the steps follow one another: phase filter, onToolCall, dispatch, beforeToolResponse', async () => {
  const steps: string[] = []
  const { connection } = await startStrict({
    tools: [plainTool('run', () => void steps.push('run')), plainTool('not', () => void steps.push('not'))],
    phases: [{ name: 'only', instruction: 'Talk.', tools: ['run'] }],
    initialPhase: 'only',
    onToolCall: ({ calls }) => void steps.push(`hook ${calls.map(({ name }) => name)}`),
    beforeToolResponse: ({ responses }) => {
      steps.push(`before ${responses.map(({ name }) => name)}`)
      return responses
    },
  })
  connection.call([
    { id: 'a', name: 'not' },
    { id: 'b', name: 'run' },
  ])
  await collectResponses(connection, 2)
  expect(steps).toEqual(['before not', 'hook run', 'run', 'before run'])
})

test('a phase refuses a background tool with the same text', async () => {
  const { connection } = await startStrict({
    tools: [background(echo)],
    phases: [{ name: 'only', instruction: 'Talk.', tools: [] }],
    initialPhase: 'only',
  })
  connection.call([{ id: 'c1', name: 'echo' }])
  expect(await nextResponses(connection)).toEqual([
    {
      id: 'c1',
      name: 'echo',
      response: { error: "Tool 'echo' is not available in the current conversation phase." },
    },
  ])
})

describe('the calls of one message', () => {
  test('to the same tool keep their own arguments', async () => {
    const { connection, event } = await startStrict({ tools: [echo] })
    connection.call(words('a', 'b', 'c'))
    const responses = await collectResponses(connection, 3)
    expect(responses.get('c-b')).toEqual([{ said: 'b' }])
    const { calls } = await event('toolCall')
    expect(calls.map(({ id, args }) => [id, args.word])).toEqual([
      ['c-a', 'a'],
      ['c-b', 'b'],
      ['c-c', 'c'],
    ])
  })

  test('without arguments, with unknown names or with strange ids are answered too', async () => {
    const { connection } = await startStrict({ tools: [echo] })
    connection.call([
      { id: '1', name: 'echo' },
      { id: 't1', name: 'echo', args: { word: 'x' } },
      { id: 'a/b@c', name: 'nothing' },
      { id: 'x'.repeat(500), name: 'echo' },
    ])
    const responses = await collectResponses(connection, 4)
    expect(responses.get('1')).toEqual([{ said: null }])
    expect(responses.get('t1')).toEqual([{ said: 'x' }])
    expect(responses.get('a/b@c')).toMatchObject([{ errorCode: 'NOT_FOUND' }])
    expect(responses.get('x'.repeat(500))).toEqual([{ said: null }])
  })

  test('with the same id run once, and the response is sent again when the model repeats an answered call', async () => {
    const run = vi.fn((args: JsonObject) => args)
    const { connection, server, session, events } = await startStrict({ tools: [plainTool('get', run)] })
    const call = { id: 'c1', name: 'get', args: { n: 1 } }
    connection.call([call, call])
    expect(await nextResponse(connection)).toMatchObject({ id: 'c1', response: { n: 1 } })
    connection.call([call])
    expect(await nextResponse(connection)).toMatchObject({ id: 'c1', response: { n: 1 } })
    await flushed(session, connection)
    expect([run.mock.calls.length, received(server, 'c1').length]).toEqual([1, 1])
    expect(events.filter(({ type }) => type === 'toolCall')).toHaveLength(1)
  })

  test('that the model cancels at once never run', async () => {
    const run = vi.fn()
    const { connection, server, session, event } = await startStrict({ tools: [plainTool('pay', run), echo] })
    connection.call([{ id: 'c1', name: 'pay' }, ...words('a')])
    connection.cancelCalls(['c1'])
    expect(await event('toolCancelled')).toMatchObject({ ids: ['c1'] })
    expect(await nextResponse(connection)).toMatchObject({ id: 'c-a', response: { said: 'a' } })
    await flushed(session, connection)
    expect([received(server, 'c1').length, session.openCalls]).toEqual([0, 0])
  })

  test('run at the same time, and a quick result does not wait for a slow one', async () => {
    const slow = createDeferred()
    const { connection } = await startStrict({
      tools: [echo, plainTool('slow', () => slow.promise.then(() => ({ done: true })))],
    })
    connection.call([{ id: 's', name: 'slow' }, ...words('a')])
    expect(await nextResponse(connection)).toMatchObject({ id: 'c-a' })
    slow.resolve()
    expect(await nextResponse(connection)).toMatchObject({ id: 's', response: { done: true } })
  })

  test('run alone if the tool is sequential', async () => {
    let running = 0
    let most = 0
    const step = plainTool(
      'step',
      async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
        return {}
      },
      { sequential: true },
    )
    const { connection } = await startStrict({ tools: [step] })
    connection.call(Array.from({ length: 5 }, (_, at) => ({ id: `c${at}x`, name: 'step' })))
    await collectResponses(connection, 5)
    expect(most).toBe(1)
  })

  test('can be cancelled one by one', async () => {
    const signals = new Map<unknown, AbortSignal>()
    const wait: Tool['run'] = (args, { signal }) => {
      signals.set((args as JsonObject).n, signal)
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ late: true })))
    }
    const { connection, session } = await startStrict({ tools: [plainTool('wait', wait)] })
    connection.call([1, 2, 3].map((n) => ({ id: `w${n}`, name: 'wait', args: { n } })))
    await waitUntil(() => signals.size === 3)
    await session.cancelCalls(['w2'], 'The user changed the subject.')
    expect(await nextResponse(connection)).toMatchObject({
      id: 'w2',
      response: { errorCode: 'CANCELLED', error: expect.stringContaining('The user changed the subject.') },
    })
    expect([1, 2, 3].map((n) => signals.get(n)?.aborted)).toEqual([false, true, false])
    expect(session.openCalls).toBe(2)
  })

  test('may be two hundred: each is answered once, and those above the limit are not run', async () => {
    const run = vi.fn((args: JsonObject) => args)
    const { connection, server, session } = await startStrict({ tools: [plainTool('get', run)] })
    connection.call(Array.from({ length: 200 }, (_, n) => ({ id: `g${n}`, name: 'get', args: { n } })))
    const responses = await collectResponses(connection, 200)
    await flushed(session, connection)
    for (let n = 0; n < 200; n++) expect(received(server, `g${n}`)).toHaveLength(1)
    expect(responses.get('g5')).toEqual([{ n: 5 }])
    expect(responses.get('g199')).toMatchObject([{ status: 'not_run', errorCode: 'CANCELLED' }])
    expect([run.mock.calls.length, session.openCalls]).toEqual([128, 0])
  })

  test('may be more than the log takes: each is still answered once', async () => {
    const { connection, session, server } = await startStrict({ tools: [echo] })
    const count = 1_100
    connection.call(Array.from({ length: count }, (_, n) => ({ id: `g${n}`, name: 'echo' })))
    await collectResponses(connection, count)
    for (let n = 0; n < count; n++) expect(received(server, `g${n}`)).toHaveLength(1)
    expect(session.openCalls).toBe(0)
  })
})
