import {
  type Agent,
  agentTool,
  exitLoop,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  Runner,
  retry,
  SequentialAgent,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'

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

describe('exit_loop outside a loop is an error that the model can read, and the model answers:', () => {
  const error = {
    error: 'exit_loop has no effect: this agent runs in no loop. Do not call it again; answer instead.',
    errorCode: 'NOT_FOUND',
  }
  const critic = (name = 'critic', tools = [exitLoop()]) =>
    new LlmAgent({ name, description: 'Checks', model: scriptedModel([exit, 'It is good.']), tools })

  async function run(agent: Agent) {
    const warnings: string[] = []
    const logger = { warn: (text: string) => void warnings.push(text), error: () => {} }
    const { events, text } = await new Runner({ appName: 'app', agent, logger }).complete({
      userId: 'ada',
      message: 'Go.',
    })
    const responses = events.flatMap(
      ({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [],
    )
    const [response] = responses.filter(({ name }) => name === 'exit_loop').map((one) => one.response)
    return { response, text, warnings, escalated: events.some(({ actions }) => actions.escalate) }
  }

  test.each<[string, () => Agent]>([
    ['the only agent', () => critic()],
    ['with a policy around the tool', () => critic('critic', [retry(exitLoop(), { attempts: 2 })])],
    ['in a sequence', () => new SequentialAgent({ name: 'steps', subAgents: [critic()] })],
    ['in parallel', () => new ParallelAgent({ name: 'both', subAgents: [critic()] })],
  ])('%s', async (_where, make) => {
    const { response, text, warnings, escalated } = await run(make())
    expect({ response, text, escalated }).toEqual({ response: error, text: 'It is good.', escalated: false })
    expect(warnings).toEqual([
      'Agent "critic" called exit_loop, but runs in no loop. Put it below a LoopAgent, or remove exitLoop() from its tools.',
    ])
  })

  test('in an agent tool whose caller is in a loop', async () => {
    const caller = new LlmAgent({
      name: 'caller',
      model: scriptedModel([{ calls: [{ name: 'critic', args: { request: 'x' } }] }, 'Done.']),
      tools: [agentTool(critic())],
    })
    const { response } = await run(new LoopAgent({ name: 'loop', subAgents: [caller], maxIterations: 1 }))
    expect(response).toEqual(error)
  })

  test('the same agent ends a loop in another runner', async () => {
    const shared = new LlmAgent({
      name: 'critic',
      model: scriptedModel([exit, 'It is good.', exit]),
      tools: [exitLoop()],
    })
    expect((await run(shared)).response).toEqual(error)
    const loop = new LoopAgent({ name: 'loop', subAgents: [shared], maxIterations: 5 })
    expect(await run(loop)).toMatchObject({ response: { status: 'ok' }, escalated: true, warnings: [] })
  })

  test('in a sequence inside a loop, and below a custom agent, it ends them as before', async () => {
    const steps = new SequentialAgent({ name: 'steps', subAgents: [critic()] })
    const loop = new LoopAgent({ name: 'loop', subAgents: [steps], maxIterations: 5 })
    expect(await run(loop)).toMatchObject({ response: { status: 'ok' }, escalated: true })
    const inner = critic()
    const custom: Agent = {
      name: 'custom',
      subAgents: [inner],
      run: (context) => inner.run(context),
    }
    expect(await run(custom)).toMatchObject({ response: { status: 'ok' }, escalated: true })
  })

  test('a tool of the app that escalates is not refused', async () => {
    const stop = tool({
      name: 'stop',
      description: 'Stops',
      run: (_, context) => {
        context.actions.escalate = true
        return 1
      },
    })
    const agent = new LlmAgent({ name: 'a', model: scriptedModel([{ calls: [{ name: 'stop' }] }]), tools: [stop] })
    expect(await run(agent)).toMatchObject({ escalated: true, warnings: [] })
  })
})
