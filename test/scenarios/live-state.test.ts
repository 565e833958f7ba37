// State in a live session: watchers, computed values, phases and patterns see every change, also of other processes.
import { agentTool, type JsonObject, LlmAgent } from 'toolwright'
import {
  becameFalse,
  becameTrue,
  changed,
  changedTo,
  crossedAbove,
  crossedBelow,
  equals,
  isSet,
  isTrue,
  type LivePhase,
  type LiveSession,
} from 'toolwright/live'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { plainTool, waitUntil } from './kit.ts'
import {
  callTool,
  flushed,
  liveRunner,
  nextResponse,
  startStrict,
  startWithCapabilities,
  storedEvents,
} from './live-calls-kit.ts'
import { startLive } from './live-kit.ts'

const setKey = plainTool('set', (args: JsonObject, { state }) => state.set(String(args.key), args.value ?? null))

/** A watcher that keeps what it saw. */
function watched(key: string, on = changed()) {
  const seen: [unknown, unknown][] = []
  return {
    seen,
    watcher: { key, on, run: (run: { before: unknown; after: unknown }) => void seen.push([run.before, run.after]) },
  }
}

describe('a watcher of a live session', () => {
  test('sees changes by tools, hooks and the app, in order', async () => {
    const { seen, watcher } = watched('n')
    const { runner } = liveRunner([setKey])
    const { session, connection } = await startStrict({
      runner,
      userId: 'ada',
      state: { n: 0 },
      watchers: [watcher],
      onToolCall: ({ state }) => void state.set('n', 1),
      beforeToolResponse: ({ responses, state }) => {
        state.set('n', 3)
        return responses
      },
    })
    await callTool(connection, 'set', { key: 'n', value: 2 }) // the response has the writes of the tool and of its hook
    session.state.set('n', 4)
    await waitUntil(() => seen.length === 3)
    session.state.delete('n')
    await waitUntil(() => seen.length === 4)
    expect(seen).toEqual([
      [0, 1],
      [1, 3],
      [3, 4],
      [4, undefined],
    ])
  })

  test('is shown when it runs, as is a pattern: by name, without values', async () => {
    const { watcher } = watched('n')
    const pattern = { name: 'has n', turns: { when: isSet('n'), count: 1 }, run: () => {} }
    const { session, connection, event, events } = await startStrict({ watchers: [watcher], patterns: [pattern] })
    session.state.set('n', 1)
    connection.turnComplete()
    for (let at = 0; at < 2; at++) await event('hook')
    expect(events.filter(({ type }) => type === 'hook')).toEqual([
      { type: 'hook', hook: 'watcher', name: 'n' },
      { type: 'hook', hook: 'pattern', name: 'has n' },
    ])
  })

  test('sees changes by another process', async () => {
    const { seen, watcher } = watched('price')
    let now = 0
    const { runner } = liveRunner([], { ports: { monotonicNow: () => now } })
    const { session } = await startStrict({ runner, userId: 'ada', watchers: [watcher] })
    const key = { appName: 'app', userId: 'ada', sessionId: session.sessionId }
    await session.send('one')
    await runner.sessionService.post(key, { id: 'i1', type: 'state', stateDelta: { price: 5 } })
    now = 1_000 // the inbox is read at most every 500 ms
    await session.send('two')
    await waitUntil(() => seen.length > 0)
    expect(seen).toEqual([[undefined, 5]])
  })

  test('sees changes by an agent tool, and temporary values', async () => {
    const [one, temp] = [watched('found'), watched('temp:draft')]
    const model = scriptedModel([{ calls: [{ name: 'set', args: { key: 'found', value: 7 } }] }, 'done'])
    const agent = agentTool(new LlmAgent({ name: 'research', description: 'Finds', model, tools: [setKey] }))
    const { connection } = await startStrict({ tools: [agent, setKey], watchers: [one.watcher, temp.watcher] })
    await callTool(connection, 'research', { request: 'go' })
    await callTool(connection, 'set', { key: 'temp:draft', value: 'x' })
    await waitUntil(() => temp.seen.length > 0)
    expect([one.seen, temp.seen]).toEqual([[[undefined, 7]], [[undefined, 'x']]])
  })

  test('runs for its condition only, and for computed values', async () => {
    const kinds = {
      above: watched('n', crossedAbove(5)),
      below: watched('n', crossedBelow(5)),
      to: watched('n', changedTo(9)),
      yes: watched('ok', becameTrue()),
      no: watched('ok', becameFalse()),
      sum: watched('derived:double', changed()),
    }
    const { session } = await startStrict({
      state: { n: 0, ok: false },
      watchers: Object.values(kinds).map(({ watcher }) => watcher),
      computed: [{ key: 'double', from: ['n'], compute: (state) => state.get('n', 0) * 2 }],
    })
    for (const n of [4, 5, 9, 3]) {
      session.state.set('n', n)
      await waitUntil(() => kinds.sum.seen.at(-1)?.[1] === n * 2)
    }
    session.state.set('ok', true)
    await waitUntil(() => kinds.yes.seen.length > 0)
    session.state.set('ok', false)
    await waitUntil(() => kinds.no.seen.length > 0)
    expect([kinds.above.seen, kinds.below.seen, kinds.to.seen]).toEqual([[[4, 5]], [[9, 3]], [[5, 9]]])
    expect(kinds.sum.seen).toEqual([
      [0, 8],
      [8, 10],
      [10, 18],
      [18, 6],
    ])
    expect(session.state.get('derived:double')).toBe(6)
    expect(() => session.state.set('derived:double', 1)).toThrow('is a computed value and cannot be set')
  })

  test('that throws is reported, and the others run', async () => {
    const { seen, watcher } = watched('n')
    const { runner } = liveRunner([])
    const broken = {
      key: 'n',
      on: changed(),
      run: () => {
        throw new Error('broken')
      },
    }
    const { session, event } = await startStrict({ runner, watchers: [broken, watcher] })
    session.state.set('n', 1)
    expect(await event('error')).toMatchObject({ errorCode: 'HOOK_FAILED', message: expect.stringContaining('broken') })
    await waitUntil(() => seen.length === 1)
  })
})

