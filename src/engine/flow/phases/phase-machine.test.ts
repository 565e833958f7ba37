import { describe, expect, test } from 'vitest'
import { stateOf, thrownBy } from '../state/state.test-kit.ts'
import { equals, isTrue } from './conditions.ts'
import type { LivePhase } from './live-phase.ts'
import { always, createMachine, never, phase } from './phase-machine.test-kit.ts'
import { PhaseMachine } from './phase-machine.ts'

const throws = (): boolean => {
  throw new Error('broken')
}
const promises = (async () => true) as unknown as () => boolean

describe('the tools of a phase', () => {
  test.each([
    ['all without a list', undefined, true, true],
    ['the listed ones', ['charge'], true, false],
    ['none with an empty list', [], false, false],
  ])('are %s', (_, tools, charge, refund) => {
    const { machine } = createMachine([{ ...phase('a'), tools }])
    expect([machine.isToolAllowed('charge'), machine.isToolAllowed('refund')]).toEqual([charge, refund])
    expect(machine.allowedTools()).toEqual(tools && new Set(tools))
  })
  test('change when the phase changes', async () => {
    const { machine, move } = createMachine([
      { ...phase('a'), tools: ['x'] },
      { ...phase('b'), tools: ['y'] },
    ])
    await machine.enter('b', move)
    expect([machine.isToolAllowed('x'), machine.isToolAllowed('y')]).toEqual([false, true])
  })
  test('are named in the text that the model gets for another tool', () => {
    const { machine } = createMachine([phase('a')])
    expect(machine.rejectionText('refund')).toBe("Tool 'refund' is not available in the current conversation phase.")
  })
})

describe('the transition that applies', () => {
  test('is the first in order whose condition holds', () => {
    const { machine } = createMachine([
      phase('a', { b: never, c: always, d: always }),
      phase('b'),
      phase('c'),
      phase('d'),
    ])
    expect(machine.findTransition(stateOf())?.name).toBe('c')
  })
  test('reads the state', () => {
    const start: LivePhase = { ...phase('a'), transitions: [{ to: 'b', when: isTrue('verified') }] }
    const { machine } = createMachine([start, phase('b')])
    expect(machine.findTransition(stateOf({ verified: 'true' }))).toBeUndefined()
    expect(machine.findTransition(stateOf({ verified: true }))?.name).toBe('b')
  })
  test('skips a phase whose guard does not hold', () => {
    const { machine } = createMachine([
      phase('a', { b: always, c: always }),
      { ...phase('b'), guard: never },
      phase('c'),
    ])
    expect(machine.findTransition(stateOf())?.name).toBe('c')
  })
  test('enters a phase whose guard holds', () => {
    const guarded = { ...phase('b'), guard: equals('tier', 'gold') }
    const { machine } = createMachine([phase('a', { b: always }), guarded])
    expect(machine.findTransition(stateOf({ tier: 'silver' }))).toBeUndefined()
    expect(machine.findTransition(stateOf({ tier: 'gold' }))?.name).toBe('b')
  })
  test.each([
    ['throws', throws],
    ['returns a promise', promises],
  ])('skips a condition that %s, and reports it', (_, when) => {
    const { machine, problems } = createMachine([phase('a', { b: when, c: always }), phase('b'), phase('c')])
    expect(machine.findTransition(stateOf())?.name).toBe('c')
    expect(problems).toEqual(['The condition from phase "a" to "b" failed and counts as false.'])
  })
  test.each([
    ['throws', throws],
    ['returns a promise', promises],
  ])('skips a guard that %s, and reports it', (_, guard) => {
    const { machine, problems } = createMachine([
      phase('a', { b: always, c: always }),
      { ...phase('b'), guard },
      phase('c'),
    ])
    expect(machine.findTransition(stateOf())?.name).toBe('c')
    expect(problems).toEqual(['The guard of phase "b" failed and counts as false.'])
  })
  test('does not exist in a terminal phase, which the program can still leave', async () => {
    const { machine, move } = createMachine([{ ...phase('end'), terminal: true }, phase('b')])
    expect(await machine.settle(stateOf(), move)).toEqual([])
    await machine.enter('b', move)
    expect(machine.current.name).toBe('b')
  })
})

