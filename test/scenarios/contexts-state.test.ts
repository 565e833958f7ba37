import { InMemorySessionService, type ToolContext } from 'toolwright'
import { describe, expect, test } from 'vitest'
import {
  createDeferred,
  createScenario,
  ManualTimers,
  plainTool,
  runMessage,
  runScenario,
  type Scenario,
  type ScenarioResult,
} from './kit.ts'

/** Runs bodies one after another, each in its own reply. */
function inTurn(bodies: ((context: ToolContext) => unknown)[], story: Partial<Scenario> = {}): Promise<ScenarioResult> {
  const tools = bodies.map((body, at) => plainTool(`step${at}`, (_, context) => body(context)))
  return runScenario({
    tools,
    steps: [...bodies.map((_, at) => ({ calls: [{ name: `step${at}` }] })), 'done'],
    ...story,
  })
}

async function stored({ runner, sessionId }: ScenarioResult): Promise<string> {
  return JSON.stringify(await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId }))
}

test('a body reads stored state and its own writes', async () => {
  const { responses, state } = await inTurn(
    [
      ({ state }) => {
        state.set('a', 1)
        state.delete('old')
        return [state.get('a'), state.has('old'), state.keys().sort(), state.get('old', 'gone')]
      },
      ({ state }) => [state.get('a'), state.has('old'), state.keys().sort()],
    ],
    { stateDelta: { old: true, other: 'x' } },
  )
  expect(responses[0]?.response.result).toEqual([1, false, ['a', 'other'], 'gone'])
  expect(responses[1]?.response.result).toEqual([1, false, ['a', 'other']])
  expect(state).toEqual({ a: 1, other: 'x' })
})

test('state stores false, zero and empty text, and null and undefined delete a key', async () => {
  const { responses, state } = await inTurn([
    ({ state }) => {
      state.set('f', false)
      state.set('z', 0)
      state.set('e', '')
      state.set('n', null)
      state.set('u', undefined)
    },
    ({ state }) => ['f', 'z', 'e', 'n', 'u'].map((key) => [state.has(key), state.get(key, 'fallback')]),
  ])
  expect(responses[1]?.response.result).toEqual([
    [true, false],
    [true, 0],
    [true, ''],
    [false, 'fallback'],
    [false, 'fallback'],
  ])
  expect(state).toEqual({ f: false, z: 0, e: '' })
})

test('state writes are on the response event', async () => {
  const { events } = await inTurn([
    ({ state }) => {
      state.set('a', { b: 1 })
      state.delete('c')
    },
  ])
  expect(events[1]?.content?.role).toBe('tool')
  expect(events[1]?.actions.stateDelta).toEqual({ a: { b: 1 }, c: null })
})

test('app: and user: state is shared with other sessions, and plain state is not', async () => {
  const sessionService = new InMemorySessionService()
  const write = plainTool('write', (_, { state }) => {
    for (const key of ['app:a', 'user:u', 's', 'temp:t']) state.set(key, key)
  })
  const read = plainTool('read', (_, { state }) => state.keys().sort())
  await runScenario({ tools: [write], calls: [{ name: 'write' }], runner: { sessionService } })
  const { response, state } = await runScenario({
    tools: [read],
    calls: [{ name: 'read' }],
    runner: { sessionService },
  })
  expect(response.result).toEqual(['app:a', 'user:u'])
  expect(state).toEqual({ 'app:a': 'app:a', 'user:u': 'user:u' })
})

describe('temp: state', () => {
  test('is visible later in the run, and is neither stored nor in any event', async () => {
    const result = await inTurn([
      ({ state }) => {
        state.set('temp:token', 'canary-1')
        state.set('kept', true)
      },
      ({ state }) => [state.get('temp:token') === 'canary-1', state.has('temp:token'), state.keys().sort()],
      ({ state }) => state.delete('temp:token'),
      ({ state }) => [state.has('temp:token'), state.get('temp:token', 'none')],
    ])
    expect(result.responses[1]?.response.result).toEqual([true, true, ['kept', 'temp:token']])
    expect(result.responses[3]?.response.result).toEqual([false, 'none'])
    expect(result.events[1]?.actions).toEqual({ stateDelta: { kept: true } })
    expect(JSON.stringify(result.events)).not.toContain('canary-1')
    expect(await stored(result)).not.toContain('canary-1')
  })

  test('can be set by stateDelta of the message and is not stored', async () => {
    const result = await inTurn([({ state }) => state.get('temp:token') === 'canary-2'], {
      stateDelta: { 'temp:token': 'canary-2' },
    })
    expect(result.response).toEqual({ result: true })
    expect(await stored(result)).not.toContain('canary-2')
  })

  test('is gone in the next run', async () => {
    const tools = [
      plainTool('write', (_, { state }) => state.set('temp:t', 1)),
      plainTool('read', (_, { state }) => [state.get('temp:t', 'gone'), state.keys()]),
    ]
    const steps = [{ calls: [{ name: 'write' }] }, 'one', { calls: [{ name: 'read' }] }, 'two']
    const { runner, model } = createScenario({ tools, steps })
    const { sessionId } = await runMessage(runner, model)
    const { response } = await runMessage(runner, model, { sessionId })
    expect(response.result).toEqual(['gone', []])
  })
})

