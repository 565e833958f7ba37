// The body of a background call that an engine has another worker run.
import {
  agentTool,
  approve,
  type BackgroundResult,
  background,
  confirm,
  type Effect,
  type Event,
  InMemorySessionService,
  LlmAgent,
  type Runner,
  retry,
  type Tool,
  type ToolContext,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { stores } from '../stores.ts'
import { entriesOf, key, openWorld, pendingCall, resultsOf, type World, where } from './background-engine-kit.ts'

const CALL = { calls: [{ name: 'search', args: { query: 'rent' } }] }
/** The engine is asked again half a minute after it was asked, if no worker has begun. */
const AGAIN_MS = 31_000

type Body = (args: { query: string }, context: ToolContext) => unknown

function search(body: Body, options: { effect?: Effect; allowEditedArgs?: boolean } = {}): Tool {
  const { effect = 'none', ...gate } = options
  const common = {
    name: 'search',
    description: 'Searches',
    parameters: z.object({ query: z.string() }),
    run: body,
    ...gate,
  }
  if (effect !== 'reconcilable') return background(tool({ ...common, effect }))
  return background(tool({ ...common, effect, reconcile: () => ({ status: 'done', result: { hits: 5 } }) }))
}

/** A body that does not end. */
const never: Promise<object> = new Promise(() => {})

/** Says that a body has begun. */
function noting(began: { resolve(): void }, result: Promise<object>): Promise<object> {
  began.resolve()
  return result
}

const mustNotRun: Body = () => {
  throw new Error('The body must not run here.')
}

interface Started {
  readonly world: World
  readonly web: Runner
  readonly callId: string
}

/** Dispatches a background call in a process whose own body must not run. Workers are opened afterwards. */
async function dispatched(
  effect: Effect = 'none',
  services: Parameters<typeof openWorld>[0] = { sessionService: new InMemorySessionService() },
): Promise<Started> {
  const world = openWorld(services, [CALL, 'Found.'])
  const web = world.open({ tools: [search(mustNotRun, { effect })] })
  await web.complete({ ...where, message: 'Search.' })
  const { id: callId } = await pendingCall(web)
  return { world, web, callId }
}

describe.each(stores)('with sessions $name', ({ open }) => {
  test('a worker runs the body of a background call, and the result continues the invocation', async () => {
    const world = openWorld(open(), [CALL, 'Found 3.'])
    const seen: unknown[] = []
    const worker = world.open({
      tools: [
        search(({ query }, context) => {
          seen.push(query, context.idempotencyKey, context.invocation.session.id, context.state.get('shelf'))
          context.state.set('searched', true)
          return { hits: 3 }
        }),
      ],
    })
    const web = world.open({ tools: [search(mustNotRun)] })
    world.engine.workers.push(worker)
    const { events, pending } = await web.complete({ ...where, message: 'Search.', stateDelta: { shelf: 7 } })
    expect(events.at(-1)?.content?.parts[0]?.functionResponse?.response).toEqual({ status: 'running', tool: 'search' })
    await world.engine.idle()
    expect(seen).toEqual(['rent', `${events[0]?.invocationId}/${pending[0]?.id}`, 's1', 7])
    expect(await resultsOf(web)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 3 } }])
    const session = await web.sessionService.getSession(key)
    expect(session?.events.at(-1)?.content?.parts[0]?.text).toBe('Found 3.')
    expect(session?.state).toMatchObject({ searched: true })
    expect(await web.pending()).toEqual([])
  })

  test('two workers that are called for one call at once run its body once', async () => {
    const { world, web, callId } = await dispatched('atMostOnce', open())
    let runs = 0
    const body: Body = async () => {
      runs++
      await new Promise((resolve) => setTimeout(resolve, 100))
      return { hits: 3 }
    }
    const workers = [1, 2].map(() => world.open({ tools: [search(body, { effect: 'atMostOnce' })] }))
    const ended = await Promise.allSettled(workers.map((worker) => world.engine.run(worker, where, callId)))
    expect(runs).toBe(1)
    expect(ended.map(({ status }) => status).sort()).toContain('fulfilled')
    for await (const _ of web.resume(where)) void _
    expect(await resultsOf(web)).toHaveLength(1)
  })

  test('a body whose session is held begins once its holder has recorded it', async () => {
    const { world, web, callId } = await dispatched('atMostOnce', open())
    const worker = world.open({ tools: [search(() => ({ hits: 3 }), { effect: 'atMostOnce' })] })
    const lease = await web.sessionService.claim(key)
    const running = world.engine.run(worker, where, callId)
    await vi.waitFor(async () => expect(await web.sessionService.inbox(lease)).toMatchObject([{ type: 'attempt' }]))
    await web.sessionService.release(lease)
    expect(await running).toBe('done')
    for await (const _ of web.resume(where)) void _
    expect(await resultsOf(web)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 3 } }])
  })
})

