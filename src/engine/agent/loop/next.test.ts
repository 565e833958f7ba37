import { describe, expect, test } from 'vitest'
import type { Content, Part } from '../../../core/content/content.ts'
import type { Event, EventActions, NewEntry } from '../../../core/event/event.ts'
import { Fold } from '../../../core/event/fold.ts'
import type { Model } from '../../model/model.ts'
import type { Tool } from '../../tool/tool.ts'
import type { Agent } from '../agents/agent.ts'
import { agentTool } from '../agents/agent-tool.ts'
import { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../agents/workflow.ts'
import { hasEscalated, next, scopeError } from './next.ts'

const model: Model = { name: 'none', async *generate() {} }
const look: Tool = {
  name: 'look',
  description: '',
  declaration: () => ({ name: 'look', description: '' }),
  run: () => 1,
}
const llm = (name: string, options: Partial<ConstructorParameters<typeof LlmAgent>[0]> = {}): LlmAgent =>
  new LlmAgent({ name, model, tools: [look], ...options })

let made = 0
function entry(
  path: string,
  content: Content | undefined,
  actions: EventActions = {},
  more: Partial<Event> = {},
): NewEntry {
  const author = path.split('/').at(-1)?.split('@')[0] ?? ''
  const event: Event = {
    id: `e${++made}`,
    invocationId: 'i',
    author,
    timestamp: 0,
    nodeInfo: { path },
    actions,
    ...more,
  }
  return { event: content ? { ...event, content } : event }
}
const calls = (path: string, ...ids: string[]): NewEntry =>
  entry(path, { role: 'model', parts: ids.map((id) => ({ functionCall: { id, name: 'look', args: {} } })) })
const says = (path: string, text = 'done'): NewEntry => entry(path, { role: 'model', parts: [{ text }] })
const result = (id: string, more: object = {}): Part => ({
  functionResponse: { id, name: 'look', response: {}, ...more },
})
const results = (path: string, ids: string[], actions: EventActions = {}): NewEntry =>
  entry(path, { role: 'tool', parts: ids.map((id) => result(id)) }, actions)
const handle = (path: string, id: string): NewEntry =>
  entry(path, { role: 'tool', parts: [result(id, { willContinue: true })] })

function stepAfter(agent: Agent, entries: readonly NewEntry[], start?: string): string {
  const fold = new Fold('i', start)
  for (const one of entries) fold.add(one)
  const step = next(agent, { fold, tree: new AgentTree(agent, { plugins: [], resolveModel: () => model }) }, agent.name)
  switch (step.type) {
    case 'ask-model':
      return `ask ${step.agent.name}`
    case 'dispatch':
      return `dispatch ${step.calls.map(({ id }) => id).join(' ')}`
    case 'run':
      return `run ${step.children.map(({ path }) => path).join(' ')}`
    case 'wait':
      return `wait ${step.on.map(({ id }) => id).join(' ')}`
    case 'done':
      return 'done'
  }
}

describe('an LlmAgent', () => {
  const a = llm('a')
  test('asks its model first', () => expect(stepAfter(a, [])).toBe('ask a'))
  test('dispatches open calls, then asks its model again', () => {
    expect(stepAfter(a, [calls('a', 'x', 'y')])).toBe('dispatch x y')
    expect(stepAfter(a, [calls('a', 'x', 'y'), results('a', ['x'])])).toBe('dispatch y')
    expect(stepAfter(a, [calls('a', 'x', 'y'), results('a', ['x']), results('a', ['y'])])).toBe('ask a')
  })
  test('is done after a reply without calls', () => {
    expect(stepAfter(a, [calls('a', 'x'), results('a', ['x']), says('a')])).toBe('done')
  })
  test('waits for a long-running call when no other call is open', () => {
    expect(stepAfter(a, [calls('a', 'x', 'y'), handle('a', 'x')])).toBe('dispatch y')
    expect(stepAfter(a, [calls('a', 'x', 'y'), handle('a', 'x'), results('a', ['y'])])).toBe('wait x')
  })
  test('asks its model when the user sends the result of a long-running call', () => {
    const answer: NewEntry = {
      event: {
        id: 'u',
        invocationId: 'i',
        author: 'user',
        timestamp: 0,
        actions: {},
        content: { role: 'user', parts: [result('x')] },
      },
    }
    expect(stepAfter(a, [calls('a', 'x'), handle('a', 'x'), answer])).toBe('ask a')
  })
  test('is done after an error, an escalation or a response with skipSummarization', () => {
    expect(stepAfter(a, [entry('a', undefined, {}, { errorCode: 'MODEL_ERROR' })])).toBe('done')
    expect(stepAfter(a, [calls('a', 'x'), results('a', ['x']), entry('a', undefined, { escalate: true })])).toBe('done')
    expect(stepAfter(a, [calls('a', 'x'), results('a', ['x'], { skipSummarization: true })])).toBe('done')
  })
  test('waits for a sibling of a call with skipSummarization', () => {
    expect(
      stepAfter(a, [calls('a', 'x', 'y'), handle('a', 'y'), results('a', ['x'], { skipSummarization: true })]),
    ).toBe('wait y')
  })
  test('asks its model again after a correction', () => {
    const told = entry('a', { role: 'user', parts: [{ text: 'again' }] })
    expect(stepAfter(a, [says('a', 'no json'), told])).toBe('ask a')
  })
})

describe('the active agent', () => {
  const helper = llm('helper')
  const flow = new SequentialAgent({ name: 'flow', subAgents: [llm('step')] })
  const boss = llm('boss', { subAgents: [helper, flow] })
  const to = (name: string): NewEntry => results('boss', ['x'], { transferToAgent: name })
  test('is the target of a transfer, in the same scope', () => {
    expect(stepAfter(boss, [calls('boss', 'x'), to('helper')])).toBe('ask helper')
    expect(stepAfter(boss, [calls('boss', 'x'), to('helper'), says('boss')])).toBe('done')
  })
  test('is a workflow agent after a transfer, in a scope of its own', () => {
    expect(stepAfter(boss, [calls('boss', 'x'), to('flow')])).toBe('run boss/flow@t1/step@1')
    expect(stepAfter(boss, [calls('boss', 'x'), to('flow'), says('boss/flow@t1/step@1')])).toBe('done')
  })
  test('is the target of the latest transfer of earlier invocations, if that agent still exists', () => {
    expect(stepAfter(boss, [], 'helper')).toBe('ask helper')
    expect(stepAfter(boss, [], 'gone')).toBe('ask boss')
  })
})

describe('next() of workflow agents:', () => {
  const sequence = new SequentialAgent({ name: 's', subAgents: [llm('a'), llm('b')] })
  test('a sequence runs its children in order and resumes at the unfinished child', () => {
    expect(stepAfter(sequence, [])).toBe('run s/a@1')
    expect(stepAfter(sequence, [calls('s/a@1', 'x')])).toBe('run s/a@1')
    expect(stepAfter(sequence, [calls('s/a@1', 'x'), handle('s/a@1', 'x')])).toBe('wait x')
    expect(stepAfter(sequence, [says('s/a@1')])).toBe('run s/b@1')
    expect(stepAfter(sequence, [says('s/a@1'), says('s/b@1')])).toBe('done')
  })
  test('a sequence ends when a child escalates or fails', () => {
    expect(stepAfter(sequence, [says('s/a@1'), entry('s/a@1', undefined, { escalate: true })])).toBe('done')
    expect(stepAfter(sequence, [entry('s/a@1', undefined, {}, { errorCode: 'MODEL_ERROR' })])).toBe('done')
  })
  test('a loop counts its rounds and ends at an escalation, which does not reach outer agents', () => {
    const loop = new LoopAgent({ name: 'l', maxIterations: 2, subAgents: [llm('a')] })
    const outer = new SequentialAgent({ name: 'o', subAgents: [loop, llm('z')] })
    expect(stepAfter(outer, [says('o/l@1/a@1')])).toBe('run o/l@1')
    expect(stepAfter(outer, [says('o/l@1/a@1'), says('o/l@1/a@2')])).toBe('run o/z@1')
    expect(stepAfter(outer, [says('o/l@1/a@1'), entry('o/l@1/a@1', undefined, { escalate: true })])).toBe('run o/z@1')
    expect(stepAfter(loop, [])).toBe('run l/a@1')
    expect(stepAfter(loop, [says('l/a@1')])).toBe('run l/a@2')
  })
  test('a parallel agent runs unfinished branches only, and waits when all others are done', () => {
    const both = new ParallelAgent({ name: 'p', subAgents: [llm('a'), llm('b')] })
    expect(stepAfter(both, [])).toBe('run p/a@1 p/b@1')
    expect(stepAfter(both, [says('p/a@1')])).toBe('run p/b@1')
    expect(stepAfter(both, [says('p/a@1'), calls('p/b@1', 'x'), handle('p/b@1', 'x')])).toBe('wait x')
    expect(stepAfter(both, [entry('p/a@1', undefined, {}, { errorCode: 'MODEL_ERROR' }), says('p/b@1')])).toBe('done')
  })
  test('a parallel agent fails only when all branches fail', () => {
    const both = new ParallelAgent({ name: 'p', subAgents: [llm('a'), llm('b')] })
    const tree = new AgentTree(both, { plugins: [], resolveModel: () => model })
    const broken = (name: string): NewEntry =>
      entry(`p/${name}@1`, undefined, {}, { errorCode: 'MODEL_ERROR', errorMessage: name })
    const fold = new Fold('i')
    fold.add(broken('a'))
    expect(scopeError(both, { fold, tree }, 'p')).toBeUndefined()
    fold.add(broken('b'))
    expect(scopeError(both, { fold, tree }, 'p')).toEqual({ code: 'MODEL_ERROR', message: 'a' })
    fold.add(entry('p/b@1', undefined, { escalate: true }))
    expect(hasEscalated(both, { fold, tree }, 'p')).toBe(true)
  })
})

describe('next() of agent tools:', () => {
  const child = llm('child')
  const parent = llm('parent', { tools: [agentTool(child)] })
  const ask = entry('parent', { role: 'model', parts: [{ functionCall: { id: 'x', name: 'child', args: {} } }] })
  const inside = 'parent/child@x'
  const opened = entry(
    inside,
    { role: 'user', parts: [{ text: 'go' }] },
    {},
    { author: 'parent', isolationScope: inside },
  )
  test('a call waits when its agent waits, and is dispatched otherwise', () => {
    expect(stepAfter(parent, [ask])).toBe('dispatch x')
    expect(stepAfter(parent, [ask, opened, calls(inside, 'y')])).toBe('dispatch x')
    expect(stepAfter(parent, [ask, opened, calls(inside, 'y'), handle(inside, 'y')])).toBe('wait y')
    expect(stepAfter(parent, [ask, opened, says(inside)])).toBe('dispatch x')
  })
})

test('next() treats events without scopes, from another framework, as finished', () => {
  const foreign: NewEntry = {
    event: {
      id: 'f',
      invocationId: 'i',
      author: 'a',
      timestamp: 0,
      actions: {},
      content: { role: 'model', parts: [] },
    },
  }
  expect(stepAfter(llm('a'), [foreign])).toBe('done')
})
