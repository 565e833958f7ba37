import {
  type Agent,
  agentTool,
  approve,
  confirm,
  InMemorySessionService,
  LlmAgent,
  type LlmAgentOptions,
  Runner,
  SequentialAgent,
  tool,
  transferToAgent,
} from 'toolwright'
import { type ScriptedModel, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { requestFor } from './approvals-kit.ts'
import { offeredTools, recordingLogger } from './kit.ts'

const to = (agent_name: string) => ({ calls: [{ name: 'transfer_to_agent', args: { agent_name } }] })
const runnerOf = (agent: Agent, sessionService = new InMemorySessionService()) =>
  new Runner({ appName: 'app', agent, sessionService, logger: recordingLogger() })
const send = (runner: Runner, message = 'Hi') => runner.complete({ userId: 'ada', sessionId: 's1', message })
const roster = (model: ScriptedModel, request = 0) =>
  (model.requests[request]?.config.systemInstruction ?? '').match(/^- .*/gm) ?? []
const declaredAgents = (model: ScriptedModel) =>
  model.requests[0]?.config.tools
    ?.flatMap((one) => ('functionDeclarations' in one ? (one.functionDeclarations ?? []) : []))
    .flatMap(({ parametersJsonSchema: schema }) => (schema?.properties as Properties | undefined)?.agent_name?.enum)
type Properties = Record<string, { enum?: readonly string[] }>

const office = (rootSteps: Parameters<typeof scriptedModel>[0], clerkSteps: Parameters<typeof scriptedModel>[0]) => {
  const model = scriptedModel(rootSteps)
  const clerkModel = scriptedModel(clerkSteps)
  const clerk = new LlmAgent({ name: 'clerk', description: 'Does the paperwork.', model: clerkModel })
  const agent = new LlmAgent({ name: 'root', description: 'Leads.', model, subAgents: [clerk] })
  return { agent, model, clerkModel }
}

test('the runner offers transfer_to_agent with a roster and runs the chosen agent', async () => {
  const { agent, model, clerkModel } = office([to('clerk')], ['I am the clerk.'])
  const { text, events } = await send(runnerOf(agent))
  expect(offeredTools(model)).toEqual(['transfer_to_agent'])
  expect(roster(model)).toEqual(['- clerk: Does the paperwork.'])
  expect(roster(clerkModel)).toEqual(['- root: Leads.'])
  expect(text).toBe('I am the clerk.')
  expect(events.map(({ author, nodeInfo }) => [author, nodeInfo?.path])).toEqual([
    ['root', 'root'],
    ['root', 'root'],
    ['clerk', 'root'],
  ])
  expect(events[1]?.actions.transferToAgent).toBe('clerk')
})

test('the runner does not offer transfer_to_agent when there is no other agent', async () => {
  const model = scriptedModel(['Alone.'])
  await send(runnerOf(new LlmAgent({ name: 'hermit', model })))
  expect(offeredTools(model)).toEqual([])
  expect(model.requests[0]?.config.systemInstruction).toBeUndefined()
})

test.each([
  ['no restriction', {}, ['- child', '- root', '- peer']],
  ['disallowTransferToParent', { disallowTransferToParent: true }, ['- child', '- peer']],
  ['disallowTransferToPeers', { disallowTransferToPeers: true }, ['- child', '- root']],
  ['disableTransfer', { disableTransfer: true }, []],
])('the runner lists the reachable agents in the roster with %s', async (_, options, expected) => {
  const model = scriptedModel(['Here.'])
  const child = new LlmAgent({ name: 'child', model })
  const middle = new LlmAgent({ name: 'middle', model, subAgents: [child], ...options })
  const peer = new LlmAgent({ name: 'peer', model })
  const agent = new LlmAgent({ name: 'root', model: scriptedModel([to('middle')]), subAgents: [middle, peer] })
  await send(runnerOf(agent))
  expect(roster(model)).toEqual(expected)
})

test('the instruction of a sub-agent names its parent as the agent to transfer to when no agent fits', async () => {
  const { agent, model, clerkModel } = office([to('clerk')], ['I am the clerk.'])
  await send(runnerOf(agent))
  const handBack = 'If no description fits, yours included, transfer to "root", your parent agent.'
  expect(clerkModel.requests[0]?.config.systemInstruction).toContain(handBack)
  expect(model.requests[0]?.config.systemInstruction).not.toContain('your parent agent')
})

test('the instruction of a sub-agent that cannot transfer to its parent does not name it', async () => {
  const model = scriptedModel(['Here.'])
  const clerk = new LlmAgent({ name: 'clerk', model, disallowTransferToParent: true })
  const peer = new LlmAgent({ name: 'peer', model })
  await send(runnerOf(new LlmAgent({ name: 'root', model: scriptedModel([to('clerk')]), subAgents: [clerk, peer] })))
  expect(roster(model)).toEqual(['- peer'])
  expect(model.requests[0]?.config.systemInstruction).toContain('Otherwise answer yourself.')
  expect(model.requests[0]?.config.systemInstruction).not.toContain('root')
})

test('every agent of a tree knows its own name and description, also one that cannot transfer', async () => {
  const clerkModel = scriptedModel(['I am the clerk.'])
  const clerk = new LlmAgent({
    name: 'clerk',
    description: 'Does the paperwork.',
    instruction: 'Be brief.',
    model: clerkModel,
    disableTransfer: true,
  })
  const model = scriptedModel([to('clerk')])
  await send(runnerOf(new LlmAgent({ name: 'root', model, subAgents: [clerk] })))
  expect(model.requests[0]?.config.systemInstruction).toMatch(/^You are the agent "root"\.\n\nTo transfer/)
  expect(clerkModel.requests[0]?.config.systemInstruction).toBe(
    'Be brief.\n\nYou are the agent "clerk". Other agents know this description of you: Does the paperwork.',
  )
})

test('includeIdentity: false leaves the name and description out of the instruction', async () => {
  const model = scriptedModel(['Hello.'])
  const clerk = new LlmAgent({ name: 'clerk', model })
  const options = { instruction: 'Be brief.', includeIdentity: false, disableTransfer: true }
  await send(runnerOf(new LlmAgent({ name: 'root', description: 'Leads.', model, subAgents: [clerk], ...options })))
  expect(model.requests[0]?.config.systemInstruction).toBe('Be brief.')
})

test('the request of an agent without other agents does not change: alone, or as a tool', async () => {
  const helperModel = scriptedModel(['Found.'])
  const helper = new LlmAgent({ name: 'helper', description: 'Finds.', instruction: 'Find.', model: helperModel })
  const model = scriptedModel([{ calls: [{ name: 'helper', args: { request: 'It.' } }] }, 'Done.'])
  const options = { name: 'desk', description: 'Helps.', instruction: 'Help.', model, tools: [agentTool(helper)] }
  await send(runnerOf(new LlmAgent(options)))
  expect(model.requests.map(({ config }) => config.systemInstruction)).toEqual(['Help.', 'Help.'])
  expect(helperModel.requests[0]?.config.systemInstruction).toBe('Find.')
})

test('transfer_to_agent declares the agents that the agent can reach, one by one', async () => {
  const leafModel = scriptedModel(['I am the leaf.'])
  const leaf = new LlmAgent({ name: 'leaf', model: leafModel })
  const middleModel = scriptedModel([to('leaf')])
  const middle = new LlmAgent({ name: 'middle', model: middleModel, subAgents: [leaf], disallowTransferToPeers: true })
  const peer = new LlmAgent({ name: 'peer', model: scriptedModel([]) })
  const model = scriptedModel([to('middle')])
  await send(runnerOf(new LlmAgent({ name: 'root', model, subAgents: [middle, peer] })))
  expect(declaredAgents(model)).toEqual(['middle', 'peer'])
  expect(declaredAgents(middleModel)).toEqual(['leaf', 'root'])
  expect(declaredAgents(leafModel)).toEqual(['middle'])
})

test('transferToAgent() in tools declares every other agent of the tree, also behind a policy', async () => {
  for (const own of [transferToAgent(), confirm(transferToAgent())]) {
    const model = scriptedModel(['Here.'])
    const line = new SequentialAgent({ name: 'line', subAgents: [new LlmAgent({ name: 'leaf', model })] })
    await send(runnerOf(new LlmAgent({ name: 'root', model, tools: [own], subAgents: [line] })))
    expect(declaredAgents(model)?.toSorted()).toEqual(['leaf', 'line'])
  }
})

test('the runner answers NOT_FOUND when the model transfers to a disallowed agent, and the agent continues', async () => {
  const model = scriptedModel([to('root'), 'Then I do it.'])
  const clerk = new LlmAgent({
    name: 'clerk',
    model,
    disallowTransferToParent: true,
    subAgents: [new LlmAgent({ name: 'temp', model })],
  })
  const agent = new LlmAgent({ name: 'root', model: scriptedModel([to('clerk')]), subAgents: [clerk] })
  const { text, events } = await send(runnerOf(agent))
  expect(text).toBe('Then I do it.')
  const refused = events.find(({ author, content }) => author === 'clerk' && content?.role === 'tool')
  expect(refused?.content?.parts[0]?.functionResponse?.response).toEqual({
    error: 'unknown agent root; transfer not performed',
    errorCode: 'NOT_FOUND',
    reachable: ['temp'],
  })
})

test('the runner sends the next message to the active agent, also from another runner', async () => {
  const { agent, model } = office([to('clerk'), 'never'], ['first', 'second', 'third'])
  const sessions = new InMemorySessionService()
  const runner = runnerOf(agent, sessions)
  expect((await send(runner)).text).toBe('first')
  expect((await send(runner)).text).toBe('second')
  const { text, events } = await send(runnerOf(agent, sessions))
  expect(text).toBe('third')
  expect(events[0]).toMatchObject({ author: 'clerk', nodeInfo: { path: 'root' } })
  expect(model.requests).toHaveLength(1)
})

test.each([
  ['disallowTransferToParent', { disallowTransferToParent: true }],
  ['both limits of transfers', { disallowTransferToParent: true, disallowTransferToPeers: true }],
  ['disableTransfer', { disableTransfer: true }],
])('the runner sends the next message to the root agent after an agent with %s', async (_, options) => {
  const clerk = new LlmAgent({ name: 'clerk', model: scriptedModel(['I am the clerk.']), ...options })
  const model = scriptedModel([to('clerk'), 'Root again.', 'Still root.'])
  const sessions = new InMemorySessionService()
  const agent = new LlmAgent({ name: 'root', model, subAgents: [clerk] })
  const runner = runnerOf(agent, sessions)
  expect((await send(runner)).text).toBe('I am the clerk.')
  expect((await send(runner)).text).toBe('Root again.')
  expect((await send(runnerOf(agent, sessions))).text).toBe('Still root.')
})

test('the runner sends the next message to the root agent when an agent between them cannot transfer back', async () => {
  const leaf = new LlmAgent({ name: 'leaf', model: scriptedModel(['I am the leaf.']) })
  const middle = new LlmAgent({
    name: 'middle',
    model: scriptedModel([to('leaf')]),
    subAgents: [leaf],
    disallowTransferToParent: true,
  })
  const agent = new LlmAgent({ name: 'root', model: scriptedModel([to('middle'), 'Root again.']), subAgents: [middle] })
  const runner = runnerOf(agent)
  expect((await send(runner)).text).toBe('I am the leaf.')
  expect((await send(runner)).text).toBe('Root again.')
})

test('the runner sends the next message to the root agent after an agent inside a workflow', async () => {
  const one = new LlmAgent({ name: 'one', model: scriptedModel(['One here.']) })
  const line = new SequentialAgent({ name: 'line', subAgents: [one] })
  const model = scriptedModel([to('one'), 'Root again.'])
  const agent = new LlmAgent({ name: 'root', model, tools: [transferToAgent()], subAgents: [line] })
  const runner = runnerOf(agent)
  expect((await send(runner)).text).toBe('One here.')
  expect((await send(runner)).text).toBe('Root again.')
})

test('the runner continues a paused run with the agent that cannot transfer back, and then returns to the root agent', async () => {
  const sign = tool({ name: 'sign', description: 'Signs', requiresConfirmation: true, run: () => ({ signed: true }) })
  const clerk = new LlmAgent({
    name: 'clerk',
    model: scriptedModel([{ calls: [{ name: 'sign' }] }, 'Signed.']),
    tools: [sign],
    disallowTransferToParent: true,
  })
  const agent = new LlmAgent({ name: 'root', model: scriptedModel([to('clerk'), 'Root again.']), subAgents: [clerk] })
  const sessions = new InMemorySessionService()
  const { pending } = await send(runnerOf(agent, sessions))
  const other = runnerOf(agent, sessions)
  const approved = await other.complete({ userId: 'ada', sessionId: 's1', message: [approve(requestFor(pending))] })
  expect(approved.text).toBe('Signed.')
  expect((await send(other)).text).toBe('Root again.')
})

test('the runner continues a paused run with its agent, also if that agent may no longer start one', async () => {
  const sign = tool({ name: 'sign', description: 'Signs', requiresConfirmation: true, run: () => ({ signed: true }) })
  const deployed = (steps: Parameters<typeof scriptedModel>[0], options: Partial<LlmAgentOptions>): Agent => {
    const clerk = new LlmAgent({ name: 'clerk', model: scriptedModel(steps), tools: [sign], ...options })
    return new LlmAgent({ name: 'root', model: scriptedModel([to('clerk')]), subAgents: [clerk] })
  }
  const sessions = new InMemorySessionService()
  const runner = runnerOf(deployed(['Hello.', { calls: [{ name: 'sign' }] }], {}), sessions)
  await send(runner)
  const { pending } = await send(runner)
  const next = runnerOf(deployed(['Signed.'], { disallowTransferToParent: true }), sessions)
  const { text } = await next.complete({ userId: 'ada', sessionId: 's1', message: [approve(requestFor(pending))] })
  expect(text).toBe('Signed.')
})

test('the runner keeps the root agent active after a transfer back', async () => {
  const { agent, clerkModel } = office([to('clerk'), 'Back with me.', 'Still me.'], [to('root')])
  const runner = runnerOf(agent)
  expect((await send(runner)).text).toBe('Back with me.')
  expect((await send(runner)).text).toBe('Still me.')
  expect(clerkModel.requests).toHaveLength(1)
})

test('the runner falls back to the root agent when the active agent was removed from the tree', async () => {
  const { agent } = office([to('clerk')], ['I am the clerk.'])
  const sessions = new InMemorySessionService()
  await send(runnerOf(agent, sessions))
  const alone = new LlmAgent({ name: 'root', model: scriptedModel(['Only me now.']) })
  expect((await send(runnerOf(alone, sessions))).text).toBe('Only me now.')
})

test('the runner shows the conversation before the transfer to the new active agent', async () => {
  const { agent, clerkModel } = office(['What is it about?', to('clerk')], ['I see.'])
  const runner = runnerOf(agent)
  await send(runner, 'I have a question.')
  await send(runner, 'Taxes.')
  const seen = clerkModel.requests[0]?.contents.map(({ role, parts }) => [role, parts.at(-1)?.text])
  expect(seen).toEqual([
    ['user', 'I have a question.'],
    ['user', '[root] said: What is it about?'],
    ['user', 'Taxes.'],
    ['user', expect.stringContaining('[root] called transfer_to_agent')],
    ['user', expect.stringContaining('[root] got from transfer_to_agent')],
  ])
})

test('the runner runs a SequentialAgent after a transfer and returns the next message to the root agent', async () => {
  const line = new SequentialAgent({
    name: 'line',
    subAgents: [
      new LlmAgent({ name: 'one', model: scriptedModel(['a']) }),
      new LlmAgent({ name: 'two', model: scriptedModel(['b']) }),
    ],
  })
  const agent = new LlmAgent({ name: 'root', model: scriptedModel([to('line'), 'Root again.']), subAgents: [line] })
  const runner = runnerOf(agent)
  const { events, text } = await send(runner)
  expect(text).toBe('b')
  expect(events.slice(2).map(({ nodeInfo }) => nodeInfo?.path)).toEqual(['root/line@t1/one@1', 'root/line@t1/two@1'])
  expect((await send(runner)).text).toBe('Root again.')
})

test('the runner performs the first of two transfers in one reply and answers the second with CANCELLED', async () => {
  const model = scriptedModel([{ calls: [...to('one').calls, ...to('two').calls] }])
  const one = new LlmAgent({ name: 'one', model: scriptedModel(['one speaks']) })
  const two = new LlmAgent({ name: 'two', model: scriptedModel([]) })
  const { text, events } = await send(runnerOf(new LlmAgent({ name: 'root', model, subAgents: [one, two] })))
  expect(text).toBe('one speaks')
  expect(events[1]?.content?.parts.map((part) => part.functionResponse?.response.errorCode)).toEqual([
    undefined,
    'CANCELLED',
  ])
})

test('the runner ends a cycle of transfers with MAX_ITERATIONS', async () => {
  const round = (name: string) => Array.from({ length: 40 }, () => to(name))
  const { agent } = office(round('clerk'), round('root'))
  const { error } = await send(runnerOf(agent))
  expect(error?.code).toBe('MAX_ITERATIONS')
})
