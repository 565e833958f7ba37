import { openai } from '@ai-sdk/openai'
import {
  type Agent,
  agentTool,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  Runner,
  SequentialAgent,
  ToolwrightError,
} from 'toolwright'
import { fromAiSdk } from 'toolwright/ai-sdk'
import { scriptedLive, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { plainTool } from './kit.ts'

const model = scriptedModel([])
const named = (name: string, more: object = {}) => new LlmAgent({ name, model, ...more })
const run = (agent: Agent) => new Runner({ appName: 'app', agent })

/** The message of the INVALID_CONFIG error that building throws. */
function problem(build: () => unknown): string {
  try {
    build()
  } catch (error) {
    expect(error).toBeInstanceOf(ToolwrightError)
    expect((error as ToolwrightError).code).toBe('INVALID_CONFIG')
    return (error as Error).message
  }
  throw new Error('it was built')
}

test('the agent tree rejects two tools with one name', () => {
  const look = () => plainTool('look', () => 1)
  expect(problem(() => named('a', { tools: [look(), [look()]] }))).toMatch(/"look" is defined twice.*prefixTools/)
})

test('the agent tree rejects a tool with the name of a tool that the framework adds', () => {
  const taken = plainTool('set_model_response', () => 1)
  const agent = named('a', { tools: [taken], outputSchema: { type: 'object', properties: {} } })
  expect(problem(() => run(agent))).toMatch(/"set_model_response" is defined twice.*agent "a"/)
})

test('the agent tree rejects a tool with a reserved name', () => {
  expect(problem(() => named('a', { tools: [plainTool('adk_request_confirmation', () => 1)] }))).toContain('reserved')
})

test('the agent tree rejects a value in tools that is not a tool', () => {
  expect(problem(() => named('a', { tools: ['look'] }))).toMatch(/agent "a".*tool\(\{/)
})

test.each(['', 'user', 'a/b', 'a@1', 'a b', '1a', 'ä'])('the agent tree rejects the agent name %j', (name) => {
  expect(problem(() => named(name))).toContain('is not a valid agent name')
  expect(problem(() => new SequentialAgent({ name, subAgents: [named('x')] }))).toContain('is not a valid agent name')
  expect(problem(() => run({ name, run: async function* () {} }))).toContain('is not a valid agent name')
})

test('the agent tree rejects two sub-agents with one name', () => {
  const agent = new SequentialAgent({ name: 'line', subAgents: [named('twin'), named('twin')] })
  expect(problem(() => run(agent))).toMatch(/"line" has two sub-agents named "twin"/)
})

test('the agent tree rejects one agent at two positions of the tree', () => {
  const shared = named('shared')
  const line = (name: string) => new SequentialAgent({ name, subAgents: [shared] })
  const agent = new SequentialAgent({ name: 'root', subAgents: [line('a'), line('b')] })
  expect(problem(() => run(agent))).toMatch(/"shared" is in the tree twice, below "a" and below "b"/)
})

test('the agent tree rejects an agent that contains itself', () => {
  const below: Agent[] = [named('leaf')]
  const inner = new SequentialAgent({ name: 'inner', subAgents: below })
  const outer = new SequentialAgent({ name: 'outer', subAgents: [inner] })
  below.push(inner)
  expect(problem(() => run(outer))).toContain('outer -> inner -> inner')
  below[1] = outer
  expect(problem(() => run(outer))).toContain('outer -> inner -> outer')
})

test.each([5, {}, 'x', [null], [{ name: 'leaf' }]])(
  'the agent tree rejects %j as the subAgents of a custom agent',
  (subAgents) => {
    const custom = { name: 'custom', subAgents, run: async function* () {} } as unknown as Agent
    expect(problem(() => run(custom))).toContain('The subAgents of agent "custom" must be a list of agents')
  },
)

test('the agent tree accepts agents, an empty list or undefined as the subAgents of a custom agent', () => {
  for (const subAgents of [[named('leaf')], [], undefined])
    run({ name: 'custom', subAgents, run: async function* () {} })
})

test('the agent tree rejects a cycle of agents that call each other as tools', () => {
  const below: Agent[] = [named('leaf')]
  const flow = new SequentialAgent({ name: 'flow', subAgents: below })
  const boss = named('boss', { tools: [agentTool(flow)] })
  below.push(boss)
  expect(problem(() => run(flow))).toMatch(/cycle: flow -> flow/)
})

test('the agent tree accepts one agent as a tool of two agents, and as a tool and a sub-agent', () => {
  const helper = named('helper')
  const use = (name: string) => named(name, { tools: [agentTool(helper)] })
  expect(() => run(new SequentialAgent({ name: 'line', subAgents: [use('a'), use('b'), helper] }))).not.toThrow()
})

test('the agent tree rejects an agent without a model of its own or of an ancestor', () => {
  const agent = new SequentialAgent({ name: 'line', subAgents: [new LlmAgent({ name: 'mute' })] })
  expect(problem(() => run(agent))).toMatch(/"mute" has no model.*new LlmAgent\(\{ model/)
})

test('the agent tree rejects a model name without a registered model and names the package to use', () => {
  expect(problem(() => run(named('a', { model: 'gemini-2.5-pro' })))).toMatch(/"gemini-2.5-pro".*toolwright\/gemini/)
  expect(problem(() => run(named('a', { model: 'gpt-9' })))).toContain('toolwright/ai-sdk')
  expect(problem(() => run(named('a', { model: 'house-model' })))).toContain("models: { 'pattern-*'")
  expect(problem(() => run(named('a', { model: 'openai/gpt-5' })))).toContain('fromAiSdk(')
})

test('the agent tree rejects an AI SDK model that is not wrapped in fromAiSdk', () => {
  const model = openai('gpt-5')
  expect(problem(() => named('a', { model: model as never }))).toMatch(/model must be .*Wrap it with fromAiSdk\(\)/)
  const models = { 'gpt-*': () => model as never }
  const agent = named('a', { model: 'gpt-5' })
  expect(problem(() => new Runner({ appName: 'app', agent, models }))).toContain('Wrap it with fromAiSdk()')
  expect(() => named('a', { model: fromAiSdk(model) })).not.toThrow()
})

test('the agent tree rejects a live model, and says where it goes', () => {
  const model = scriptedLive([]) as never
  expect(problem(() => named('a', { model }))).toMatch(/model must be .*live model. Pass it to connectLive\(/)
})

test('the agent tree rejects a model name without a registered model in an agent tool', () => {
  const agent = named('boss', { tools: [agentTool(named('helper', { model: 'gemini-x' }))] })
  expect(problem(() => run(agent))).toMatch(/"helper".*toolwright\/gemini/)
})

test.each([
  ['SequentialAgent', (options: never) => new SequentialAgent(options)],
  ['ParallelAgent', (options: never) => new ParallelAgent(options)],
  ['LoopAgent', (options: object) => new LoopAgent({ ...options, maxIterations: 1 } as never)],
])('the agent tree rejects a %s without subAgents', (_, make) => {
  expect(problem(() => make({ name: 'empty', subAgents: [] } as never))).toContain('"empty" has no subAgents')
  expect(problem(() => make({ name: 'empty' } as never))).toContain('"empty" has no subAgents')
})

test.each([undefined, 0, -1, 1.5, Number.POSITIVE_INFINITY])(
  'the agent tree rejects a LoopAgent with maxIterations %s',
  (maxIterations) => {
    const options = { name: 'loop', subAgents: [named('a')], maxIterations } as {
      name: string
      subAgents: Agent[]
      maxIterations: number
    }
    expect(problem(() => new LoopAgent(options))).toContain('maxIterations of LoopAgent "loop"')
  },
)

test('an agent and a runner reject limits of 0 when they are built', () => {
  expect(problem(() => named('a', { maxIterations: 0 }))).toContain('maxIterations')
  expect(problem(() => named('a', { toolExecution: { maxConcurrency: 0 } }))).toContain('maxConcurrency')
  expect(problem(() => new Runner({ appName: 'app', agent: named('a'), toolTimeoutMs: 0 }))).toContain('toolTimeoutMs')
})

test('the agent tree rejects an outputSchema or inputSchema that is not a schema', () => {
  expect(problem(() => named('a', { outputSchema: 7 }))).toContain('outputSchema of agent "a"')
  expect(problem(() => named('a', { inputSchema: 'text' }))).toContain('inputSchema of agent "a"')
})
