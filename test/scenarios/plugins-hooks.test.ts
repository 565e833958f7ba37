import {
  agentTool,
  type Callbacks,
  LlmAgent,
  type Plugin,
  Runner,
  SequentialAgent,
  StaticToolset,
  ToolError,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { plainTool, recordingLogger, runScenario } from './kit.ts'

const notingCallbacks = (who: string, seen: string[]): Callbacks => {
  const note = (what: string) => () => void seen.push(`${who} ${what}`)
  return {
    beforeAgent: note('beforeAgent'),
    afterAgent: note('afterAgent'),
    beforeModel: note('beforeModel'),
    afterModel: note('afterModel'),
    onModelError: note('onModelError'),
    beforeTool: note('beforeTool'),
    afterTool: note('afterTool'),
    onToolError: note('onToolError'),
  }
}

test('the runner calls hooks of plugins in order before callbacks of the agent', async () => {
  const seen: string[] = []
  const plugin = (name: string): Plugin => ({
    name,
    ...notingCallbacks(name, seen),
    beforeRun: () => void seen.push(`${name} beforeRun`),
    afterRun: () => void seen.push(`${name} afterRun`),
  })
  const look = plainTool('look', () => 'seen')
  const fail = plainTool('fail', () => {
    throw new ToolError('broken')
  })
  await runScenario({
    tools: [look, fail],
    steps: [{ calls: [{ name: 'look' }] }, { calls: [{ name: 'fail' }] }, { error: 'down' }],
    agent: notingCallbacks('agent', seen),
    runner: { plugins: [plugin('p1'), plugin('p2')] },
  })
  const all = (...what: string[]) => what.flatMap((one) => [`p1 ${one}`, `p2 ${one}`, `agent ${one}`])
  expect(seen).toEqual([
    'p1 beforeRun',
    'p2 beforeRun',
    ...all('beforeAgent', 'beforeModel', 'afterModel', 'beforeTool', 'afterTool'),
    ...all('beforeModel', 'afterModel', 'beforeTool', 'onToolError'),
    ...all('beforeModel', 'onModelError', 'afterAgent'),
    'p1 afterRun',
    'p2 afterRun',
  ])
})

test('the runner skips later plugins and callbacks when a plugin returns a response', async () => {
  const seen: string[] = []
  const { text, model } = await runScenario({
    steps: [],
    agent: notingCallbacks('agent', seen),
    runner: {
      plugins: [
        { name: 'cache', beforeModel: () => ({ content: { role: 'model', parts: [{ text: 'from the cache' }] } }) },
        { name: 'later', beforeModel: () => void seen.push('later beforeModel') },
      ],
    },
  })
  expect(text).toBe('from the cache')
  expect(model.requests).toHaveLength(0)
  expect(seen).toEqual(['agent beforeAgent', 'agent afterModel', 'agent afterAgent'])
})

test('the runner calls hooks for workflow agents, their children and agent tools', async () => {
  const seen: string[] = []
  const plugin: Plugin = {
    name: 'watch',
    beforeAgent: ({ context }) => void seen.push(`in ${context.invocation.agentName}`),
    afterAgent: ({ context }) => void seen.push(`out ${context.invocation.agentName}`),
    beforeTool: ({ tool }) => void seen.push(`tool ${tool.name}`),
  }
  const helper = new LlmAgent({
    name: 'helper',
    model: scriptedModel([{ calls: [{ name: 'look' }] }, '42']),
    tools: [plainTool('look', () => 1)],
  })
  const boss = new LlmAgent({
    name: 'boss',
    model: scriptedModel([{ calls: [{ name: 'helper', args: { request: 'x' } }] }, 'ok']),
    tools: [agentTool(helper)],
  })
  const agent = new SequentialAgent({ name: 'line', subAgents: [boss] })
  await new Runner({ appName: 'app', agent, plugins: [plugin] }).complete({ userId: 'ada', message: 'Go' })
  expect(seen).toEqual([
    'in line',
    'in boss',
    'tool helper',
    'in helper',
    'tool look',
    'out helper',
    'out boss',
    'out line',
  ])
})

test('the runner passes the message to beforeRun and stores its state with the message', async () => {
  let messageText: unknown
  const { runner, sessionId } = await runScenario({
    steps: ['ok'],
    runner: {
      plugins: [
        {
          name: 'clock',
          beforeRun: ({ message, context }) => {
            messageText = message?.parts[0]?.text
            context.state.set('started', true)
          },
        },
      ],
    },
  })
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
  expect(messageText).toBe('go')
  expect(session?.events[0]).toMatchObject({ author: 'user', actions: { stateDelta: { started: true } } })
})

const boom = () => {
  throw new Error('plugin broke')
}

test.each(['beforeAgent', 'beforeModel', 'afterModel', 'afterAgent'] as const)(
  'the runner ends the agent with AGENT_ERROR when %s of a plugin throws',
  async (which) => {
    const { error } = await runScenario({ steps: ['ok'], runner: { plugins: [{ name: 'bad', [which]: boom }] } })
    expect(error).toEqual({ code: 'AGENT_ERROR', message: 'plugin broke' })
  },
)

test.each(['beforeRun', 'afterRun'] as const)('the runner fails the run when %s of a plugin throws', async (which) => {
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel(['ok']) })
  const runner = new Runner({
    appName: 'app',
    agent,
    plugins: [{ name: 'bad', [which]: boom }],
    logger: recordingLogger(),
  })
  await expect(runner.complete({ userId: 'ada', message: 'Go' })).rejects.toThrow('plugin broke')
})

test("the runner accepts the next message after a plugin's beforeRun throws", async () => {
  let times = 0
  const plugin: Plugin = {
    name: 'moody',
    beforeRun: () => {
      if (times++ === 1) throw new Error('not now')
    },
  }
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel(['one', 'two']) })
  const runner = new Runner({ appName: 'app', agent, plugins: [plugin], logger: recordingLogger() })
  const message = { userId: 'ada', sessionId: 's1', message: 'Go' }
  expect((await runner.complete(message)).text).toBe('one')
  await expect(runner.complete(message)).rejects.toThrow('not now')
  expect((await runner.complete(message)).text).toBe('two')
})

test('the runner closes plugins and toolsets once, including those of agent tools', async () => {
  const seen: string[] = []
  const toolset = (name: string) =>
    Object.assign(new StaticToolset([], { name }), { shutdown: async () => void seen.push(name) })
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel([]), tools: [toolset('inner')] })
  const agent = new LlmAgent({ name: 'boss', model: scriptedModel([]), tools: [agentTool(helper), toolset('outer')] })
  const runner = new Runner({
    appName: 'app',
    agent,
    plugins: [{ name: 'p', close: () => void seen.push('plugin') }],
  })
  await runner.close()
  await runner.close()
  expect(seen.sort()).toEqual(['inner', 'outer', 'plugin'])
})

test('the runner closes every plugin and rejects when one fails to close', async () => {
  const seen: string[] = []
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel([]) })
  const plugins: Plugin[] = [
    { name: 'bad', close: boom },
    { name: 'good', close: () => void seen.push('good') },
  ]
  const runner = new Runner({ appName: 'app', agent, plugins })
  await expect(runner.close()).rejects.toThrow('plugin broke')
  expect(seen).toEqual(['good'])
})