test.each<[Effect, object, runs: number]>([
  ['none', { status: 'completed', result: { hits: 7 } }, 1],
  ['idempotent', { status: 'completed', result: { hits: 7 } }, 1],
  ['reconcilable', { status: 'completed', result: { hits: 5 } }, 0],
  ['atMostOnce', { status: 'unknown_outcome', errorCode: 'UNKNOWN_OUTCOME' }, 0],
])(
  'another worker settles a call by its effect while the first one still runs its body: %s',
  async (effect, expected, runs) => {
    const { world, web, callId } = await dispatched(effect)
    const began = Promise.withResolvers<ToolContext>()
    const keys: string[] = []
    const stuck = world.open({
      tools: [
        search(
          async (_, context) => {
            began.resolve(context)
            await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
            return { hits: 1 }
          },
          { effect },
        ),
      ],
    })
    const first = world.engine.run(stuck, where, callId)
    const zombie = await began.promise
    const other = world.open({
      tools: [
        search(
          (_, context) => {
            keys.push(context.idempotencyKey)
            return { hits: 7 }
          },
          { effect },
        ),
      ],
    })
    expect(await world.engine.run(other, where, callId)).toBe('done')
    expect(await first).toBe('done') // it has seen the other attempt, and stopped
    expect(zombie.signal.aborted).toBe(true)
    expect(keys).toEqual(Array.from({ length: runs }, () => zombie.idempotencyKey))
    for await (const _ of web.resume(where)) void _
    expect(await resultsOf(web)).toMatchObject([expected])
  },
)

test('the later of two results of one call is dropped', async () => {
  const { world, web, callId } = await dispatched('none')
  const began = Promise.withResolvers<void>()
  const late = Promise.withResolvers<object>()
  const slow = world.open({ tools: [search(async () => await noting(began, late.promise))] })
  const first = world.engine.run(slow, where, callId)
  await began.promise
  const fast = world.open({ tools: [search(() => ({ hits: 7 }))] })
  await world.engine.run(fast, where, callId)
  late.resolve({ hits: 1 }) // before it has seen the other attempt
  expect(await first).toBe('done')
  for await (const _ of web.resume(where)) void _
  expect(await resultsOf(web)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 7 } }])
})

test('an engine that could not be asked is asked again by a worker', async () => {
  const sessionService = new InMemorySessionService()
  const world = openWorld({ sessionService }, [CALL, 'Found.'])
  world.engine.isAway = true
  const web = world.open({ tools: [search(mustNotRun)] })
  await web.complete({ ...where, message: 'Search.' })
  expect(world.warnings).toEqual([expect.stringMatching(/was not given to a worker.*The engine is away/)])
  world.engine.isAway = false
  const worker = world.open({ tools: [search(() => ({ hits: 3 }))] })
  world.engine.workers.push(worker)
  await worker.recover()
  expect(world.engine.told).toEqual([]) // not yet: another worker may have just begun

  const later = world.open({ tools: [search(mustNotRun)] }, { ports: { now: () => Date.now() + AGAIN_MS } })
  await later.recover()
  await world.engine.idle()
  expect(world.engine.told).toHaveLength(1)
  expect(await resultsOf(web)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 3 } }])
})

