import { exitLoop, LlmAgent, LoopAgent, Runner, SequentialAgent } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

const exit = { calls: [{ name: 'exit_loop' }] }

test('exit_loop in the second round ends the loop and the next agent of the sequence runs', async () => {
  const writing = scriptedModel(['draft 1', 'draft 2'])
  const judging = scriptedModel(['Not yet.', exit])
  const publishing = scriptedModel(['Published.'])
  const writer = new LlmAgent({ name: 'writer', model: writing })
  const critic = new LlmAgent({ name: 'critic', model: judging, tools: [exitLoop()] })
  const never = new LlmAgent({ name: 'polisher', model: scriptedModel(['polished 1']) })
  const refine = new LoopAgent({ name: 'refine', subAgents: [writer, critic, never], maxIterations: 5 })
  const publisher = new LlmAgent({ name: 'publisher', model: publishing })
  const agent = new SequentialAgent({ name: 'press', subAgents: [refine, publisher] })
  const { events, text } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Write.' })

  const texts = events.flatMap(
    ({ author, content }) => content?.parts.map((part) => [author, part.text ?? 'call']) ?? [],
  )
  expect(texts).toEqual([
    ['writer', 'draft 1'],
    ['critic', 'Not yet.'],
    ['polisher', 'polished 1'],
    ['writer', 'draft 2'],
    ['critic', 'call'],
    ['critic', 'call'],
    ['publisher', 'Published.'],
  ])
  expect(text).toContain('Published.')
  for (const model of [writing, judging, publishing]) model.assertComplete()
})

test('exit_loop records its response and the escalation as two events and does not ask the model again', async () => {
  const model = scriptedModel([exit])
  const critic = new LlmAgent({ name: 'critic', model, tools: [exitLoop()] })
  const agent = new LoopAgent({ name: 'loop', subAgents: [critic], maxIterations: 5 })
  const { events } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Go.' })
  expect(events.map(({ content, actions }) => [content?.role, actions.escalate])).toEqual([
    ['model', undefined],
    ['tool', undefined],
    [undefined, true],
  ])
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({ status: 'ok' })
  expect(model.requests).toHaveLength(1)
})

test('a loop without a call of exit_loop runs all its rounds', async () => {
  const model = scriptedModel(['1', '2', '3'])
  const critic = new LlmAgent({ name: 'critic', model, tools: [exitLoop()] })
  const agent = new LoopAgent({ name: 'loop', subAgents: [critic], maxIterations: 3 })
  await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Go.' })
  model.assertComplete()
})

test('exit_loop ends only the nearest loop', async () => {
  const model = scriptedModel([exit, exit])
  const inner = new LoopAgent({
    name: 'inner',
    subAgents: [new LlmAgent({ name: 'critic', model, tools: [exitLoop()] })],
    maxIterations: 9,
  })
  const agent = new LoopAgent({ name: 'outer', subAgents: [inner], maxIterations: 2 })
  await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Go.' })
  model.assertComplete()
})

test('exit_loop ignores unexpected arguments', async () => {
  const model = scriptedModel([{ calls: [{ name: 'exit_loop', args: { reason: 'done' } }] }])
  const critic = new LlmAgent({ name: 'critic', model, tools: [exitLoop()] })
  const agent = new LoopAgent({ name: 'loop', subAgents: [critic], maxIterations: 5 })
  const { events } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Go.' })
  expect(events.at(-1)?.actions.escalate).toBe(true)
})
