import { InMemoryArtifactService, LlmAgent, Runner, SequentialAgent } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { notebook, play } from './kit.ts'

const told = async (instruction: string, stateDelta?: { [key: string]: unknown }) => {
  const { model, error } = await play({ steps: ['ok'], agent: { instruction }, ...(stateDelta && { stateDelta }) })
  return { said: model.requests[0]?.config.systemInstruction, error }
}

test('an instruction speaks of what is in the session’s, the user’s and the app’s state', async () => {
  const instruction = 'You serve {user:name} of {app:firm}, who is in a {mood} mood{whim?} and likes {list}.'
  const state = { 'user:name': 'Ada', 'app:firm': 'Acme', mood: 'good', list: ['tea', 'maths'] }
  const { said, error } = await told(instruction, state)
  expect(said).toBe('You serve Ada of Acme, who is in a good mood and likes ["tea","maths"].')
  expect(error).toBeUndefined()
})

test('a value that looks like a placeholder is not filled again', async () => {
  expect((await told('Say {a}.', { a: '{b}', b: 'secret' })).said).toBe('Say {b}.')
})

test('a missing value ends the run with an error that says how to make it optional', async () => {
  const { said, error } = await told('You serve {user:name}.')
  expect(said).toBeUndefined()
  expect(error).toEqual({ code: 'AGENT_ERROR', message: expect.stringContaining('Write {user:name?}') })
})

test('braces of JSON and of code are left as they are', async () => {
  const text = 'Answer {"city": "Oslo", "in": {}} or { spaced } or {{}} or {1}.'
  expect((await told(text)).said).toBe(text)
})

test('an artifact’s text is part of the instruction, in its latest version', async () => {
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

test('an artifact without an artifact service is an error that names the service', async () => {
  const { error } = await told('Rules: {artifact.rules.txt}')
  expect(error).toEqual({ code: 'AGENT_ERROR', message: expect.stringContaining('artifactService') })
})

test('a missing artifact is named', async () => {
  const model = scriptedModel(['never'])
  const agent = new LlmAgent({ name: 'agent', model, instruction: '{artifact.rules.txt}' })
  const artifactService = new InMemoryArtifactService()
  const runner = new Runner({ appName: 'app', agent, artifactService, logger: notebook() })
  const { error } = await runner.complete({ userId: 'ada', message: 'Hi' })
  expect(error?.message).toContain('{artifact.rules.txt?}')
  expect(model.requests).toHaveLength(0)
})

test('an instruction can be written by a function of the state, and its braces are its own', async () => {
  const { model } = await play({
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

test('an instruction function that throws is reported and the model is not asked', async () => {
  const { error, model } = await play({
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

test('an instruction follows the state from one model call to the next', async () => {
  const { model } = await play({
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

test('the root’s global instruction is told to every agent, before its own, and nobody else’s is', async () => {
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

test('a workflow at the root has no global instruction, and its children are not told each other’s', async () => {
  const model = scriptedModel(['one', 'two'])
  const first = new LlmAgent({ name: 'first', model, globalInstruction: 'For all.' })
  const second = new LlmAgent({ name: 'second', model })
  const agent = new SequentialAgent({ name: 'line', subAgents: [first, second] })
  await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Hi' })
  expect(model.requests.map(({ config }) => config.systemInstruction)).toEqual([undefined, undefined])
})
