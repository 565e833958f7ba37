import { LlmAgent, Runner, SequentialAgent, transferToAgent } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

const transfer = (agent_name: string) => ({ calls: [{ name: 'transfer_to_agent', args: { agent_name } }] })

test('transferToAgent() in tools reaches an agent elsewhere in the tree', async () => {
  const near = scriptedModel([transfer('archivist')])
  const archivist = new LlmAgent({
    name: 'archivist',
    description: 'Knows the archive.',
    model: scriptedModel(['It was in 1911.']),
  })
  const library = new LlmAgent({ name: 'library', model: scriptedModel([]), subAgents: [archivist] })
  const desk = new LlmAgent({ name: 'desk', model: near, tools: [transferToAgent()] })
  const agent = new LlmAgent({ name: 'root', model: scriptedModel([transfer('desk')]), subAgents: [desk, library] })
  const { events, text } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'When?' })
  expect(events.map(({ author }) => author)).toEqual(['root', 'root', 'desk', 'desk', 'archivist'])
  expect(events[3]?.actions.transferToAgent).toBe('archivist')
  expect(events[3]?.content?.parts[0]?.functionResponse?.response).toEqual({ status: 'ok' })
  expect(text).toContain('It was in 1911.')
  expect(near.requests[0]?.config.systemInstruction).toContain('- archivist: Knows the archive.')
})

test('an agent without transferToAgent() in tools does not reach an agent elsewhere in the tree', async () => {
  const near = scriptedModel([transfer('archivist'), 'I cannot.'])
  const archivist = new LlmAgent({ name: 'archivist', model: scriptedModel([]) })
  const library = new LlmAgent({ name: 'library', model: scriptedModel([]), subAgents: [archivist] })
  const desk = new LlmAgent({ name: 'desk', model: near })
  const agent = new LlmAgent({ name: 'root', model: scriptedModel([transfer('desk')]), subAgents: [desk, library] })
  const { events } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'When?' })
  expect(events[3]?.content?.parts[0]?.functionResponse?.response).toMatchObject({
    error: 'unknown agent archivist; transfer not performed',
    reachable: ['root', 'library'],
  })
})

test('transferToAgent() in tools reaches a sibling inside a workflow agent', async () => {
  const archivist = new LlmAgent({ name: 'archivist', model: scriptedModel(['From afar.', 'In turn.']) })
  const desk = new LlmAgent({ name: 'desk', model: scriptedModel([transfer('archivist')]), tools: [transferToAgent()] })
  const agent = new SequentialAgent({ name: 'house', subAgents: [desk, archivist] })
  const { events } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Old news?' })
  const texts = events.flatMap(({ author, content }) =>
    content?.parts.flatMap(({ text }) => (text ? [[author, text]] : [])),
  )
  expect(texts).toEqual([
    ['archivist', 'From afar.'],
    ['archivist', 'In turn.'],
  ])
})

test('transfer_to_agent answers with the reachable agents for an unknown name, and the agent continues', async () => {
  const model = scriptedModel([transfer('constructor'), 'I will do it myself.'])
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel([]) })
  const desk = new LlmAgent({ name: 'desk', model, tools: [transferToAgent()] })
  const agent = new LlmAgent({ name: 'root', model: scriptedModel([transfer('desk')]), subAgents: [desk, helper] })
  const { events, text } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Help.' })
  const answer = events.find(({ author, content }) => author === 'desk' && content?.role === 'tool')
  expect(answer?.content?.parts[0]?.functionResponse?.response).toMatchObject({
    error: 'unknown agent constructor; transfer not performed',
    reachable: expect.arrayContaining(['root', 'helper']),
  })
  expect(answer?.actions.transferToAgent).toBeUndefined()
  expect(text).toContain('I will do it myself.')
  model.assertComplete()
})

test('transfer_to_agent answers with an empty list of reachable agents in a tree with one agent', async () => {
  const model = scriptedModel([transfer('anybody'), 'Alone.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [transferToAgent()] })
  const { events, text } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Help.' })
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toMatchObject({
    error: 'unknown agent anybody; transfer not performed',
    reachable: [],
  })
  expect(text).toBe('Alone.')
})

test('transfer_to_agent answers INVALID_ARGS without a name', async () => {
  const model = scriptedModel([{ calls: [{ name: 'transfer_to_agent', args: {} }] }, 'Sorry.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [transferToAgent()] })
  const { events } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Help.' })
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toMatchObject({
    errorCode: 'INVALID_ARGS',
    error: expect.stringContaining('agent_name'),
  })
})