test('an engine that has lost a call is asked again when its time is over, and its effect decides', async () => {
  const { world, web, callId } = await dispatched('atMostOnce')
  const began = Promise.withResolvers<void>()
  const stuck = world.open({
    tools: [search(() => noting(began, never), { effect: 'atMostOnce' })],
  })
  void world.engine.run(stuck, where, callId)
  await began.promise
  const { expiresAt } = await pendingCall(web)
  expect(expiresAt - Date.now() / 1000).toBeGreaterThan(80) // the deadline and a minute
  const worker = world.open({ tools: [search(mustNotRun, { effect: 'atMostOnce' })] })
  world.engine.workers.push(worker)
  const later = world.open({ tools: [search(mustNotRun)] }, { ports: { now: () => Date.now() + 95_000 } })
  await later.recover()
  await world.engine.idle()
  expect(world.engine.told).toEqual([callId, callId])
  expect(await resultsOf(web)).toMatchObject([{ status: 'unknown_outcome' }])
})

test('a process without an engine runs a body that no worker has begun, also one that runs at most once', async () => {
  const sessionService = new InMemorySessionService()
  const { world, web } = await dispatched('atMostOnce', { sessionService })
  const ports = { now: () => Date.now() + AGAIN_MS }
  const tools = [search(() => ({ hits: 3 }), { effect: 'atMostOnce' })]
  const alone = world.open({ tools }, { engine: undefined, ports })
  for (const run of await alone.recover()) for await (const _ of run) void _
  await alone.internals.backgroundOf(where)
  expect(await resultsOf(web)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 3 } }])
})

test('a worker that is called for a call with a result runs nothing', async () => {
  const { world, web, callId } = await dispatched('atMostOnce')
  const worker = world.open({ tools: [search(() => ({ hits: 3 }), { effect: 'atMostOnce' })] })
  await world.engine.run(worker, where, callId) // its result is in the inbox
  const other = world.open({ tools: [search(mustNotRun, { effect: 'atMostOnce' })] })
  expect(await world.engine.run(other, where, callId)).toBe('done')
  for await (const _ of web.resume(where)) void _
  expect(await resultsOf(web)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 3 } }])
  expect(await world.engine.run(other, where, callId)).toBe('done') // its result is in the log
  expect(await world.engine.run(other, where, 'no-such-call')).toBe('done')
  expect(await world.engine.run(other, { ...where, sessionId: 'no-such-session' }, callId)).toBe('done')
})

test('a worker that has read a call of a deleted session does not run it in a new session with the same ids', async () => {
  const ask = (query: string) => ({ calls: [{ id: 'c1', name: 'search', args: { query } }] })
  const services = { sessionService: new InMemorySessionService() }
  const world = openWorld(services, [ask('old'), ask('new'), 'Found.'])
  const web = world.open({ tools: [search(mustNotRun, { effect: 'atMostOnce' })] })
  const seen: string[] = []
  const body: Body = ({ query }) => ({ hits: seen.push(query) })
  const worker = world.open({ tools: [search(body, { effect: 'atMostOnce' })] })
  await web.complete({ ...where, message: 'Search.' })
  const runContext = async () => {
    await web.deleteSession(where)
    await web.complete({ ...where, message: 'Search.' })
    return {}
  }
  expect(await world.engine.run(worker, where, 'c1', { runContext })).toBe('done')
  expect(seen).toEqual([])
  await world.engine.run(worker, where, 'c1')
  expect(seen).toEqual(['new'])
})

test.each([
  ['runner.cancel()', (web: Runner) => web.cancel(where)],
  ['runner.deleteSession()', (web: Runner) => web.deleteSession(where)],
])('%s in one process stops the body in another one', async (_, end) => {
  const { world, web, callId } = await dispatched()
  const began = Promise.withResolvers<AbortSignal>()
  const worker = world.open({
    tools: [
      search(async (_, { signal }) => {
        began.resolve(signal)
        return await never
      }),
    ],
  })
  const running = world.engine.run(worker, where, callId)
  const signal = await began.promise
  await end(web)
  const endedAt = Date.now()
  expect(await running).toBe('done')
  expect(signal.aborted).toBe(true)
  expect(Date.now() - endedAt).toBeLessThan(5_000)
  expect((await web.sessionService.withInbox?.({ appName: 'shop', limit: 10 })) ?? []).toEqual([]) // it gave no result
})