describe('copies of state values', () => {
  test('ignore changes to a value that was read', async () => {
    const { responses, state } = await inTurn(
      [
        ({ state }) => {
          state.get<{ items: string[] }>('cart')?.items.push('gold')
          return state.get('cart')
        },
        ({ state }) => state.get('cart'),
      ],
      { stateDelta: { cart: { items: ['tea'] } } },
    )
    expect(responses.map(({ response }) => response)).toEqual([{ items: ['tea'] }, { items: ['tea'] }])
    expect(state).toEqual({ cart: { items: ['tea'] } })
  })

  test('ignore changes to a value that was written', async () => {
    const cart = { items: ['tea'] }
    const result = await inTurn([
      ({ state }) => {
        state.set('cart', cart)
        cart.items.push('gold')
        return state.get('cart')
      },
    ])
    cart.items.push('more gold')
    expect(result.response).toEqual({ items: ['tea'] })
    expect(result.state).toEqual({ cart: { items: ['tea'] } })
    expect(result.events[1]?.actions.stateDelta).toEqual({ cart: { items: ['tea'] } })
  })

  test('are made as plain JSON from a delta written through actions', async () => {
    const given = { when: new Date(0), items: ['tea'] }
    const result = await inTurn([
      ({ actions }) => {
        actions.stateDelta = { given }
      },
    ])
    given.items.push('gold')
    expect(result.events[1]?.actions.stateDelta).toEqual({
      given: { when: '1970-01-01T00:00:00.000Z', items: ['tea'] },
    })
  })

  test('replace values that JSON cannot hold', async () => {
    const loop: { self?: unknown } = {}
    loop.self = loop
    const { state } = await inTurn([
      ({ state }) => {
        state.set('when', new Date(0))
        state.set('big', 10n)
        state.set('loop', loop)
        state.set('__proto__', { admin: true })
      },
    ])
    expect(state).toMatchObject({ when: '1970-01-01T00:00:00.000Z', big: '10', loop: { self: '[circular]' } })
    expect(Object.getOwnPropertyNames(state)).toContain('__proto__')
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })
})

describe('state of a failed call', () => {
  test('is dropped when the body throws', async () => {
    const result = await inTurn([
      (context) => {
        context.state.set('paid', true)
        context.state.set('temp:paid', true)
        context.actions.escalate = true
        throw new Error('card declined')
      },
      ({ state }) => [state.has('paid'), state.has('temp:paid')],
    ])
    expect(result.responses[1]?.response.result).toEqual([false, false])
    expect(result.state).toEqual({})
    expect(result.events[1]?.actions).toEqual({})
    expect(result.text).toBe('done')
  })

  test('is dropped after a timeout, including late writes', async () => {
    const timers = new ManualTimers()
    const late = createDeferred()
    const wrote = createDeferred<string>()
    const slow = plainTool('slow', async (_, { state }) => {
      state.set('early', true)
      await late.promise
      state.set('late', true)
      wrote.resolve('wrote')
      return 'too late'
    })
    const after = plainTool('after', async (_, { state }) => {
      late.resolve()
      await wrote.promise
      return state.keys()
    })
    const steps = [{ calls: [{ name: 'slow' }] }, { calls: [{ name: 'after' }] }, 'done']
    const playing = runScenario({ tools: [slow, after], steps, runner: { ports: timers.ports, toolTimeoutMs: 77 } })
    await timers.fire(77)
    const result = await playing
    expect(result.response).toEqual({
      error: 'Tool "slow" timed out after 77 ms. Raise timeoutMs or make the tool long-running.',
      errorCode: 'TIMEOUT',
    })
    expect(result.responses).toHaveLength(2)
    expect(result.responses[1]?.response.result).toEqual([])
    expect(result.state).toEqual({})
  })
})

test('state deltas of a batch are merged in call order, regardless of timing', async () => {
  const first = createDeferred()
  const tools = [
    plainTool('slow', async (_, { state }) => {
      await first.promise
      state.set('who', 'slow')
      state.set('slow', 1)
    }),
    plainTool('fast', (_, { state }) => {
      state.set('who', 'fast')
      state.set('fast', 1)
      first.resolve()
    }),
  ]
  const there = await runScenario({ tools, calls: [{ name: 'slow' }, { name: 'fast' }] })
  expect(there.state).toEqual({ who: 'fast', slow: 1, fast: 1 })
  const back = await runScenario({ tools, calls: [{ name: 'fast' }, { name: 'slow' }] })
  expect(back.state).toEqual({ who: 'slow', slow: 1, fast: 1 })
})
