import {
  type Agent,
  agentTool,
  type Event,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  Runner,
  SequentialAgent,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { createDeferred, plainTool, recordingLogger, responsesOf } from './kit.ts'

const ask = (name: string, id?: string): ScriptedStep => ({
  calls: [{ name, args: { request: `of ${name}` }, ...(id && { id }) }],
})
const runnerOf = (agent: Agent) => new Runner({ appName: 'app', agent, logger: recordingLogger() })

test('the runner runs each of three nested agent tools in its own scope and returns the answer to the root agent', async () => {
  const c = new LlmAgent({ name: 'c', model: scriptedModel(['deep']) })
  const b = new LlmAgent({ name: 'b', model: scriptedModel([ask('c', 'c3'), 'b: deep']), tools: [agentTool(c)] })
  const a = new LlmAgent({ name: 'a', model: scriptedModel([ask('b', 'b2'), 'a: b: deep']), tools: [agentTool(b)] })
  const root = new LlmAgent({ name: 'root', model: scriptedModel([ask('a', 'a1'), 'got it']), tools: [agentTool(a)] })
  const { events, text } = await runnerOf(root).complete({ userId: 'ada', message: 'Go' })
  expect(text).toBe('got it')
  expect(responsesOf(events).map(({ name, response }) => [name, response.text])).toEqual([
    ['c', 'deep'],
    ['b', 'b: deep'],
    ['a', 'a: b: deep'],
  ])
  expect(events.find(({ author }) => author === 'c')?.isolationScope).toBe('root/a@a1/b@b2/c@c3')
})

test('the runner runs two calls of one agent tool at the same time without mixing their conversations', async () => {
  const both = createDeferred()
  let here = 0
  const inner = scriptedModel(
    Array.from(
      { length: 2 },
      () =>
        async ({ contents }: { contents: readonly { parts: readonly { text?: string }[] }[] }) => {
          if (++here === 2) both.resolve()
          await both.promise
          return `about ${contents.map(({ parts }) => parts[0]?.text).join()}`
        },
    ),
  )
  const helper = new LlmAgent({ name: 'helper', model: inner })
  const calls = ['x', 'y'].map((request) => ({ name: 'helper', args: { request }, id: request }))
  const agent = new LlmAgent({ name: 'boss', model: scriptedModel([{ calls }, 'ok']), tools: [agentTool(helper)] })
  const { events } = await runnerOf(agent).complete({ userId: 'ada', message: 'Go' })
  expect(responsesOf(events)).toEqual([
    { id: 'x', name: 'helper', response: { text: 'about x' } },
    { id: 'y', name: 'helper', response: { text: 'about y' } },
  ])
})

test('the runner yields events of an agent tool while the agent tool runs', async () => {
  const held = createDeferred()
  const inner = scriptedModel([{ deltas: ['4', '2'], calls: [{ name: 'wait' }] }, 'done'])
  const wait = plainTool('wait', () => held.promise)
  const helper = new LlmAgent({ name: 'helper', model: inner, tools: [wait] })
  const model = scriptedModel([ask('helper', 'c1'), 'ok'])
  const agent = new LlmAgent({ name: 'boss', model, tools: [agentTool(helper)] })
  const seen: unknown[] = []
  for await (const event of runnerOf(agent).run({ userId: 'ada', message: 'Go', runConfig: { streaming: true } })) {
    if (event.author !== 'helper') continue
    seen.push([event.partial, event.content?.parts[0]?.text, event.isolationScope])
    if (!event.partial) held.resolve()
  }
  expect(seen.slice(0, 3)).toEqual([
    [true, '4', 'boss/helper@c1'],
    [true, '2', 'boss/helper@c1'],
    [undefined, '42', 'boss/helper@c1'],
  ])
})

const speaker = (name: string, ...steps: ScriptedStep[]) => new LlmAgent({ name, model: scriptedModel(steps) })

test.each([
  ['a sequence', new SequentialAgent({ name: 'flow', subAgents: [speaker('a', 'one'), speaker('b', 'two')] })],
  ['a loop', new LoopAgent({ name: 'flow', maxIterations: 2, subAgents: [speaker('a', 'one', 'two')] })],
  ['a parallel agent', new ParallelAgent({ name: 'flow', subAgents: [speaker('b', 'two')] })],
])('the runner answers with the last text when %s of agents is an agent tool', async (_, flow) => {
  const model = scriptedModel([ask('flow', 'c1'), 'ok'])
  const agent = new LlmAgent({ name: 'boss', model, tools: [agentTool(flow)] })
  const { events } = await runnerOf(agent).complete({ userId: 'ada', message: 'Go' })
  expect(responsesOf(events)).toEqual([{ id: 'c1', name: 'flow', response: { text: 'two' } }])
  expect(
    events
      .filter(({ isolationScope }) => isolationScope)
      .every(({ nodeInfo }) => nodeInfo?.path.startsWith('boss/flow@c1')),
  ).toBe(true)
})

test('an agent tool shows its request to the first agent of a sequence, and the first output to the second agent', async () => {
  const first = scriptedModel(['one'])
  const second = scriptedModel(['two'])
  const flow = new SequentialAgent({
    name: 'flow',
    subAgents: [new LlmAgent({ name: 'a', model: first }), new LlmAgent({ name: 'b', model: second })],
  })
  const agent = new LlmAgent({ name: 'boss', model: scriptedModel([ask('flow'), 'ok']), tools: [agentTool(flow)] })
  await runnerOf(agent).complete({ userId: 'ada', message: 'Go' })
  const requestOf = (model: typeof first) =>
    model.requests[0]?.contents.map(({ role, parts }) => [role, parts.at(-1)?.text])
  expect(requestOf(first)).toEqual([['user', 'of flow']])
  expect(requestOf(second)).toEqual([
    ['user', 'of flow'],
    ['user', '[a] said: one'],
  ])
})

test("the runner applies a transfer only inside its agent tool: the caller's agent stays active", async () => {
  const clerk = speaker('clerk', 'clerk answers')
  const helper = new LlmAgent({
    name: 'helper',
    model: scriptedModel([{ calls: [{ name: 'transfer_to_agent', args: { agent_name: 'clerk' } }] }]),
    subAgents: [clerk],
  })
  const agent = new LlmAgent({
    name: 'boss',
    model: scriptedModel([ask('helper'), 'ok', 'boss again']),
    tools: [agentTool(helper)],
  })
  const runner = runnerOf(agent)
  const first = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
  expect(responsesOf(first.events).at(-1)?.response).toEqual({ text: 'clerk answers' })
  expect((await runner.complete({ userId: 'ada', sessionId: 's1', message: 'And?' })).text).toBe('boss again')
})

test('the runner cancels the body inside an agent tool and answers every open call up to the root', async () => {
  const begun = createDeferred()
  let signal: AbortSignal | undefined
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    run: async (_, context) => {
      signal = context.signal
      begun.resolve()
      await new Promise(() => {})
    },
  })
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel([ask('pay', 'p')]), tools: [pay] })
  const agent = new LlmAgent({
    name: 'boss',
    model: scriptedModel([ask('helper', 'h'), 'Next.']),
    tools: [agentTool(helper)],
  })
  const runner = runnerOf(agent)
  const run = runner.run({ userId: 'ada', sessionId: 's1', message: 'Go' })
  begun.promise.then(() => run.cancel())
  const events: Event[] = []
  for await (const event of run) events.push(event)
  expect(signal?.aborted).toBe(true)
  expect(responsesOf(events).map(({ id, response }) => [id, response.errorCode])).toEqual([
    ['p', 'UNKNOWN_OUTCOME'],
    ['h', 'CANCELLED'],
  ])
  expect(events.at(-1)).toMatchObject({ errorCode: 'CANCELLED', nodeInfo: { path: 'boss' } })
  expect((await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Well?' })).text).toBe('Next.')
})

test('the runner applies an escalation only inside its agent tool: the outer loop continues', async () => {
  const stop = plainTool('stop', (_, context) => {
    context.actions.escalate = true
  })
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel([ask('stop')]), tools: [stop] })
  const boss = new LlmAgent({
    name: 'boss',
    model: scriptedModel([ask('helper'), 'round one', 'round two']),
    tools: [agentTool(helper)],
  })
  const agent = new LoopAgent({ name: 'loop', maxIterations: 2, subAgents: [boss] })
  expect((await runnerOf(agent).complete({ userId: 'ada', message: 'Go' })).text).toBe('round two')
})
