import { expect, test } from 'vitest'
import type { Entry } from '../../../src/core/event/event.ts'
import type { GraphAgent } from '../api/types.ts'
import { EMPTY_VIEW } from '../session/log-view.ts'
import { CARD, layOut, type PlacedAgent, transferPath } from './layout.ts'
import { rowsOf } from './list-toolsets.ts'
import { positionOf } from './position.ts'

const llm = (name: string, more: Partial<GraphAgent> = {}): GraphAgent => ({ name, type: 'LlmAgent', ...more })
const draw = (root: GraphAgent, opened: readonly string[] = []) =>
  layOut(root, { opened: new Set(opened), rowsOf: ({ tools = [] }) => tools })
const linesOf = (root: GraphAgent) => draw(root).edges.map(({ kind, from, to }) => `${from} ${kind} ${to}`)
const allOf = (placed: PlacedAgent): readonly PlacedAgent[] => [placed, ...placed.children.flatMap(allOf)]

test('workflows are drawn as such: a sequence in order, parallel agents side by side, a loop that leads back', () => {
  const [a, b, c] = [llm('a'), llm('b'), llm('c')]
  const flow = (type: string) => linesOf({ name: 'flow', type, sub_agents: [a, b, c] })
  expect(flow('SequentialAgent')).toEqual(['flow sub a', 'a next b', 'b next c'])
  expect(flow('ParallelAgent')).toEqual(['flow sub a', 'flow sub b', 'flow sub c'])
  expect(flow('LoopAgent')).toEqual(['flow sub a', 'a next b', 'b next c', 'c again a'])
  const tools = [{ name: 'audit', type: 'AgentTool', agent: llm('auditor') }]
  expect(linesOf(llm('desk', { sub_agents: [a], tools }))).toEqual(['desk sub a', 'desk call auditor'])
})

test('two hundred agents with many tools are drawn without overlap, each right of its parent', () => {
  const tools = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `t${at}`, type: 'FunctionTool' }))
  const agents = Array.from({ length: 200 }, (_, at) => ({ ...llm(`a${at}`), tools: tools((at * 7) % 23) }))
  const subs = (at: number): GraphAgent[] => [3 * at + 1, 3 * at + 2, 3 * at + 3].flatMap((next) => nodeAt(next))
  const nodeAt = (at: number): GraphAgent[] =>
    agents[at] ? [{ ...agents[at], type: at % 2 ? 'LoopAgent' : 'LlmAgent', sub_agents: subs(at) }] : []
  const { root, width, height } = draw(nodeAt(0)[0] as GraphAgent)
  const placed = allOf(root)
  expect(placed).toHaveLength(200)
  for (const one of placed) {
    expect(one.children.every(({ x }) => x > one.x + CARD)).toBe(true)
    expect([one.x + CARD <= width, one.y + one.height <= height]).toEqual([true, true])
    const column = placed.filter((other) => other.x === one.x && other !== one)
    expect(column.filter((other) => other.y < one.y + one.height && one.y < other.y + other.height)).toEqual([])
  }
})

test('an agent with many tools shows some, and all after they are opened', () => {
  const root = llm('desk', {
    tools: Array.from({ length: 120 }, (_, at) => ({ name: `t${at}`, type: 'FunctionTool' })),
  })
  expect([draw(root).root.rows.length, draw(root).root.hidden]).toEqual([8, 112])
  expect([draw(root, ['']).root.rows.length, draw(root, ['']).root.hidden]).toEqual([120, 0])
})

test('a toolset is followed by what it lists for the user, or by why it lists nothing', () => {
  const tools = [
    { name: 'find', type: 'FunctionTool' },
    { name: 'library', type: 'Toolset' },
  ]
  const names = (listed: readonly string[] | string | undefined) =>
    rowsOf(llm('desk', { tools }), new Map(listed === undefined ? [] : [['desk', listed]])).map(({ name }) => name)
  expect(names(['find', 'lend', 'return'])).toEqual(['find', 'library', 'lend', 'return'])
  expect(names('The server is away.')).toEqual(['find', 'library', 'The server is away.'])
  expect(names(undefined)).toEqual(['find', 'library', 'Listing its tools…'])
  expect(names(['find'])).toEqual(['find', 'library', 'lists no tools now'])
})

test('the position is the agent of the latest event, with the calls that have no response and the transfers', () => {
  const says = (seq: number, fields: object, ...parts: object[]): Entry => ({
    seq,
    event: {
      ...{ id: `e${seq}`, invocationId: 'i', author: 'desk', timestamp: seq, actions: {}, ...fields },
      content: { role: 'model', parts: parts as [] },
      nodeInfo: { path: 'desk/helper@c1' },
    },
  })
  const call = (id: string, name: string) => ({ functionCall: { id, name, args: {} } })
  const response = { functionResponse: { id: 'c1', name: 'find', response: {} } }
  const moved = { actions: { transferToAgent: 'helper' } }
  const entries = [
    says(1, { ...moved, invocationId: 'earlier' }),
    says(2, {}, call('c1', 'find'), call('c2', 'pay')),
    says(3, moved, response),
    says(4, moved),
  ]
  expect(positionOf({ ...EMPTY_VIEW, entries })).toEqual({
    agent: 'desk',
    path: ['desk', 'helper'],
    tools: new Set(['pay']),
    transfers: [['desk', 'helper']],
  })
  expect(positionOf(EMPTY_VIEW)).toBeUndefined()
  const { root } = draw(llm('desk', { sub_agents: [llm('helper')] }))
  expect(transferPath(root, 'helper', 'desk')).toMatch(/^M\d/)
  expect(transferPath(root, 'desk', 'gone')).toBeUndefined()
})
