import { describe, expect, test } from 'vitest'
import { thrownBy } from '../state/state.test-kit.ts'
import type { LivePhase } from './live-phase.ts'
import { validatePhases } from './validate-phases.ts'

const when = () => true
const greet: LivePhase = {
  name: 'greet',
  instruction: 'Greet.',
  transitions: [{ to: 'pay', when, description: 'done' }],
}
const pay: LivePhase = { name: 'pay', instruction: () => 'Pay.', tools: ['charge'], needs: ['card'], terminal: true }

describe('phases are accepted', () => {
  test.each([
    ['with an initial phase and known tools', [greet, pay], 'greet', ['charge', 'refund']],
    ['with any tool name if the tools of the session are not known', [greet, pay], 'greet', undefined],
    ['with an empty list of tools', [{ ...pay, tools: [] }], 'pay', []],
    ['if there are none, and no initial phase', undefined, undefined, ['charge']],
    [
      'with a cycle, which a conversation may have',
      [greet, { ...greet, name: 'pay', transitions: [{ to: 'greet', when }] }],
      'pay',
      [],
    ],
  ])('%s', (_, phases, initialPhase, toolNames) => {
    expect(thrownBy(() => validatePhases(phases, initialPhase, toolNames))).toBeUndefined()
  })
})

describe('phases are refused', () => {
  test.each([
    [
      'without an initial phase',
      [greet, pay],
      undefined,
      'initialPhase is required with phases. Set it to one of: greet, pay.',
    ],
    [
      'with an unknown initial phase',
      [greet, pay],
      'gret',
      'initialPhase "gret" is not a phase. Did you mean "greet"?',
    ],
    ['if there are none but an initial phase', undefined, 'greet', 'initialPhase is "greet", but there are no phases.'],
    ['if the list is empty', [], 'greet', 'phases is empty.'],
    ['with a duplicate name', [greet, pay, { ...pay }], 'greet', 'Phase "pay" is defined twice.'],
    [
      'with a transition to an unknown phase',
      [greet],
      'greet',
      'Phase "greet" has a transition to "pay", which is not a phase.',
    ],
    ['with a transition to itself', [{ ...greet, name: 'pay' }], 'pay', 'Phase "pay" has a transition to itself.'],
    [
      'with transitions from a terminal phase',
      [{ ...greet, terminal: true }, pay],
      'greet',
      'Phase "greet" is terminal',
    ],
    [
      'with an unknown tool',
      [{ ...pay, tools: ['charg'] }],
      'pay',
      'Phase "pay" allows the tool "charg", which the session does not have. Did you mean "charge"?',
    ],
    ['without a name', [{ instruction: 'Hi.' }], 'greet', 'phases[0]: name is required.'],
    ['without an instruction', [{ name: 'greet' }], 'greet', 'phases[0]: instruction is required.'],
    ['with an unknown option', [{ ...pay, tool: [] }], 'pay', 'unknown option "tool". Did you mean "tools"?'],
    [
      'with a tool instead of its name',
      [{ ...pay, tools: [{ name: 'charge' }] }],
      'pay',
      'tools must be a list of strings',
    ],
    [
      'with a transition without a condition',
      [{ ...greet, transitions: [{ to: 'greet' }] }],
      'greet',
      'Phase "greet": transitions[0]: when is required.',
    ],
    [
      'with an unknown option of a transition',
      [{ ...greet, transitions: [{ to: 'greet', when, guard: when }] }],
      'greet',
      'Phase "greet": transitions[0]: unknown option "guard"',
    ],
    ['as an object instead of a list', { greet }, 'greet', 'phases must be a list'],
  ])('%s', (_, phases, initialPhase, problem) => {
    const error = thrownBy(() => validatePhases(phases as LivePhase[], initialPhase, ['charge']))
    expect(error).toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringContaining(problem) })
  })
})