test('a body that may run again is handed over, and not counted as a crash', async () => {
  const { world, web, callId } = await dispatched('idempotent')
  const stop = new AbortController()
  const began = Promise.withResolvers<void>()
  const leaving = world.open({
    tools: [search(() => noting(began, never), { effect: 'idempotent' })],
  })
  const running = world.engine.run(leaving, where, callId, { signal: stop.signal })
  await began.promise
  stop.abort()
  expect(await running).toBe('interrupted')
  const worker = world.open({ tools: [search(() => ({ hits: 3 }), { effect: 'idempotent' })] })
  expect(await world.engine.run(worker, where, callId, { isHandedOver: true })).toBe('done')
  for await (const _ of web.resume(where)) void _
  expect(await resultsOf(web)).toMatchObject([{ result: { hits: 3 } }])
  const attempts = (await entriesOf(web)).flatMap(({ record }) => (record?.type === 'attempt' ? [record.crashes] : []))
  expect(attempts).toEqual([0, 0])
})

test('a body that runs at most once is not handed over: its worker waits for its end', async () => {
  const { world, web, callId } = await dispatched('atMostOnce')
  const stop = new AbortController()
  const began = Promise.withResolvers<void>()
  const end = Promise.withResolvers<object>()
  const leaving = world.open({
    tools: [search(() => noting(began, end.promise), { effect: 'atMostOnce' })],
  })
  const running = world.engine.run(leaving, where, callId, { signal: stop.signal })
  await began.promise
  stop.abort()
  end.resolve({ hits: 3 })
  expect(await running).toBe('done')
  for await (const _ of web.resume(where)) void _
  expect(await resultsOf(web)).toMatchObject([{ result: { hits: 3 } }])
})

test('a body that kills its processes is given up', async () => {
  const { world, web, callId } = await dispatched('none')
  for (let times = 0; times < 3; times++) {
    const stop = new AbortController()
    const began = Promise.withResolvers<void>()
    const dying = world.open({ tools: [search(() => noting(began, never))] })
    const running = world.engine.run(dying, where, callId, { signal: stop.signal })
    await began.promise
    stop.abort()
    await running
  }
  const worker = world.open({ tools: [search(mustNotRun)] })
  expect(await world.engine.run(worker, where, callId, { maxCrashes: 3 })).toBe('done')
  for await (const _ of web.resume(where)) void _
  expect(await resultsOf(web)).toEqual([
    {
      error: 'Tool "search" was not run again: 3 processes in a row have died while it ran.',
      errorCode: 'CANCELLED',
    },
  ])
})

test('the body gets the arguments that a callback and an approver have changed, on whatever worker', async () => {
  const world = openWorld({ sessionService: new InMemorySessionService() }, [CALL, 'Found.'])
  const queries: string[] = []
  const editable = (run: Body): Tool => confirm(search(run, { allowEditedArgs: true }))
  const worker = world.open({
    tools: [
      editable(({ query }) => {
        queries.push(query)
        return { hits: 3 }
      }),
    ],
  })
  world.engine.workers.push(worker)
  const web = world.open({
    tools: [editable(mustNotRun)],
    beforeTool: ({ args }) => (args.query === 'rent' ? { args: { query: 'rent!' } } : undefined),
  })
  const { pending } = await web.complete({ ...where, message: 'Search.' })
  expect(pending[0]?.args).toEqual({ query: 'rent!' })
  await web.complete({ ...where, message: pending.map((request) => approve(request, { args: { query: 'lease' } })) })
  await world.engine.idle()
  expect(queries).toEqual(['lease'])
  expect((await resultsOf(web)).at(-1)).toMatchObject({ status: 'completed' })
})

