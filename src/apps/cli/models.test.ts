import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { agentTool } from '../../engine/agent/agents/agent-tool.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { SequentialAgent } from '../../engine/agent/agents/workflow.ts'
import { modelResolver } from '../../engine/runner/models.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { toolSource } from '../../engine/tool/tool-source.ts'
import { modelProviders, modelsFor, usableModels } from './models.ts'

afterEach(() => vi.unstubAllEnvs())

test('modelsFor() finds models of Gemini, OpenAI and Anthropic for agents anywhere in the tree', async () => {
  for (const name of ['GEMINI_API_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY']) vi.stubEnv(name, 'k')
  const inner = new LlmAgent({ name: 'inner', model: 'claude-sonnet-4-5' })
  const agent = new SequentialAgent({
    name: 'root',
    subAgents: [
      new LlmAgent({ name: 'first', model: 'gemini-2.5-flash' }),
      new LlmAgent({ name: 'second', model: 'gpt-5-mini', tools: [agentTool(inner)] }),
    ],
  })
  const models = await modelsFor(agent)
  expect(Object.keys(models)).toEqual(['gemini-*', 'gpt-*', 'claude-*', '*'])
  expect(models['gpt-*']?.('gpt-5-mini').name).toBe('gpt-5-mini')
  expect(() => new Runner({ appName: 'app', agent, models })).not.toThrow()
})

test('modelsFor() loads no provider that no agent names', async () => {
  expect(Object.keys(await modelsFor(new LlmAgent({ name: 'a', model: 'gemini-2.5-flash' })))).toEqual([
    'gemini-*',
    '*',
  ])
})

test.each(modelProviders)(
  'a model like $pattern without a key is refused with the variable to set',
  async (provider) => {
    for (const name of provider.keyNames) vi.stubEnv(name, '')
    const agent = new LlmAgent({ name: 'a', model: provider.pattern.replace('*', '9') })
    const models = await modelsFor(agent)
    expect(() => new Runner({ appName: 'app', agent, models })).toThrow(`9 needs a key. Set ${provider.keyNames[0]}`)
    vi.stubEnv(provider.keyNames[0] ?? '', 'k')
    expect(() => new Runner({ appName: 'app', agent, models })).not.toThrow()
  },
)

test.each(modelProviders)(
  'a model like $pattern without its package and a key is refused with both at once',
  async ({ pattern, packageName, keyNames }) => {
    for (const name of keyNames) vi.stubEnv(name, '')
    const agent = new LlmAgent({ name: 'a', model: pattern.replace('*', '9') })
    const refusal = async (): Promise<unknown> => {
      const models = await modelsFor(agent, (names) => names)
      try {
        return new Runner({ appName: 'app', agent, models })
      } catch (error) {
        return error
      }
    }
    const both = new RegExp(`9 needs ${packageName} and a key\\. Set ${keyNames[0]}.* Run: npm i ${packageName}$`)
    expect(await refusal()).toMatchObject({ code: 'MISSING_PEER', message: expect.stringMatching(both) })
    vi.stubEnv(keyNames[0] ?? '', 'k')
    const one = new RegExp(`9 needs ${packageName}\\. Run: npm i ${packageName}$`)
    expect(await refusal()).toMatchObject({ code: 'MISSING_PEER', message: expect.stringMatching(one) })
  },
)

test('the workbench finds models of every provider that is installed and has a key', async () => {
  for (const { keyNames } of modelProviders) for (const name of keyNames) vi.stubEnv(name, '')
  vi.stubEnv('OPENAI_API_KEY', 'k')
  expect(usableModels()).toEqual(['gpt-*'])
  expect(usableModels((names) => names)).toEqual([])
  const models = await modelsFor(new LlmAgent({ name: 'a', model: 'gemini-2.5-flash' }), undefined, usableModels())
  expect(models['gpt-*']?.('gpt-5').name).toBe('gpt-5')
})

test('an unknown model name is refused with the names that work', async () => {
  const agent = new LlmAgent({ name: 'a', model: 'gemni-2.5-flash' })
  const models = await modelsFor(agent)
  expect(() => new Runner({ appName: 'app', agent, models })).toThrow(
    'No provider has the model "gemni-2.5-flash". Did you mean gemini-2.5-flash? These names work: gemini-* (npm i @google/genai), gpt-* (npm i @ai-sdk/openai), claude-* (npm i @ai-sdk/anthropic).',
  )
})

test('a runner lists the patterns of its models when none matches', () => {
  const create = () => expect.unreachable()
  expect(() => modelResolver({ 'local-*': create, 'gemini-*': create })('locl-1', 'desk')).toThrow(
    'Agent "desk" uses the model name "locl-1", which no pattern in the models option of the runner matches. Names that work: local-*, gemini-*.',
  )
})

test('modelsFor() finds the models of agents whose tools refer to each other in a cycle', async () => {
  const tools: ReturnType<typeof agentTool>[] = []
  const agent = new LlmAgent({ name: 'a', model: 'gemini-2.5-flash', tools: [toolSource(() => tools)] })
  tools.push(agentTool(agent))
  expect(Object.keys(await modelsFor(agent))).toEqual(['gemini-*', '*'])
})

describe.each(modelProviders)('the provider of $pattern', ({ pattern, packageName, load }) => {
  const name = pattern.replace('*', '9')

  test('creates a model by name', async () => {
    vi.stubEnv('GEMINI_API_KEY', 'k')
    expect((await load())(name).name).toBe(name)
  })

  test('is an optional peer of the package', () => {
    const { peerDependenciesMeta } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(peerDependenciesMeta[packageName]).toEqual({ optional: true })
  })

  test('is named in the advice of a runner without models', () => {
    expect(() => modelResolver({})(name, 'agent')).toThrow(`npm i ${packageName}`)
  })
})