describe('a session in phases', () => {
  test('runs onEnter of its first phase once, and has its instruction', async () => {
    const { machine, move, log } = createMachine([phase('a')])
    await machine.start(move)
    await machine.start(move)
    expect(log).toEqual(['enter a from undefined'])
    expect(await machine.instruction(stateOf())).toBe('Do a.')
    expect(machine.history).toEqual([])
  })
  test('does not run onEnter of its first phase after it has left it', async () => {
    const { machine, move, log } = createMachine([phase('a'), phase('b')])
    await machine.enter('b', move)
    await machine.start(move)
    expect(log).toEqual(['exit a to b', 'enter b from a'])
  })
  test('runs onExit in the old phase, then moves, then runs onEnter in the new phase', async () => {
    const seen: string[] = []
    const { machine, move } = createMachine([
      {
        ...phase('a'),
        onExit: async ({ to }) => {
          await Promise.resolve()
          seen.push(`exit to ${to} in ${machine.current.name}`)
        },
      },
      { ...phase('b'), onEnter: ({ from }) => seen.push(`enter from ${from} in ${machine.current.name}`) },
    ])
    await machine.enter('b', move)
    expect(seen).toEqual(['exit to b in a', 'enter from a in b'])
  })
  test('gives the hooks its state and itself', async () => {
    const { machine, move } = createMachine([
      phase('a'),
      {
        ...phase('b'),
        onEnter: ({ state, session }) => {
          state.set('entered', session === move.session)
        },
      },
    ])
    await machine.enter('b', move)
    expect(move.state.get('entered')).toBe(true)
  })
  test('records a move of the program', async () => {
    const { machine, move } = createMachine([phase('a'), phase('b')])
    const change = await machine.enter('b', move)
    expect(change).toEqual({ from: 'a', to: 'b', at: 5_000, turn: 3, trigger: 'program' })
    expect(machine.history).toEqual([change])
  })
  test('does nothing when the program enters the current phase', async () => {
    const { machine, move, log } = createMachine([phase('a')])
    expect(await machine.enter('a', move)).toBeUndefined()
    expect([log, machine.history]).toEqual([[], []])
  })
  test('enters a phase for the program even if its guard does not hold', async () => {
    const { machine, move } = createMachine([phase('a'), { ...phase('b'), guard: never }])
    await machine.enter('b', move)
    expect(machine.current.name).toBe('b')
  })
  test('refuses an unknown phase, names a similar one, and can move afterwards', async () => {
    const { machine, move } = createMachine([phase('greeting'), phase('payment')])
    await expect(machine.enter('paymnt', move)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: '"paymnt" is not a phase. Did you mean "payment"?',
    })
    await machine.enter('payment', move)
    expect(machine.current.name).toBe('payment')
  })
  test.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('broken')
      },
    ],
  ])('moves and reports if each hook of the move %s', async (_, hook) => {
    const { machine, move, problems } = createMachine([
      { ...phase('a'), onExit: hook },
      { ...phase('b'), onEnter: hook },
    ])
    expect(await machine.enter('b', move)).toMatchObject({ to: 'b' })
    expect(machine.current.name).toBe('b')
    expect(problems).toEqual([
      expect.stringContaining('The onExit of phase "a" failed.'),
      expect.stringContaining('The onEnter of phase "b" failed.'),
    ])
  })
  test('moves one after the other if moves are started at once', async () => {
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const { machine, move, log } = createMachine([
      { ...phase('a', { c: always }), onExit: () => held },
      phase('b'),
      phase('c'),
    ])
    const moves = [machine.enter('b', move), machine.settle(stateOf(), move), machine.enter('c', move)]
    await new Promise(setImmediate)
    expect([machine.current.name, log]).toEqual(['a', []])
    release()
    await Promise.all(moves)
    expect(log).toEqual(['enter b from a', 'exit b to c', 'enter c from b'])
  })
  test('keeps the latest 100 moves', async () => {
    const { machine, move } = createMachine([phase('a'), phase('b')])
    for (let turn = 1; turn <= 105; turn++) await machine.enter(turn % 2 ? 'b' : 'a', { ...move, turn })
    expect(machine.history).toHaveLength(100)
    expect([machine.history[0]?.turn, machine.history.at(-1)?.turn]).toEqual([6, 105])
  })
  test('is refused without valid phases', () => {
    const error = thrownBy(
      () => new PhaseMachine({ phases: [phase('a')], initialPhase: 'x', now: () => 0, report: () => {} }),
    )
    expect(error).toMatchObject({ code: 'INVALID_CONFIG' })
  })
})