test.each<[string, Parameters<World['open']>[0], object]>([
  [
    'whose definition has changed since its approval',
    { tools: [confirm(search(mustNotRun, { effect: 'idempotent' }))] },
    { error: expect.stringContaining('must ask a person again, because its definition'), errorCode: 'CANCELLED' },
  ],
  [
    'that no longer exists',
    { tools: [] },
    { error: expect.stringContaining('Unknown tool "search"'), errorCode: 'NOT_FOUND' },
  ],
  [
    'that is an agent now',
    { tools: [agentTool(new LlmAgent({ name: 'search', description: 'Searches', model: scriptedModel(['No.']) }))] },
    { error: expect.stringContaining('it is an agent now'), errorCode: 'CANCELLED' },
  ],
  [
    'whose agent no longer exists',
    { name: 'clerk', tools: [search(mustNotRun)] },
    { error: expect.stringContaining('agent "desk" no longer exists'), errorCode: 'NOT_FOUND' },
  ],
])('a worker answers a call of a tool %s with an error', async (_, agent, expected) => {
  const world = openWorld({ sessionService: new InMemorySessionService() }, [CALL, 'Found.'])
  const web = world.open({ tools: [confirm(search(mustNotRun))] })
  const { pending } = await web.complete({ ...where, message: 'Search.' })
  await web.complete({ ...where, message: pending.map((request) => approve(request)) })
  const { id: callId } = await pendingCall(web)
  expect(await world.engine.run(world.open(agent), where, callId)).toBe('done')
  for await (const _ of web.resume(where)) void _
  expect((await resultsOf(web)).at(-1)).toEqual(expected)
})

test('an approved call runs on a worker whose tool has the same definition', async () => {
  const world = openWorld({ sessionService: new InMemorySessionService() }, [CALL, 'Found.'])
  const web = world.open({ tools: [confirm(search(mustNotRun))] })
  world.engine.workers.push(world.open({ tools: [confirm(search(() => ({ hits: 3 })))] }))
  const { pending } = await web.complete({ ...where, message: 'Search.' })
  await web.complete({ ...where, message: pending.map((request) => approve(request)) })
  await world.engine.idle()
  expect(await resultsOf(web)).toMatchObject([{ confirmed: true }, { result: { hits: 3 } }])
})

test('policies, callbacks and the formatter of the tool apply on the worker', async () => {
  const world = openWorld({ sessionService: new InMemorySessionService() }, [CALL, 'Found.'])
  let attempts = 0
  const flaky = search(() => {
    attempts++
    if (attempts === 1) throw new Error('Busy.')
    return { hits: 3 }
  })
  const formatter = {
    formatRunning: () => ({ wait: true }),
    formatResult: (_: unknown, { result }: BackgroundResult) => ({ found: result ?? null }),
    formatCancelled: () => ({}),
  }
  const worker = world.open({
    tools: [background(retry(flaky, { attempts: 2, delayMs: 1 }), { formatter })],
    afterTool: ({ result }) => ({ ...(result as object), checked: true }),
  })
  world.engine.workers.push(worker)
  const web = world.open({ tools: [search(mustNotRun)] })
  await web.complete({ ...where, message: 'Search.' })
  await world.engine.idle()
  expect(attempts).toBe(2)
  expect(await resultsOf(web)).toEqual([{ found: { hits: 3, checked: true } }])
})

