import {
  type Agent,
  type Event,
  exitLoop,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  Runner,
  SequentialAgent,
} from 'toolwright'
import { type Step, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { notebook, signalled } from './kit.ts'

const speaker = (name: string, ...steps: Step[]) => new LlmAgent({ name, model: scriptedModel(steps) })
const complete = async (agent: Agent) => {
  const runner = new Runner({ appName: 'app', agent, logger: notebook() })
  const done = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
  return { ...done, state: session?.state }
}
const said = (events: readonly Event[]) =>
  events.map(({ author, content, errorCode }) => [author, errorCode ?? content?.parts[0]?.text])
const paths = (events: readonly Event[]) => events.map(({ nodeInfo }) => nodeInfo?.path)

test('one after another, each sees what was said before, in a scope of its own', async () => {
  const model = scriptedModel(['a draft', 'a review'])
  const agent = new SequentialAgent({
    name: 'line',
    subAgents: [new LlmAgent({ name: 'writer', model }), new LlmAgent({ name: 'critic', model })],
  })
  const { events, text } = await complete(agent)
  expect(paths(events)).toEqual(['line/writer@1', 'line/critic@1'])
  expect(model.requests[1]?.contents.map(({ parts }) => parts.map((part) => part.text))).toEqual([
    ['Go'],
    ['For context:', '[writer] said: a draft'],
  ])
  expect(text).toBe('a review')
})

test('a failing child ends the sequence, and the error is the run’s', async () => {
  const agent = new SequentialAgent({
    name: 'line',
    subAgents: [speaker('one', { error: 'down' }), speaker('two', 'never')],
  })
  const { events, error } = await complete(agent)
  expect(said(events)).toEqual([['one', 'MODEL_ERROR']])
  expect(error).toEqual({ code: 'MODEL_ERROR', message: 'down' })
})

test('the same sequence runs again with the next message', async () => {
  const agent = new SequentialAgent({ name: 'line', subAgents: [speaker('one', 'a', 'c'), speaker('two', 'b', 'd')] })
  const runner = new Runner({ appName: 'app', agent })
  const message = { userId: 'ada', sessionId: 's1', message: 'Go' }
  expect((await runner.complete(message)).text).toBe('b')
  expect((await runner.complete(message)).text).toBe('d')
})

test('side by side, siblings have branches of their own and do not see each other', async () => {
  const held = signalled()
  const slow = scriptedModel([
    async () => {
      await held.promise
      return { calls: [{ name: 'missing' }] }
    },
    'slow is done',
  ])
  const fast = scriptedModel([
    () => {
      queueMicrotask(() => held.resolve())
      return 'fast is done'
    },
  ])
  const last = scriptedModel(['both heard'])
  const both = new ParallelAgent({
    name: 'both',
    subAgents: [new LlmAgent({ name: 'slow', model: slow }), new LlmAgent({ name: 'fast', model: fast })],
  })
  const agent = new SequentialAgent({ name: 'line', subAgents: [both, new LlmAgent({ name: 'last', model: last })] })
  const { events } = await complete(agent)
  expect(events.map(({ branch, nodeInfo }) => [branch, nodeInfo?.path])).toEqual([
    ['both.fast', 'line/both@1/fast@1'],
    ['both.slow', 'line/both@1/slow@1'],
    ['both.slow', 'line/both@1/slow@1'],
    ['both.slow', 'line/both@1/slow@1'],
    [undefined, 'line/last@1'],
  ])
  expect(JSON.stringify(slow.requests[1]?.contents)).not.toContain('fast is done')
  expect(JSON.stringify(last.requests[0]?.contents)).toMatch(/fast is done.*slow is done/)
})

test('a branch within a branch sees its own and what was before, not its cousins', async () => {
  const deep = scriptedModel(['deep'])
  const inner = new ParallelAgent({ name: 'inner', subAgents: [new LlmAgent({ name: 'deep', model: deep })] })
  const line = new SequentialAgent({ name: 'line', subAgents: [speaker('first', 'from my branch'), inner] })
  const agent = new ParallelAgent({ name: 'outer', subAgents: [line, speaker('cousin', 'from another')] })
  const { events } = await complete(agent)
  expect(events.find(({ author }) => author === 'deep')?.branch).toBe('outer.line.inner.deep')
  const seen = JSON.stringify(deep.requests[0]?.contents)
  expect(seen).toContain('from my branch')
  expect(seen).not.toContain('from another')
})

test('one failing branch is reported, the others finish and what they wrote is kept', async () => {
  const keep = (name: string, step: Step) =>
    new LlmAgent({ name, model: scriptedModel([step]), outputKey: `out_${name}` })
  const all = new ParallelAgent({
    name: 'all',
    subAgents: [keep('a', 'A'), keep('b', { error: 'b is down' }), keep('c', 'C')],
  })
  const agent = new SequentialAgent({ name: 'line', subAgents: [all, speaker('last', 'summary')] })
  const { events, error, text, state } = await complete(agent)
  expect(said(events)).toEqual(
    expect.arrayContaining([
      ['a', 'A'],
      ['b', 'MODEL_ERROR'],
      ['c', 'C'],
    ]),
  )
  expect(error).toBeUndefined() // the whole has not failed
  expect(text).toBe('summary')
  expect(state).toEqual({ out_a: 'A', out_c: 'C' })
})

test('when all branches fail the sequence does not go on', async () => {
  const all = new ParallelAgent({
    name: 'all',
    subAgents: [speaker('a', { error: 'x' }), speaker('b', { error: 'y' })],
  })
  const agent = new SequentialAgent({ name: 'line', subAgents: [all, speaker('last', 'never')] })
  const { events } = await complete(agent)
  expect(events.map(({ author }) => author).sort()).toEqual(['a', 'b'])
})

test('a loop takes its rounds, each in scopes of its own', async () => {
  const agent = new LoopAgent({
    name: 'loop',
    maxIterations: 2,
    subAgents: [speaker('a', '1', '3'), speaker('b', '2', '4')],
  })
  const { events, text } = await complete(agent)
  expect(paths(events)).toEqual(['loop/a@1', 'loop/b@1', 'loop/a@2', 'loop/b@2'])
  expect(text).toBe('4')
})

test('a failing child ends the loop and the sequence around it', async () => {
  const loop = new LoopAgent({ name: 'loop', maxIterations: 9, subAgents: [speaker('a', 'ok', { error: 'down' })] })
  const agent = new SequentialAgent({ name: 'line', subAgents: [loop, speaker('last', 'never')] })
  const { events } = await complete(agent)
  expect(said(events)).toEqual([
    ['a', 'ok'],
    ['a', 'MODEL_ERROR'],
  ])
})

test('who escalates inside a sequence ends the sequence and the loop around it, nothing further out', async () => {
  const stop = new LlmAgent({
    name: 'stop',
    model: scriptedModel([{ calls: [{ name: 'exit_loop' }] }]),
    tools: [exitLoop()],
  })
  const inner = new SequentialAgent({ name: 'inner', subAgents: [stop, speaker('skipped', 'never')] })
  const loop = new LoopAgent({ name: 'loop', maxIterations: 9, subAgents: [inner, speaker('skipped', 'never')] })
  const agent = new SequentialAgent({ name: 'outer', subAgents: [loop, speaker('last', 'goes on')] })
  const { events, text } = await complete(agent)
  expect(text).toBe('goes on')
  expect(events.some(({ author }) => author === 'skipped')).toBe(false)
})

test('who escalates in a branch lets the siblings finish and then ends the loop', async () => {
  const stop = new LlmAgent({
    name: 'stop',
    model: scriptedModel([{ calls: [{ name: 'exit_loop' }] }]),
    tools: [exitLoop()],
  })
  const both = new ParallelAgent({ name: 'both', subAgents: [stop, speaker('other', 'still here')] })
  const agent = new LoopAgent({ name: 'loop', maxIterations: 9, subAgents: [both] })
  const { text } = await complete(agent)
  expect(text).toBe('still here')
})
