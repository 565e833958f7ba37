import { describe, expect, test } from 'vitest'
import { failOnReport, keepReports, stateOf } from '../state/state.test-kit.ts'
import type { LivePhase } from './live-phase.ts'
import { phaseInstruction } from './phase-instruction.ts'

const withInstruction = (instruction: unknown, needs?: string[]): LivePhase => ({
  name: 'order',
  instruction: instruction as string,
  needs,
})

describe('the instruction of a phase', () => {
  test.each([
    ['is its text', 'Take the order.'],
    ['is what its function returns', (state: ReturnType<typeof stateOf>) => `Take the order${state.get('end')}`],
    ['is what its function resolves with', async () => 'Take the order.'],
  ])('%s', async (_, instruction) => {
    const text = await phaseInstruction(withInstruction(instruction), stateOf({ end: '.' }), failOnReport)
    expect(text).toBe('Take the order.')
  })
  test('names the needs that are missing, without their prefixes', async () => {
    const order = withInstruction('Take the order.', ['drink', 'user:name', 'derived:total', 'size'])
    const text = await phaseInstruction(order, stateOf({ drink: 'tea' }), failOnReport)
    expect(text).toBe('Take the order.\n\nStill needed: name, total, size.')
  })
  test('names no needs when all have a value, also a computed one', async () => {
    const order = withInstruction('Take the order.', ['drink', 'total'])
    const text = await phaseInstruction(order, stateOf({ drink: '', 'derived:total': 0 }), failOnReport)
    expect(text).toBe('Take the order.')
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
    ['returns no text', () => undefined],
  ])('is only the missing needs if its function %s, and the problem is reported', async (_, instruction) => {
    const { report, problems } = keepReports()
    expect(await phaseInstruction(withInstruction(instruction, ['drink']), stateOf(), report)).toBe(
      'Still needed: drink.',
    )
    expect(problems).toEqual([expect.stringContaining('The instruction of phase "order" failed.')])
  })
})