describe('the state of a live session', () => {
  test('shows writes at once and records them together', async () => {
    const { runner } = liveRunner([])
    const { session } = await startStrict({ runner, userId: 'ada' })
    session.state.set('a', 1)
    session.state.set('b', { c: [2] })
    session.state.set('user:tier', 'gold')
    expect([session.state.get('a'), session.state.has('b'), session.state.keys().sort()]).toEqual([
      1,
      true,
      ['a', 'b', 'user:tier'],
    ])
    await session.close()
    const deltas = (await storedEvents(runner, session)).flatMap(({ actions }) => actions.stateDelta ?? [])
    expect(deltas).toEqual([{ a: 1, b: { c: [2] }, 'user:tier': 'gold' }])
  })

  test('refuses writes after the end', async () => {
    const { session } = await startStrict()
    await session.close()
    expect(() => session.state.set('a', 1)).toThrow('"a" cannot be set: the live session is closed.')
  })
})

const greet: LivePhase<LiveSession> = {
  name: 'greet',
  instruction: 'Greet the caller.',
  tools: ['set'],
  transitions: [{ to: 'pay', when: isTrue('verified') }],
  needs: ['name'],
}
const pay: LivePhase<LiveSession> = {
  name: 'pay',
  instruction: (state) => `Help ${state.get('name', 'the caller')} pay.`,
  tools: ['charge'],
  guard: isSet('name'),
}
const charge = plainTool('charge', () => ({ charged: true }))
const textOf = (instruction: unknown): string => JSON.stringify(instruction)
const namesIn = (tools: unknown): string[] =>
  (tools as { functionDeclarations: { name: string }[] }[]).flatMap((one) =>
    one.functionDeclarations.map(({ name }) => name),
  )