test('a consumer of the run sees the progress of a body that another worker runs', async () => {
  const world = openWorld({ sessionService: new InMemorySessionService() }, [
    { calls: [{ name: 'search', args: { query: 'rent' } }, { name: 'read' }] },
    'Read.',
    'Found.',
  ])
  const seen = Promise.withResolvers<void>()
  const end = Promise.withResolvers<object>()
  const worker = world.open({
    tools: [
      search(async (_, context) => {
        context.progress({ pages: 1 })
        context.progress({ pages: 2 })
        return await end.promise
      }),
    ],
  })
  world.engine.workers.push(worker)
  const read = tool({
    name: 'read',
    description: 'Reads',
    effect: 'none',
    run: async () => {
      await seen.promise
      return { read: true }
    },
  })
  const web = world.open({ tools: [search(mustNotRun), read] })
  const partial: Event[] = []
  for await (const event of web.run({ ...where, message: 'Search, and read.' })) {
    if (!event.partial) continue
    partial.push(event)
    seen.resolve()
  }
  expect(
    partial.map(({ author, content, nodeInfo }) => [author, nodeInfo?.path, content?.parts[0]?.functionResponse]),
  ).toEqual([
    [
      'desk',
      'desk',
      { id: expect.any(String), name: 'search', response: { progress: { pages: 2 } }, willContinue: true },
    ],
  ])
  end.resolve({ hits: 3 })
  await world.engine.idle()
  expect((await resultsOf(web)).at(-1)).toMatchObject({ result: { hits: 3 } })
})

test('progress that nobody can see is not posted', async () => {
  const { world, web, callId } = await dispatched()
  const post = vi.spyOn(web.sessionService, 'post')
  const end = Promise.withResolvers<object>()
  const worker = world.open({
    tools: [
      search(async (_, context) => {
        context.progress({ pages: 1 })
        return await end.promise
      }),
    ],
  })
  const running = world.engine.run(worker, where, callId)
  const readLog = vi.spyOn(web.sessionService, 'readLog' as never)
  await vi.waitFor(() => expect(readLog).toHaveBeenCalledTimes(3), 10_000) // it watches the call
  end.resolve({ hits: 3 })
  await running
  expect(post.mock.calls.map(([, { type }]) => type)).toEqual(['result'])
})

test('a worker runs the body of a call that an agent inside an agent tool has made', async () => {
  const world = openWorld({ sessionService: new InMemorySessionService() }, [])
  const clerk = (body: Body): Tool =>
    agentTool(
      new LlmAgent({
        name: 'clerk',
        description: 'Searches',
        model: scriptedModel([CALL, 'It has 3.']),
        tools: [search(body)],
      }),
    )
  const desk = (body: Body) => ({
    model: scriptedModel([{ calls: [{ name: 'clerk', args: { request: 'Search.' } }] }, 'Found 3.']),
    tools: [clerk(body)],
  })
  const web = world.open(desk(mustNotRun))
  await web.complete({ ...where, message: 'Search.' })
  const pending = await web.pending(where)
  const call = pending.find(({ tool: name }) => name === 'search')
  expect(await world.engine.run(world.open(desk(() => ({ hits: 3 }))), where, call?.id ?? '')).toBe('done')
  for await (const _ of web.resume(where)) void _
  expect((await resultsOf(web))[0]).toMatchObject({ result: { hits: 3 } })
  expect((await web.sessionService.getSession(key))?.events.at(-1)?.content?.parts[0]?.text).toBe('Found 3.')
})

test('an agent tool in the background runs in the invocation of its session, and no engine is asked', async () => {
  const world = openWorld({ sessionService: new InMemorySessionService() }, [])
  const clerk = new LlmAgent({ name: 'clerk', description: 'Searches', model: scriptedModel(['It has 3.']) })
  const model = scriptedModel([{ calls: [{ name: 'clerk', args: { request: 'Search.' } }] }, 'Found 3.'])
  const web = world.open({ model, tools: [background(agentTool(clerk))] })
  const { text, pending } = await web.complete({ ...where, message: 'Search.' })
  expect([text, pending, world.engine.told]).toEqual(['Found 3.', [], []])
})

test('without an engine, the log of a background call is as before', async () => {
  const world = openWorld({ sessionService: new InMemorySessionService() }, [CALL, 'Found.'])
  const alone = world.open({ tools: [search(() => ({ hits: 3 }))] }, { engine: undefined })
  await alone.complete({ ...where, message: 'Search.' })
  await alone.internals.backgroundOf(where)
  const records = (await entriesOf(alone)).flatMap(({ record }) => record ?? [])
  expect(records).toEqual([
    {
      type: 'background',
      invocationId: expect.any(String),
      path: 'desk',
      calls: [{ id: expect.any(String), until: expect.any(Number) }],
    },
  ])
})
