// Calls in the background of a live session: acknowledgement, progress, result, cancellation, and nothing left behind.
import { background, type JsonObject, type ResultFormatter, type Tool, ToolError } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { createDeferred, plainTool } from './kit.ts'
import { flushed, liveRunner, nextResponse, received, startStrict, storedEvents } from './live-calls-kit.ts'

/** A tool that runs until the test lets it return. */
function held(name = 'search'): {
  tool: Tool
  signals: AbortSignal[]
  started: Promise<void>
  finish(value?: unknown): void
} {
  const signals: AbortSignal[] = []
  const started = createDeferred()
  const finished = createDeferred<unknown>()
  const tool = plainTool(name, (_, { signal }) => {
    signals.push(signal)
    started.resolve()
    return finished.promise
  })
  return { tool, signals, started: started.promise, finish: (value = { hits: 2 }) => finished.resolve(value) }
}

describe('a background call', () => {
  test.each([
    ['by the option of the session', (tool: Tool) => ({ tools: [tool], background: { search: true as const } })],
    ['by its policy', (tool: Tool) => ({ tools: [background(tool)] })],
  ])('%s is declared as such, acknowledged silently, and answered when the model is idle', async (_, options) => {
    const { tool, finish } = held()
    const { connection } = await startStrict(options(tool))
    expect(connection.setup?.tools).toMatchObject([
      { functionDeclarations: [{ name: 'search', behavior: 'NON_BLOCKING' }] },
    ])
    connection.call([{ id: 'c1', name: 'search' }])
    expect(await nextResponse(connection)).toEqual({
      id: 'c1',
      name: 'search',
      response: { status: 'running', tool: 'search' },
      willContinue: true,
      scheduling: 'SILENT',
    })
    finish()
    expect(await nextResponse(connection)).toEqual({
      id: 'c1',
      name: 'search',
      response: { status: 'completed', tool: 'search', result: { hits: 2 } },
      willContinue: false,
      scheduling: 'WHEN_IDLE',
    })
  })

  test.each(['INTERRUPT', 'WHEN_IDLE', 'SILENT'] as const)(
    'has a result with the scheduling %s',
    async (scheduling) => {
      const { tool, finish } = held()
      const { connection } = await startStrict({ tools: [background(tool, { scheduling })] })
      connection.call([{ id: 'c1', name: 'search' }])
      expect(await nextResponse(connection)).toMatchObject({ willContinue: true, scheduling: 'SILENT' })
      finish()
      expect(await nextResponse(connection)).toMatchObject({ willContinue: false, scheduling })
    },
  )

  test('the option of the session wins over the policy of the tool', async () => {
    const { tool, finish } = held()
    const { connection } = await startStrict({
      tools: [background(tool, { scheduling: 'SILENT' })],
      background: { search: { scheduling: 'INTERRUPT' } },
    })
    connection.call([{ id: 'c1', name: 'search' }])
    await nextResponse(connection)
    finish()
    expect(await nextResponse(connection)).toMatchObject({ scheduling: 'INTERRUPT' })
  })

  const formatter: ResultFormatter = {
    formatRunning: ({ name, args }) => ({ say: `${name} for ${args.city} runs` }),
    formatResult: (_, outcome) => ('error' in outcome ? { bad: outcome.error } : { good: outcome.result }),
    formatCancelled: (id) => ({ gone: id }),
  }

  test('is described by its formatter', async () => {
    const { tool, finish } = held()
    const { connection, session } = await startStrict({ tools: [tool], background: { search: { formatter } } })
    connection.call([{ id: 'c1', name: 'search', args: { city: 'Oslo' } }])
    expect((await nextResponse(connection)).response).toEqual({ say: 'search for Oslo runs' })
    finish()
    expect((await nextResponse(connection)).response).toEqual({ good: { hits: 2 } })
    expect(session.openCalls).toBe(0)
  })

  test.each<[string, Partial<ResultFormatter>]>([
    [
      'throws',
      {
        formatRunning: () => {
          throw new Error('no')
        },
        formatResult: () => {
          throw new Error('no')
        },
      },
    ],
    ['returns no object', { formatRunning: () => 'running' as never, formatResult: () => undefined as never }],
  ])('has the default texts if its formatter %s', async (_, broken) => {
    const { tool, finish } = held()
    const { connection } = await startStrict({
      tools: [tool],
      background: { search: { formatter: { ...formatter, ...broken } } },
    })
    connection.call([{ id: 'c1', name: 'search' }])
    expect((await nextResponse(connection)).response).toEqual({ status: 'running', tool: 'search' })
    finish()
    expect((await nextResponse(connection)).response).toEqual({
      status: 'completed',
      tool: 'search',
      result: { hits: 2 },
    })
  })

  test.each<[string, Tool['run'], string]>([
    [
      'throws',
      () => {
        throw new ToolError('The archive is closed.')
      },
      'The archive is closed.',
    ],
    [
      'hangs',
      () => new Promise(() => {}),
      'Tool "search" timed out after 20 ms. Raise timeoutMs or make the tool long-running.',
    ],
  ])('whose tool %s ends with the error', async (_, run, error) => {
    const { runner } = liveRunner([background(plainTool('search', run))], { toolTimeoutMs: 20 })
    const { connection, session } = await startStrict({ runner })
    connection.call([{ id: 'c1', name: 'search' }])
    await nextResponse(connection)
    expect(await nextResponse(connection)).toMatchObject({
      response: { status: 'error', tool: 'search', error },
      willContinue: false,
    })
    expect(session.openCalls).toBe(0)
  })

  test('with arguments that are not valid is acknowledged and ends with the error', async () => {
    const { runner } = liveRunner([
      background(
        plainTool('search', () => ({}), {
          declaration: () => ({
            name: 'search',
            description: 'search',
            parametersJsonSchema: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } },
          }),
        }),
      ),
    ])
    const { connection } = await startStrict({ runner })
    connection.call([{ id: 'c1', name: 'search' }])
    await nextResponse(connection)
    expect((await nextResponse(connection)).response).toEqual({
      status: 'error',
      tool: 'search',
      error: expect.stringContaining('Invalid arguments for search: city'),
    })
  })

  test('sends progress of the tool as updates before the result', async () => {
    const search = plainTool('search', async function* (_, context) {
      yield 'half'
      context.progress({ percent: 80 })
      return { hits: 2 }
    })
    const { connection } = await startStrict({ tools: [background(search)] })
    connection.call([{ id: 'c1', name: 'search' }])
    const all = []
    for (let at = 0; at < 4; at++) all.push(await nextResponse(connection))
    expect(all.map(({ response, willContinue, scheduling }) => [response, willContinue, scheduling])).toEqual([
      [{ status: 'running', tool: 'search' }, true, 'SILENT'],
      [{ output: 'half' }, true, 'SILENT'],
      [{ percent: 80 }, true, 'SILENT'],
      [{ status: 'completed', tool: 'search', result: { hits: 2 } }, false, 'WHEN_IDLE'],
    ])
  })

  test('that the model cancels is aborted and gets no further response', async () => {
    const { tool, signals, started } = held()
    const { connection, server, session, event } = await startStrict({ tools: [background(tool)] })
    connection.call([{ id: 'c1', name: 'search' }])
    await started
    connection.cancelCalls(['c1', 'unknown'])
    expect(await event('toolCancelled')).toMatchObject({ ids: ['c1'] })
    await event('toolResponse')
    expect(signals[0]?.aborted).toBe(true)
    await flushed(session, connection)
    expect(received(server, 'c1')).toHaveLength(1) // the acknowledgement
    expect(session.openCalls).toBe(0)
  })

  test('that the app cancels is aborted, and the model gets the reason', async () => {
    const { tool, signals, started } = held()
    const { connection, session } = await startStrict({ tools: [background(tool)] })
    connection.call([{ id: 'c1', name: 'search' }])
    await nextResponse(connection)
    await started
    await session.cancelCalls(['c1', 'unknown'], 'The user hung up.')
    expect(await nextResponse(connection)).toMatchObject({
      response: { status: 'cancelled', call_id: 'c1' },
      willContinue: false,
    })
    expect(signals[0]?.aborted).toBe(true)
    expect(session.openCalls).toBe(0)
  })

  test('that the app cancels is described by its formatter', async () => {
    const { tool, started } = held()
    const { connection, session } = await startStrict({ tools: [tool], background: { search: { formatter } } })
    connection.call([{ id: 'c1', name: 'search' }])
    await nextResponse(connection)
    await started
    await session.cancelCalls(['c1'])
    expect((await nextResponse(connection)).response).toEqual({ gone: 'c1' })
  })

  test('does not keep other calls waiting, and several end in their own order', async () => {
    const [one, two] = [held('one'), held('two')]
    const quick = plainTool('quick', () => ({ ok: true }))
    const { connection } = await startStrict({ tools: [background(one.tool), background(two.tool), quick] })
    connection.call(['one', 'two', 'quick'].map((name) => ({ id: name, name })))
    const first = [await nextResponse(connection), await nextResponse(connection), await nextResponse(connection)]
    expect(first.map(({ id, willContinue = false }) => [id, willContinue])).toEqual([
      ['one', true],
      ['two', true],
      ['quick', false],
    ])
    two.finish({ n: 2 })
    expect(await nextResponse(connection)).toMatchObject({ id: 'two', response: { result: { n: 2 } } })
    one.finish({ n: 1 })
    expect(await nextResponse(connection)).toMatchObject({ id: 'one', response: { result: { n: 1 } } })
  })

  test('is recorded with its plain result, once', async () => {
    const { runner } = liveRunner([background(plainTool('search', () => ({ hits: 2 })))])
    const { connection, session, event } = await startStrict({ runner, userId: 'ada' })
    connection.call([{ id: 'c1', name: 'search' }])
    await event('toolResponse')
    const responses = (await storedEvents(runner, session)).flatMap(({ content }) =>
      (content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse ?? []),
    )
    expect(responses).toEqual([{ id: 'c1', name: 'search', response: { hits: 2 } }])
  })
})

test('two hundred background calls in a row leave nothing behind', async () => {
  const count = 200
  const { connection, session, server } = await startStrict({
    tools: [background(plainTool('search', (args: JsonObject) => args))],
  })
  for (let at = 0; at < count; at++) {
    connection.call([{ id: `c${at}`, name: 'search', args: { at } }])
    await nextResponse(connection)
    expect(await nextResponse(connection)).toMatchObject({ id: `c${at}`, response: { result: { at } } })
  }
  expect(session.openCalls).toBe(0)
  for (let at = 0; at < count; at++) expect(received(server, `c${at}`)).toHaveLength(2)
})
