import { InMemoryArtifactService, LlmAgent, Runner, SequentialAgent } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { recordingLogger, runScenario } from './kit.ts'

const sendWithInstruction = async (instruction: string, stateDelta?: { [key: string]: unknown }) => {
  const { model, error } = await runScenario({
    steps: ['ok'],
    agent: { instruction },
    ...(stateDelta && { stateDelta }),
  })
  return { sent: model.requests[0]?.config.systemInstruction, error }
}

test('the runner fills placeholders with session, user and app state', async () => {
  const instruction = 'You serve {user:name} of {app:firm}, who is in a {mood} mood{whim?} and likes {list}.'
  const state = { 'user:name': 'Ada', 'app:firm': 'Acme', mood: 'good', list: ['tea', 'maths'] }
  const { sent, error } = await sendWithInstruction(instruction, state)
  expect(sent).toBe('You serve Ada of Acme, who is in a good mood and likes ["tea","maths"].')
  expect(error).toBeUndefined()
})

test('the runner does not fill placeholders inside a filled value', async () => {
  expect((await sendWithInstruction('Say {a}.', { a: '{b}', b: 'secret' })).sent).toBe('Say {b}.')
})

test('the runner ends the run with an error that suggests the optional placeholder when a value is missing', async () => {
  const { sent, error } = await sendWithInstruction('You serve {user:name}.')
  expect(sent).toBeUndefined()
  expect(error).toEqual({ code: 'AGENT_ERROR', message: expect.stringContaining('or write {user:name?}') })
})

test('the runner leaves braces of JSON and of code unchanged', async () => {
  const text = 'Answer {"city": "Oslo", "in": {}} or { spaced } or {{}} or {1}.'
  expect((await sendWithInstruction(text)).sent).toBe(text)
})

test('the runner fills an artifact placeholder with the text of the latest version', async () => {
  const artifactService = new InMemoryArtifactService()
  const key = { appName: 'app', userId: 'ada', sessionId: 's1', filename: 'rules.txt' }
  await artifactService.saveArtifact({ ...key, artifact: { text: 'Old.' } })
  await artifactService.saveArtifact({ ...key, artifact: { text: 'Be brief.' } })
  const model = scriptedModel(['ok'])
  const agent = new LlmAgent({ name: 'agent', model, instruction: 'Rules: {artifact.rules.txt}{artifact.none.txt?}' })
  const runner = new Runner({ appName: 'app', agent, artifactService })
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Hi' })
  expect(model.requests[0]?.config.systemInstruction).toBe('Rules: Be brief.')
})

test('the runner names artifactService in the error for an artifact placeholder without an artifact service', async () => {
  const { error } = await sendWithInstruction('Rules: {artifact.rules.txt}')
  expect(error).toEqual({ code: 'AGENT_ERROR', message: expect.stringContaining('artifactService') })
})

test('the runner names the optional placeholder in the error for a missing artifact', async () => {
  const model = scriptedModel(['never'])
  const agent = new LlmAgent({ name: 'agent', model, instruction: '{artifact.rules.txt}' })
  const artifactService = new InMemoryArtifactService()
  const runner = new Runner({ appName: 'app', agent, artifactService, logger: recordingLogger() })
  const { error } = await runner.complete({ userId: 'ada', message: 'Hi' })
  expect(error?.message).toContain('{artifact.rules.txt?}')
  expect(model.requests).toHaveLength(0)
})

test('the runner calls an instruction function with state and leaves its braces unchanged', async () => {
  const { model } = await runScenario({
    steps: ['ok'],
    stateDelta: { tone: 'kind' },
    agent: {
      instruction: async ({ state, invocation }) => {
        await Promise.resolve()
        return `${invocation.agentName} is ${state.get('tone')} to ${invocation.userId}. {not_state}`
      },
    },
  })
  expect(model.requests[0]?.config.systemInstruction).toBe('agent is kind to ada. {not_state}')
})

test('the runner reports an error thrown by an instruction function and does not ask the model', async () => {
  const { error, model } = await runScenario({
    steps: ['never'],
    agent: {
      instruction: () => {
        throw new Error('no instruction today')
      },
    },
  })
  expect(error).toEqual({ code: 'AGENT_ERROR', message: 'no instruction today' })
  expect(model.requests).toHaveLength(0)
})

test('the runner fills placeholders again before each model call', async () => {
  const { model } = await runScenario({
    steps: [{ calls: [{ name: 'set_mood' }] }, 'ok'],
    agent: { instruction: 'Mood: {mood?}' },
    tools: [
      {
        name: 'set_mood',
        description: 'Sets the mood',
        declaration: () => ({ name: 'set_mood', description: 'Sets the mood' }),
        run: (_, { state }) => state.set('mood', 'bright'),
      },
    ],
  })
  expect(model.requests.map(({ config }) => config.systemInstruction)).toEqual(['Mood: ', 'Mood: bright'])
})

test("the runner puts the root agent's globalInstruction before every instruction, and ignores those of sub-agents", async () => {
  const model = scriptedModel([{ calls: [{ name: 'transfer_to_agent', args: { agent_name: 'clerk' } }] }, 'ok'])
  const clerk = new LlmAgent({ name: 'clerk', instruction: 'You are a clerk.', globalInstruction: 'Never seen.' })
  const agent = new LlmAgent({
    name: 'root',
    model,
    instruction: 'You lead.',
    globalInstruction: 'We are {app:firm}.',
    subAgents: [clerk],
  })
  await new Runner({ appName: 'app', agent }).complete({
    userId: 'ada',
    message: 'Hi',
    stateDelta: { 'app:firm': 'X' },
  })
  const [root, second] = model.requests.map(({ config }) => config.systemInstruction ?? '')
  expect(root).toMatch(/^We are X\.\n\nYou lead\./)
  expect(second).toMatch(/^We are X\.\n\nYou are a clerk\./)
  expect(second).not.toContain('Never seen')
})

test('the runner ignores the globalInstruction of children of a root workflow agent', async () => {
  const model = scriptedModel(['one', 'two'])
  const first = new LlmAgent({ name: 'first', model, globalInstruction: 'For all.' })
  const second = new LlmAgent({ name: 'second', model })
  const agent = new SequentialAgent({ name: 'line', subAgents: [first, second] })
  await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Hi' })
  expect(model.requests.map(({ config }) => config.systemInstruction)).toEqual([
    'You are the agent "first".',
    'You are the agent "second".',
  ])
})
