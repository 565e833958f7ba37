import { afterEach, expect, test, vi } from 'vitest'
import { agentTool } from '../agent/agents/agent-tool.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { SequentialAgent } from '../agent/agents/workflow.ts'
import { Runner } from '../runner/runner.ts'
import { toolSource } from '../tool/tool-source.ts'
import { modelsFor } from './models.ts'

afterEach(() => vi.unstubAllEnvs())

test('names of Gemini, OpenAI and Anthropic are answered wherever in the tree they stand', async () => {
  vi.stubEnv('GEMINI_API_KEY', 'k')
  const inner = new LlmAgent({ name: 'inner', model: 'claude-sonnet-4-5' })
  const agent = new SequentialAgent({
    name: 'root',
    subAgents: [
      new LlmAgent({ name: 'first', model: 'gemini-2.5-flash' }),
      new LlmAgent({ name: 'second', model: 'gpt-5-mini', tools: [agentTool(inner)] }),
    ],
  })
  const models = await modelsFor(agent)
  expect(Object.keys(models)).toEqual(['gemini-*', 'gpt-*', 'claude-*'])
  expect(models['gpt-*']?.('gpt-5-mini').name).toBe('gpt-5-mini')
  expect(() => new Runner({ appName: 'app', agent, models })).not.toThrow()
})

test('what nobody names is not loaded', async () => {
  expect(Object.keys(await modelsFor(new LlmAgent({ name: 'a', model: 'gemini-2.5-flash' })))).toEqual(['gemini-*'])
})

test('a name without a key is an error that says what to set', async () => {
  for (const name of ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI']) vi.stubEnv(name, '')
  const agent = new LlmAgent({ name: 'a', model: 'gemini-2.5-flash' })
  const models = await modelsFor(agent)
  expect(() => new Runner({ appName: 'app', agent, models })).toThrow('GEMINI_API_KEY')
})

test('agents in a circle of tools do not keep it busy for ever', async () => {
  const tools: ReturnType<typeof agentTool>[] = []
  const agent = new LlmAgent({ name: 'a', model: 'gemini-2.5-flash', tools: [toolSource(() => tools)] })
  tools.push(agentTool(agent))
  expect(Object.keys(await modelsFor(agent))).toEqual(['gemini-*'])
})
