import {
  type Agent,
  agentTool,
  approve,
  type Event,
  exitLoop,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  type PendingRequest,
  Runner,
  SequentialAgent,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { createDeferred, plainTool, recordingLogger, responsesOf } from './kit.ts'

const speaker = (name: string, ...steps: ScriptedStep[]) => new LlmAgent({ name, model: scriptedModel(steps) })
const complete = async (agent: Agent) => {
  const runner = new Runner({ appName: 'app', agent, logger: recordingLogger() })
  const done = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
  return { ...done, state: session?.state }
}
const textsOf = (events: readonly Event[]) =>
  events.map(({ author, content, errorCode }) => [author, errorCode ?? content?.parts[0]?.text])
const paths = (events: readonly Event[]) => events.map(({ nodeInfo }) => nodeInfo?.path)

test('SequentialAgent runs children in order, in their own scopes, and shows each child the earlier output', async () => {
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

test('SequentialAgent ends at a failing child, and the run has its error', async () => {
  const agent = new SequentialAgent({
    name: 'line',
    subAgents: [speaker('one', { error: 'down' }), speaker('two', 'never')],
  })
  const { events, error } = await complete(agent)
  expect(textsOf(events)).toEqual([['one', 'MODEL_ERROR']])
  expect(error).toEqual({ code: 'MODEL_ERROR', message: 'down' })
})

test('SequentialAgent runs again with the next message', async () => {
  const agent = new SequentialAgent({ name: 'line', subAgents: [speaker('one', 'a', 'c'), speaker('two', 'b', 'd')] })
  const runner = new Runner({ appName: 'app', agent })
  const message = { userId: 'ada', sessionId: 's1', message: 'Go' }
  expect((await runner.complete(message)).text).toBe('b')
  expect((await runner.complete(message)).text).toBe('d')
})

test('ParallelAgent runs children in separate branches that do not see each other', async () => {
  const held = createDeferred()
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

test('a nested ParallelAgent sees its own branch and earlier events, not other branches', async () => {
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

test('ParallelAgent reports a failing branch and keeps the output of the other branches', async () => {
  const keep = (name: string, step: ScriptedStep) =>
    new LlmAgent({ name, model: scriptedModel([step]), outputKey: `out_${name}` })
  const all = new ParallelAgent({
    name: 'all',
    subAgents: [keep('a', 'A'), keep('b', { error: 'b is down' }), keep('c', 'C')],
  })
  const agent = new SequentialAgent({ name: 'line', subAgents: [all, speaker('last', 'summary')] })
  const { events, error, text, state } = await complete(agent)
  expect(textsOf(events)).toEqual(
    expect.arrayContaining([
      ['a', 'A'],
      ['b', 'MODEL_ERROR'],
      ['c', 'C'],
    ]),
  )
  expect(error).toBeUndefined() // the sequence has not failed
  expect(text).toBe('summary')
  expect(state).toEqual({ out_a: 'A', out_c: 'C' })
})

test('SequentialAgent ends when all branches of a ParallelAgent fail', async () => {
  const all = new ParallelAgent({
    name: 'all',
    subAgents: [speaker('a', { error: 'x' }), speaker('b', { error: 'y' })],
  })
  const agent = new SequentialAgent({ name: 'line', subAgents: [all, speaker('last', 'never')] })
  const { events } = await complete(agent)
  expect(events.map(({ author }) => author).sort()).toEqual(['a', 'b'])
})

test('LoopAgent runs maxIterations rounds, each in its own scopes', async () => {
  const agent = new LoopAgent({
    name: 'loop',
    maxIterations: 2,
    subAgents: [speaker('a', '1', '3'), speaker('b', '2', '4')],
  })
  const { events, text } = await complete(agent)
  expect(paths(events)).toEqual(['loop/a@1', 'loop/b@1', 'loop/a@2', 'loop/b@2'])
  expect(text).toBe('4')
})

test('LoopAgent ends at a failing child, and so does the sequence around it', async () => {
  const loop = new LoopAgent({ name: 'loop', maxIterations: 9, subAgents: [speaker('a', 'ok', { error: 'down' })] })
  const agent = new SequentialAgent({ name: 'line', subAgents: [loop, speaker('last', 'never')] })
  const { events } = await complete(agent)
  expect(textsOf(events)).toEqual([
    ['a', 'ok'],
    ['a', 'MODEL_ERROR'],
  ])
})

test('exit_loop inside a sequence ends the sequence and the nearest loop only', async () => {
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

test('exit_loop in a parallel branch ends the loop after the other branches finish', async () => {
  const stop = new LlmAgent({
    name: 'stop',
    model: scriptedModel([{ calls: [{ name: 'exit_loop' }] }]),
    tools: [exitLoop()],
  })
  const both = new ParallelAgent({ name: 'both', subAgents: [stop, speaker('other', 'still here')] })
  const agent = new LoopAgent({ name: 'loop', maxIterations: 9, subAgents: [both] })
  const { text } = await complete(agent)
  expect(text).toBe('[other]\nstill here')
})

test('ParallelAgent answers with the labelled text of all branches in declaration order', async () => {
  const bergenReplied = createDeferred()
  const slow = scriptedModel([() => bergenReplied.promise.then(() => 'Oslo has a fjord.')])
  const fast = scriptedModel([
    () => {
      queueMicrotask(() => bergenReplied.resolve())
      return 'Bergen has rain.'
    },
  ])
  const both = new ParallelAgent({
    name: 'both',
    subAgents: [new LlmAgent({ name: 'oslo', model: slow }), new LlmAgent({ name: 'bergen', model: fast })],
  })
  const flow = new SequentialAgent({ name: 'flow', subAgents: [speaker('first', 'Let me see.'), both] })
  expect((await complete(flow)).text).toBe('[oslo]\nOslo has a fjord.\n\n[bergen]\nBergen has rain.')
})

test('ParallelAgent with one branch, and an agent after a ParallelAgent, answer without a label', async () => {
  const one = new ParallelAgent({ name: 'one', subAgents: [speaker('only', 'alone')] })
  const both = new ParallelAgent({ name: 'both', subAgents: [speaker('a', 'x'), speaker('b', 'y')] })
  const flow = new SequentialAgent({ name: 'flow', subAgents: [both, speaker('last', 'both heard')] })
  expect([(await complete(one)).text, (await complete(flow)).text]).toEqual(['alone', 'both heard'])
})

test('ParallelAgent includes the text of a branch that finished before a pause', async () => {
  const refund = plainTool('refund', () => 'ok', { requiresConfirmation: true })
  const paused = new LlmAgent({
    name: 'a',
    model: scriptedModel([{ calls: [{ name: 'refund' }] }, 'refunded']),
    tools: [refund],
  })
  const runner = new Runner({
    appName: 'app',
    agent: new ParallelAgent({ name: 'both', subAgents: [paused, speaker('b', 'said')] }),
  })
  const where = { userId: 'ada', sessionId: 's1' }
  const { pending, text } = await runner.complete({ ...where, message: 'Go' })
  expect(text).toBe('[b]\nsaid')
  const later = await runner.complete({ ...where, message: [approve(pending[0] as PendingRequest)] })
  expect(later.text).toBe('[a]\nrefunded\n\n[b]\nsaid')
})

test('an agent tool around a ParallelAgent answers with the text of all branches, also inside a branch', async () => {
  const inner = () =>
    new SequentialAgent({
      name: 'inner',
      subAgents: [new ParallelAgent({ name: 'both', subAgents: [speaker('x', 'one'), speaker('y', 'two')] })],
    })
  const caller = (name: string) =>
    new LlmAgent({
      name,
      model: scriptedModel([{ calls: [{ id: `${name}-1`, name: 'inner', args: { request: 'Go' } }] }, `${name} done`]),
      tools: [agentTool(inner())],
    })
  for (const agent of [caller('boss'), new ParallelAgent({ name: 'bosses', subAgents: [caller('p'), caller('q')] })]) {
    const { events } = await complete(agent)
    const responses = responsesOf(events).map(({ response }) => response)
    expect(responses.length).toBeGreaterThan(0)
    for (const response of responses) expect(response).toEqual({ text: '[x]\none\n\n[y]\ntwo' })
  }
})
