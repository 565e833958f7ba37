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
import { bare, notebook, play } from './kit.ts'

const around = (who: string, seen: string[]): Callbacks => {
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

test('plugins come before the agent, the first plugin first, around everything', async () => {
  const seen: string[] = []
  const plugin = (name: string): Plugin => ({
    name,
    ...around(name, seen),
    beforeRun: () => void seen.push(`${name} beforeRun`),
    afterRun: () => void seen.push(`${name} afterRun`),
  })
  const look = bare('look', () => 'seen')
  const fail = bare('fail', () => {
    throw new ToolError('broken')
  })
  await play({
    tools: [look, fail],
    steps: [{ calls: [{ name: 'look' }] }, { calls: [{ name: 'fail' }] }, { error: 'down' }],
    agent: around('agent', seen),
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

test('a plugin that answers is the only one asked', async () => {
  const seen: string[] = []
  const { text, model } = await play({
    steps: [],
    agent: around('agent', seen),
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

test('plugins see workflow agents, their children and agents behind tools', async () => {
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
    tools: [bare('look', () => 1)],
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

test('what a plugin writes before the run is stored with the message, which it knows', async () => {
  let heard: unknown
  const { runner, sessionId } = await play({
    steps: ['ok'],
    runner: {
      plugins: [
        {
          name: 'clock',
          beforeRun: ({ message, context }) => {
            heard = message?.parts[0]?.text
            context.state.set('started', true)
          },
        },
      ],
    },
  })
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
  expect(heard).toBe('go')
  expect(session?.events[0]).toMatchObject({ author: 'user', actions: { stateDelta: { started: true } } })
})

const boom = () => {
  throw new Error('plugin broke')
}

test.each(['beforeAgent', 'beforeModel', 'afterModel', 'afterAgent'] as const)(
  'a plugin whose %s throws ends the agent with an error event',
  async (which) => {
    const { error } = await play({ steps: ['ok'], runner: { plugins: [{ name: 'bad', [which]: boom }] } })
    expect(error).toEqual({ code: 'AGENT_ERROR', message: 'plugin broke' })
  },
)

test.each(['beforeRun', 'afterRun'] as const)('a plugin whose %s throws fails the run', async (which) => {
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel(['ok']) })
  const runner = new Runner({ appName: 'app', agent, plugins: [{ name: 'bad', [which]: boom }], logger: notebook() })
  await expect(runner.complete({ userId: 'ada', message: 'Go' })).rejects.toThrow('plugin broke')
})

test('a session goes on after a plugin has failed a run at its start', async () => {
  let times = 0
  const plugin: Plugin = {
    name: 'moody',
    beforeRun: () => {
      if (times++ === 1) throw new Error('not now')
    },
  }
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel(['one', 'two']) })
  const runner = new Runner({ appName: 'app', agent, plugins: [plugin], logger: notebook() })
  const message = { userId: 'ada', sessionId: 's1', message: 'Go' }
  expect((await runner.complete(message)).text).toBe('one')
  await expect(runner.complete(message)).rejects.toThrow('not now')
  expect((await runner.complete(message)).text).toBe('two')
})

test('closing the runner closes plugins and toolsets, also those behind agent tools, once', async () => {
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

test('what fails to close does not keep the rest open, and is told', async () => {
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
