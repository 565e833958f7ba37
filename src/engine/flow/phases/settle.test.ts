import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { failOnReport, stateOf } from '../state/state.test-kit.ts'
import { StateMirror } from '../state/state-mirror.ts'
import { isTrue } from './conditions.ts'
import { always, createMachine, never, phase } from './phase-machine.test-kit.ts'

describe('after a change of state, a session', () => {
  test('follows transitions until none applies, and returns the moves', async () => {
    const { machine, move, log } = createMachine([
      phase('a', { b: always }),
      phase('b', { c: always }),
      phase('c', { a: never }),
    ])
    expect(await machine.settle(stateOf(), move)).toEqual([
      { from: 'a', to: 'b', at: 5_000, turn: 3, trigger: 'condition' },
      { from: 'b', to: 'c', at: 5_000, turn: 3, trigger: 'condition' },
    ])
    expect(machine.current.name).toBe('c')
    expect(log).toEqual(['exit a to b', 'enter b from a', 'exit b to c', 'enter c from b'])
  })
  test('stays if no transition applies', async () => {
    const { machine, move } = createMachine([phase('a', { b: never }), phase('b')])
    expect(await machine.settle(stateOf(), move)).toEqual([])
    expect(machine.current.name).toBe('a')
  })
  test('ends and reports when transitions form a cycle, and enters no phase twice', async () => {
    const { machine, move, problems } = createMachine([
      phase('a', { b: always }),
      phase('b', { c: always }),
      phase('c', { b: always }),
    ])
    const changes = await machine.settle(stateOf(), move)
    expect(changes.map(({ to }) => to)).toEqual(['b', 'c'])
    expect(problems).toEqual([
      'The transitions "b" -> "c" -> "b" all apply at once. The conversation stays in phase "c".',
    ])
  })
  test('does not return to the phase it was in', async () => {
    const { machine, move, problems } = createMachine([phase('a', { b: always }), phase('b', { a: always })])
    expect(await machine.settle(stateOf(), move)).toHaveLength(1)
    expect([machine.current.name, problems.length]).toEqual(['b', 1])
  })
  test.each([0, 1, 2])('makes at most %i moves if that is the limit', async (limit) => {
    const { machine, move } = createMachine([
      phase('a', { b: always }),
      phase('b', { c: always }),
      phase('c', { d: always }),
      phase('d'),
    ])
    expect(await machine.settle(stateOf(), { ...move, limit })).toHaveLength(limit)
  })
  test('reads conditions again after what the hooks wrote is recorded', async () => {
    const mirror = new StateMirror({ initial: new Map([['start', true]]), report: failOnReport })
    const written: JsonObject = {}
    const { machine, move } = createMachine([
      { ...phase('a'), transitions: [{ to: 'b', when: isTrue('start') }] },
      {
        ...phase('b'),
        transitions: [{ to: 'c', when: isTrue('ready') }],
        onEnter: () => {
          written.ready = true
        },
      },
      phase('c'),
    ])
    const changes = await machine.settle(mirror.state, { ...move, afterMove: () => void mirror.apply(written) })
    expect(changes.map(({ to }) => to)).toEqual(['b', 'c'])
  })
  test('can still move after recording a move has failed', async () => {
    const { machine, move } = createMachine([phase('a', { b: always }), phase('b', { c: always }), phase('c')])
    const afterMove = () => {
      throw new Error('not recorded')
    }
    await expect(machine.settle(stateOf(), { ...move, afterMove })).rejects.toThrow('not recorded')
    expect(machine.current.name).toBe('b')
    await machine.settle(stateOf(), move)
    expect(machine.current.name).toBe('c')
  })
})
