import { InMemorySessionService, type ToolContext } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { bare, HandTimers, play, type Story, signalled, stage, type Told, tell } from './kit.ts'

/** Runs bodies one after another, each in a reply of its own. */
function inTurn(bodies: ((context: ToolContext) => unknown)[], story: Partial<Story> = {}): Promise<Told> {
  const tools = bodies.map((body, at) => bare(`step${at}`, (_, context) => body(context)))
  return play({ tools, steps: [...bodies.map((_, at) => ({ calls: [{ name: `step${at}` }] })), 'done'], ...story })
}

async function stored({ runner, sessionId }: Told): Promise<string> {
  return JSON.stringify(await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId }))
}

test('a body reads what was stored and what it wrote itself', async () => {
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

test('false, zero and empty text are values; null and undefined delete', async () => {
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

test('the delta rides on the response event', async () => {
  const { events } = await inTurn([
    ({ state }) => {
      state.set('a', { b: 1 })
      state.delete('c')
    },
  ])
  expect(events[1]?.content?.role).toBe('tool')
  expect(events[1]?.actions.stateDelta).toEqual({ a: { b: 1 }, c: null })
})

test('app: and user: values reach other sessions, plain ones do not', async () => {
  const sessionService = new InMemorySessionService()
  const write = bare('write', (_, { state }) => {
    for (const key of ['app:a', 'user:u', 's', 'temp:t']) state.set(key, key)
  })
  const read = bare('read', (_, { state }) => state.keys().sort())
  await play({ tools: [write], calls: [{ name: 'write' }], runner: { sessionService } })
  const { response, state } = await play({ tools: [read], calls: [{ name: 'read' }], runner: { sessionService } })
  expect(response.result).toEqual(['app:a', 'user:u'])
  expect(state).toEqual({ 'app:a': 'app:a', 'user:u': 'user:u' })
})

describe('temp: values', () => {
  test('are seen later in the run, and are neither stored nor in any event', async () => {
    const told = await inTurn([
      ({ state }) => {
        state.set('temp:token', 'canary-1')
        state.set('kept', true)
      },
      ({ state }) => [state.get('temp:token') === 'canary-1', state.has('temp:token'), state.keys().sort()],
      ({ state }) => state.delete('temp:token'),
      ({ state }) => [state.has('temp:token'), state.get('temp:token', 'none')],
    ])
    expect(told.responses[1]?.response.result).toEqual([true, true, ['kept', 'temp:token']])
    expect(told.responses[3]?.response.result).toEqual([false, 'none'])
    expect(told.events[1]?.actions).toEqual({ stateDelta: { kept: true } })
    expect(JSON.stringify(told.events)).not.toContain('canary-1')
    expect(await stored(told)).not.toContain('canary-1')
  })

  test('given with the message too', async () => {
    const told = await inTurn([({ state }) => state.get('temp:token') === 'canary-2'], {
      stateDelta: { 'temp:token': 'canary-2' },
    })
    expect(told.response).toEqual({ result: true })
    expect(await stored(told)).not.toContain('canary-2')
  })

  test('are gone in the next run', async () => {
    const tools = [
      bare('write', (_, { state }) => state.set('temp:t', 1)),
      bare('read', (_, { state }) => [state.get('temp:t', 'gone'), state.keys()]),
    ]
    const steps = [{ calls: [{ name: 'write' }] }, 'one', { calls: [{ name: 'read' }] }, 'two']
    const { runner, model } = stage({ tools, steps })
    const { sessionId } = await tell(runner, model)
    const { response } = await tell(runner, model, { sessionId })
    expect(response.result).toEqual(['gone', []])
  })
})

describe('objects in state are copies', () => {
  test('changing one that was read changes nothing', async () => {
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

  test('changing one that was written changes nothing', async () => {
    const cart = { items: ['tea'] }
    const told = await inTurn([
      ({ state }) => {
        state.set('cart', cart)
        cart.items.push('gold')
        return state.get('cart')
      },
    ])
    cart.items.push('more gold')
    expect(told.response).toEqual({ items: ['tea'] })
    expect(told.state).toEqual({ cart: { items: ['tea'] } })
    expect(told.events[1]?.actions.stateDelta).toEqual({ cart: { items: ['tea'] } })
  })

  test('a delta written through actions is a copy too, and plain JSON', async () => {
    const given = { when: new Date(0), items: ['tea'] }
    const told = await inTurn([
      ({ actions }) => {
        actions.stateDelta = { given }
      },
    ])
    given.items.push('gold')
    expect(told.events[1]?.actions.stateDelta).toEqual({ given: { when: '1970-01-01T00:00:00.000Z', items: ['tea'] } })
  })

  test('what JSON cannot hold is stored as JSON', async () => {
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

describe('a call that fails changes no state', () => {
  test('when it throws after writing', async () => {
    const told = await inTurn([
      (context) => {
        context.state.set('paid', true)
        context.state.set('temp:paid', true)
        context.actions.escalate = true
        throw new Error('card declined')
      },
      ({ state }) => [state.has('paid'), state.has('temp:paid')],
    ])
    expect(told.responses[1]?.response.result).toEqual([false, false])
    expect(told.state).toEqual({})
    expect(told.events[1]?.actions).toEqual({})
    expect(told.text).toBe('done')
  })

  test('when it timed out, nor does what it writes afterwards', async () => {
    const timers = new HandTimers()
    const late = signalled()
    const wrote = signalled<string>()
    const slow = bare('slow', async (_, { state }) => {
      state.set('early', true)
      await late.promise
      state.set('late', true)
      wrote.resolve('wrote')
      return 'too late'
    })
    const after = bare('after', async (_, { state }) => {
      late.resolve()
      await wrote.promise
      return state.keys()
    })
    const steps = [{ calls: [{ name: 'slow' }] }, { calls: [{ name: 'after' }] }, 'done']
    const playing = play({ tools: [slow, after], steps, runner: { ports: timers.ports, toolTimeoutMs: 77 } })
    await timers.fire(77)
    const told = await playing
    expect(told.response).toEqual({ error: 'slow timed out after 77 ms', errorCode: 'TIMEOUT' })
    expect(told.responses).toHaveLength(2)
    expect(told.responses[1]?.response.result).toEqual([])
    expect(told.state).toEqual({})
  })
})

test('deltas of one reply are merged in call order, whoever was faster', async () => {
  const first = signalled()
  const tools = [
    bare('slow', async (_, { state }) => {
      await first.promise
      state.set('who', 'slow')
      state.set('slow', 1)
    }),
    bare('fast', (_, { state }) => {
      state.set('who', 'fast')
      state.set('fast', 1)
      first.resolve()
    }),
  ]
  const there = await play({ tools, calls: [{ name: 'slow' }, { name: 'fast' }] })
  expect(there.state).toEqual({ who: 'fast', slow: 1, fast: 1 })
  const back = await play({ tools, calls: [{ name: 'fast' }, { name: 'slow' }] })
  expect(back.state).toEqual({ who: 'slow', slow: 1, fast: 1 })
})