describe('phases', () => {
  test('set the instruction and the tools, first in the setup, then as updates before the response', async () => {
    const { session, connection, event } = await startStrict({
      tools: [setKey, charge],
      instruction: 'Be brief.',
      phases: [greet, pay],
      initialPhase: 'greet',
    })
    expect(textOf(connection.setup?.systemInstruction)).toContain(
      'Be brief.\\n\\nGreet the caller.\\n\\nStill needed: name.',
    )
    expect(namesIn(connection.setup?.tools)).toEqual(['set'])
    expect(await callTool(connection, 'charge', {}, 'c0')).toEqual({
      error: "Tool 'charge' is not available in the current conversation phase.",
    })
    await callTool(connection, 'set', { key: 'verified', value: true }, 'c1')
    expect(session.phase).toBe('greet') // the guard of the next phase does not hold yet
    connection.call([{ id: 'c2', name: 'set', args: { key: 'name', value: 'Ada' } }])
    await nextResponse(connection)
    const keys = connection.received.map((message) => Object.keys(message)[0])
    expect(keys.lastIndexOf('contextUpdate')).toBeLessThan(keys.lastIndexOf('toolResponse'))
    const updates = connection.received.flatMap(({ contextUpdate }) =>
      contextUpdate ? [contextUpdate as JsonObject] : [],
    )
    expect(textOf(updates.at(-1)?.systemInstruction)).toContain('Be brief.\\n\\nHelp Ada pay.')
    expect(namesIn((updates.at(-1) as { tools: JsonObject }).tools.tools)).toEqual(['charge'])
    expect(await event('phase')).toMatchObject({ from: 'greet', to: 'pay' })
    expect(session.phaseHistory).toMatchObject([{ from: 'greet', to: 'pay', trigger: 'condition' }])
    expect(await callTool(connection, 'charge', {}, 'c3')).toEqual({ charged: true })
  })

  test('run their hooks, whose writes are recorded, and follow transitions to the end', async () => {
    const log: string[] = []
    const hooks = (name: string) => ({
      onEnter: ({ from, state }: { from: string | undefined; state: { set(key: string, value: unknown): void } }) => {
        log.push(`enter ${name} from ${from}`)
        state.set(`entered_${name}`, true)
      },
      onExit: ({ to }: { to: string }) => void log.push(`exit ${name} to ${to}`),
    })
    const { session, connection } = await startStrict({
      tools: [setKey],
      phases: [
        { name: 'a', instruction: 'A.', transitions: [{ to: 'b', when: equals('go', 1) }], ...hooks('a') },
        { name: 'b', instruction: 'B.', transitions: [{ to: 'c', when: isTrue('entered_b') }], ...hooks('b') },
        { name: 'c', instruction: 'C.', terminal: true, ...hooks('c') },
      ],
      initialPhase: 'a',
    })
    await callTool(connection, 'set', { key: 'go', value: 1 })
    expect(session.phase).toBe('c')
    expect(log).toEqual(['enter a from undefined', 'exit a to b', 'enter b from a', 'exit b to c', 'enter c from b'])
    expect(session.state.get('entered_c')).toBe(true)
    await session.enterPhase('a')
    expect([session.phase, session.phaseHistory.at(-1)?.trigger]).toEqual(['b', 'condition'])
  })

  test('are entered at once if the state of an earlier session meets their conditions', async () => {
    const { session, connection } = await startStrict({
      tools: [setKey, charge],
      state: { verified: true, name: 'Ada' },
      phases: [greet, pay],
      initialPhase: 'greet',
    })
    expect(session.phase).toBe('pay')
    expect(namesIn(connection.setup?.tools)).toEqual(['charge'])
    await flushed(session, connection)
    expect(connection.received.map((message) => Object.keys(message)[0])).toEqual(['setup', 'realtimeInput'])
  })

  test('of a model that cannot be updated reach it as a message, and calls of other tools are refused', async () => {
    const { connection } = await startWithCapabilities(
      { updates: false },
      {
        tools: [setKey, charge],
        phases: [greet, pay],
        initialPhase: 'greet',
      },
    )
    expect(namesIn(connection.setup?.tools)).toEqual(['set', 'charge'])
    await callTool(connection, 'set', { key: 'name', value: 'Ada' }, 'c1')
    await callTool(connection, 'set', { key: 'verified', value: true }, 'c2')
    const { clientContent } = (await connection.next('clientContent')) as { clientContent: JsonObject }
    expect(clientContent.turnComplete).toBe(false)
    expect(await callTool(connection, 'set', {}, 'c3')).toMatchObject({
      error: expect.stringContaining('not available'),
    })
  })

  test.each<[string, readonly LivePhase<LiveSession>[], string | undefined, string]>([
    ['an unknown tool', [{ ...pay, tools: ['chrage'] }], 'pay', 'Did you mean "charge"?'],
    ['an unknown target', [greet], 'greet', 'which is not a phase'],
    ['no initial phase', [greet, pay], undefined, 'initialPhase is required'],
  ])('with %s are refused before anything connects', async (_, phases, initialPhase, problem) => {
    const onConnection = vi.fn()
    const options = { tools: [setKey, charge], phases, initialPhase, server: { onConnection } }
    await expect(startLive(options)).rejects.toThrow(problem)
    expect(onConnection).not.toHaveBeenCalled()
  })

  test('of computed values with a cycle are refused before anything connects', async () => {
    const onConnection = vi.fn()
    const compute = () => 1
    const computed = [
      { key: 'a', from: ['derived:b'], compute },
      { key: 'b', from: ['derived:a'], compute },
    ]
    await expect(startLive({ computed, server: { onConnection } })).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
    expect(onConnection).not.toHaveBeenCalled()
  })
})

test('patterns fire once while they hold, and again after a break', async () => {
  const fired: string[] = []
  const { session, connection, event } = await startStrict({
    patterns: [
      { name: 'stuck', turns: { when: isTrue('stuck'), count: 2 }, run: () => void fired.push('stuck') },
      { name: 'sad', sustained: { when: isTrue('sad'), ms: 20 }, run: ({ state }) => void state.set('helped', true) },
      {
        name: 'calls',
        rate: { of: 'interrupted', count: 2, perMs: 60_000 },
        run: () => void fired.push('interrupted'),
      },
    ],
  })
  const turn = async (stuck: boolean) => {
    session.state.set('stuck', stuck)
    connection.turnComplete()
    await event('turnComplete')
  }
  for (const stuck of [true, true, true, true, false, true, true]) await turn(stuck)
  expect(fired).toEqual(['stuck', 'stuck'])
  session.state.set('sad', true)
  await waitUntil(() => session.state.has('helped'))
  for (let at = 0; at < 4; at++) connection.interrupted()
  for (let at = 0; at < 4; at++) await event('interrupted')
  expect(fired).toEqual(['stuck', 'stuck', 'interrupted'])
})
