import { agentTool, InMemorySessionService, LlmAgent, SequentialAgent, StaticToolset, tool } from 'toolwright'
import { bearerTokens } from 'toolwright/server'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  approval,
  createTestServer,
  runBody,
  SESSIONS,
  type TestClient,
  type TestServerOptions,
} from '../server.test-kit.ts'

let paid: number[] = []
const pay = tool({
  name: 'pay',
  description: 'Pays',
  parameters: z.object({ amount: z.number() }),
  requiresConfirmation: true,
  run: ({ amount }) => {
    paid.push(amount)
    return { paid: amount }
  },
})
const look = tool({ name: 'look', description: 'Looks', effect: 'none', run: () => 1 })
const books = new StaticToolset([tool({ name: 'find_book', description: 'Finds', effect: 'none', run: () => 1 })])

/** A desk whose model, and another model that runners know by its name. */
function desk(steps: readonly ScriptedStep[], others: readonly ScriptedStep[], options: TestServerOptions = {}) {
  paid = []
  const model = scriptedModel(steps)
  const other = scriptedModel(others)
  const agent = new LlmAgent({
    name: 'clerk',
    model,
    instruction: 'Be brief.',
    tools: [pay, look, books],
    generateContentConfig: { temperature: 1, topP: 0.5 },
  })
  const services = { models: { 'other-*': () => other }, sessionService: new InMemorySessionService() }
  const server = (more: TestServerOptions = {}) =>
    createTestServer({ dev: true, apps: { desk: agent }, services, recover: false, ...options, ...more })
  return { model, other, agent, services, server }
}

/** Copies the session before its latest message; undefined if the server refuses. */
async function copy({ send }: TestClient, whatIf: unknown, name?: string) {
  const { entries } = (await send(`GET /dev${SESSIONS}/s1/log`)).json()
  return await send(`POST /dev${SESSIONS}/s1/fork`, { invocationId: entries.at(-1).event.invocationId, whatIf, name })
}

async function start({ send }: TestClient): Promise<void> {
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  await send('POST /run', runBody('Go'))
}

test('a what-if copy runs with another model, instruction, temperature and tools, and nothing else changes', async () => {
  const { model, other, agent, server } = desk(['One.', 'Two.'], ['Other.', 'Again.'])
  const client = server()
  await start(client)
  const change = { model: 'other-1', instruction: 'Be kind.', config: { temperature: 0 }, tools: ['look', 'find_book'] }
  const made = (await copy(client, [{ agent: 'clerk', ...change }], 'Go (what if)')).json()
  expect(made.state).toEqual({
    'trusted:whatIf': [{ agent: 'clerk', ...change }],
    __session_metadata__: { displayName: 'Go (what if)' },
  })
  const events = (await client.send('POST /run', runBody('Go', { sessionId: made.id }))).json()
  expect(events[0].content.parts).toEqual([{ text: 'Other.' }])
  const [asked] = other.requests
  expect(asked?.config).toMatchObject({ systemInstruction: 'Be kind.', temperature: 0, topP: 0.5 })
  expect([...(asked?.tools.keys() ?? [])]).toEqual(['look', 'find_book'])

  await client.send('POST /run', runBody('Go on'))
  expect(model.requests.at(-1)?.config).toMatchObject({ systemInstruction: 'Be brief.', temperature: 1 })
  expect(model.requests).toHaveLength(2)
  expect(agent.options.instruction).toBe('Be brief.')

  // a plain copy of the copy has the agents of the file
  const invocationId = events[0].invocationId
  const plain = (await client.send(`POST /dev${SESSIONS}/${made.id}/fork`, { invocationId })).json()
  expect(plain.state).not.toHaveProperty('trusted:whatIf')
})

test('a what-if run asks for the same approvals, and continues with its changes after a restart of the server', async () => {
  const calls: ScriptedStep = { calls: [{ name: 'pay', args: { amount: 7 } }] }
  const { model, other, server } = desk(['One.'], [calls, 'Paid by the other.'])
  const first = server()
  await start(first)
  const { id } = (await copy(first, [{ agent: 'clerk', model: 'other-1', instruction: 'Be kind.' }])).json()
  await first.send('POST /run', runBody('Go', { sessionId: id }))
  expect(paid).toEqual([])
  await first.server.close()
  const again = server()
  const [request] = (await again.send('GET /dev/apps/desk/pending')).json()
  expect(request).toMatchObject({ tool: 'pay', args: { amount: 7 }, sessionId: id })
  const answered = await again.send(`POST ${SESSIONS}/${id}/pending/${request.id}`, { confirmed: true })
  expect(answered.text).toContain('Paid by the other.')
  expect(other.requests.at(-1)?.config?.systemInstruction).toBe('Be kind.')
  expect([paid, model.requests.length]).toEqual([[7], 1])
})

test('changes that the app does not have are refused, and no copy is made', async () => {
  const client = desk(['One.'], []).server()
  await start(client)
  const refused: readonly (readonly [change: unknown, message: string])[] = [
    [[{ agent: 'clark', model: 'other-1' }], 'The app has no agent "clark". Did you mean "clerk"?'],
    [[{ agent: 'clerk', tools: ['pai'] }], 'Agent "clerk" has no tool "pai". Did you mean "pay"?'],
    [[{ agent: 'clerk', model: 'nobody-1' }], 'uses the model name "nobody-1"'],
    [[{ agent: 'clerk', config: { temperature: 'hot' } }], 'temperature must be a number'],
    [[{ agent: 'clerk', config: { httpOptions: { baseUrl: 'http://127.0.0.1:1' } } }], 'has "httpOptions"'],
    [[{ agent: 'clerk', temperature: 1 }], 'whatIf[0].temperature is not known'],
    [[{ agent: 'clerk' }], 'changes nothing'],
    [[], 'must be a list of 1 to'],
  ]
  for (const [change, message] of refused) {
    const answer = await copy(client, change)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(JSON.stringify(message).slice(1, -1))])
  }
  expect((await client.send(`GET ${SESSIONS}`)).json()).toHaveLength(1)
})

test('a copy whose changes no longer fit the app does not run, and can still be copied and cancelled', async () => {
  const { server } = desk(['One.'], [{ calls: [{ name: 'pay', args: { amount: 7 } }] }])
  const first = server()
  await start(first)
  const { id } = (await copy(first, [{ agent: 'clerk', model: 'other-1', tools: ['pay'] }])).json()
  const [{ invocationId }] = (await first.send('POST /run', runBody('Go', { sessionId: id }))).json()
  await first.server.close()

  const model = scriptedModel(['Not asked.'])
  const changed = server({ apps: { desk: new LlmAgent({ name: 'clerk', model, tools: [look] }) } })
  const [request] = (await changed.send('GET /dev/apps/desk/pending')).json()
  for (const parts of ['Hello', [approval(request.id)]]) {
    const refused = await changed.send('POST /run', runBody(parts, { sessionId: id }))
    expect(refused.status).toBe(400)
    expect(refused.text).toMatch(/does not fit the app: Agent \\"clerk\\" has no tool \\"pay\\"/)
  }
  expect(model.requests).toEqual([])
  expect((await changed.send(`POST /dev${SESSIONS}/${id}/fork`, { invocationId })).status).toBe(200)
  expect((await changed.send(`POST ${SESSIONS}/${id}/cancel`, {})).status).toBe(200)
  expect((await changed.send('GET /dev/apps/desk/pending')).json()).toEqual([])
})

test('only a developer makes a what-if copy, no client writes its changes, and production does not run it', async () => {
  const operator = { userId: 'op', mayActAsAnyUser: true }
  const authenticate = bearerTokens({ 'token-of-ada-012345': 'ada', 'token-of-op-0123456': operator })
  const [ada, op] = [{ as: 'token-of-ada-012345' }, { as: 'token-of-op-0123456' }]
  const { server, services } = desk(['One.', 'Two.'], ['Other.'], { authenticate })
  const { send } = server()
  await send(`POST ${SESSIONS}`, { sessionId: 's1' }, ada)
  const [{ invocationId }] = (await send('POST /run', runBody('Go'), ada)).json()
  const body = { invocationId, whatIf: [{ agent: 'clerk', model: 'other-1' }] }
  expect((await send(`POST /dev${SESSIONS}/s1/fork`, body, ada)).status).toBe(403)
  expect((await send(`POST /dev${SESSIONS}/s1/fork`, { invocationId }, ada)).status).toBe(200)
  const { id } = (await send(`POST /dev${SESSIONS}/s1/fork`, body, op)).json()
  const stateDelta = { 'trusted:whatIf': [{ agent: 'clerk', instruction: 'Obey.' }] }
  expect((await send(`PATCH ${SESSIONS}/${id}`, { stateDelta }, ada)).status).toBe(403)

  // a session whose id only looks like one is a conversation with the agents of the file
  const forged = `what-if-clerk-${'a'.repeat(26)}-${'0'.repeat(32)}`
  await send(`POST ${SESSIONS}`, { sessionId: forged }, ada)
  expect((await send('POST /run', runBody('Go', { sessionId: forged }), ada)).text).toContain('Two.')

  const production = createTestServer({
    apps: { desk: new LlmAgent({ name: 'clerk', model: scriptedModel([]) }) },
    services,
    authenticate,
  })
  expect((await production.send(`POST /dev${SESSIONS}/s1/fork`, body, op)).status).toBe(404)
  const run = await production.send('POST /run', runBody('Go', { sessionId: id }), op)
  expect([run.status, run.text]).toEqual([400, expect.stringContaining('Only a server with dev runs it')])
})

test('a worker continues an interrupted what-if copy with its changes, never with the agents of the file', async () => {
  const released = Promise.withResolvers<void>()
  const slow: ScriptedStep = async () => {
    await released.promise
    return 'Too late.'
  }
  const { model, other, server } = desk(['One.', 'The agents of the file.'], [slow, 'Continued.'])
  const first = server({ limits: { drainMs: 1 } })
  await start(first)
  const { id } = (await copy(first, [{ agent: 'clerk', model: 'other-1' }])).json()
  const run = first.send('POST /run', runBody('Go', { sessionId: id })).catch(() => {})
  await expect.poll(() => other.requests.length).toBe(1)
  await first.server.close()
  released.resolve()
  await run
  const again = server({ recover: {} })
  await again.server.recover()
  const text = async () => (await again.send(`GET ${SESSIONS}/${id}`)).text
  await expect.poll(text).toContain('Continued.')
  expect(model.requests).toHaveLength(1)
})

test('a copy whose processes die again and again is set aside, as other sessions are', async () => {
  let now = 0
  const sessionService = new InMemorySessionService({ monotonicNow: () => now, leaseMs: 1_000 })
  const { other, server } = desk(['One.'], ['Other.'], {
    services: { models: { 'other-*': () => other }, sessionService },
  })
  const client = server()
  await start(client)
  const { id } = (await copy(client, [{ agent: 'clerk', model: 'other-1' }])).json()
  const key = { appName: 'desk', userId: 'ada', sessionId: id }
  for (let death = 0; death < 6; death++) {
    await sessionService.claim(key)
    now += 2_000
  }
  await server({ recover: {} }).server.recover()
  const listed = async () => (await sessionService.setAside({ appName: 'desk', limit: 9 })).items
  await expect.poll(listed).toMatchObject([{ sessionId: id }])
  expect(other.requests).toEqual([])
})

test('a message that a tool of a copy schedules runs with the changes of the copy', async () => {
  const later = tool({
    name: 'later',
    description: 'Reminds',
    effect: 'none',
    run: async (_, context) => ({
      id: (await context.schedule({ message: 'Wake', at: new Date(Date.now() + 20) })).id,
    }),
  })
  const model = scriptedModel(['One.', 'The agents of the file.'])
  const other = scriptedModel([{ calls: [{ name: 'later' }] }, 'Noted.', 'Woken by the other.'])
  const client = createTestServer({
    dev: true,
    apps: { desk: new LlmAgent({ name: 'clerk', model, tools: [later], allowScheduling: true }) },
    services: { models: { 'other-*': () => other }, sessionService: new InMemorySessionService() },
    recover: {},
  })
  await start(client)
  const { id } = (await copy(client, [{ agent: 'clerk', model: 'other-1' }])).json()
  expect((await client.send('POST /run', runBody('Go', { sessionId: id }))).text).toContain('Noted.')
  const text = async (): Promise<string> => {
    await client.server.recover()
    return (await client.send(`GET ${SESSIONS}/${id}`)).text
  }
  await expect.poll(text).toContain('Woken by the other.')
  expect(model.requests).toHaveLength(1)
})

test('changes an agent below a workflow and one behind a tool, and refuses one inside a custom agent', async () => {
  const inner = scriptedModel(['Inner.', 'Inner again.'])
  const expert = new LlmAgent({ name: 'expert', description: 'Knows', model: inner, instruction: 'Know.' })
  const steps: ScriptedStep[] = [{ calls: [{ name: 'expert', args: { request: 'Go' } }] }, 'Done.']
  const model = scriptedModel([...steps, ...steps])
  const clerk = new LlmAgent({ name: 'clerk', model, tools: [agentTool(expert)] })
  const hidden = new LlmAgent({ name: 'hidden', model })
  const custom = {
    name: 'custom',
    subAgents: [hidden],
    async *run() {},
  }
  const team = new SequentialAgent({ name: 'team', subAgents: [clerk, custom] })
  const client = createTestServer({ dev: true, apps: { desk: team } })
  await start(client)
  const made = await copy(client, [
    { agent: 'expert', instruction: 'Guess.' },
    { agent: 'clerk', instruction: 'Ask.' },
  ])
  await client.send('POST /run', runBody('Go', { sessionId: made.json().id }))
  expect(inner.requests.map(({ config }) => config?.systemInstruction)).toEqual(['Know.', 'Guess.'])
  expect(String(model.requests.at(-1)?.config?.systemInstruction)).toContain('Ask.')
  const refused = await copy(client, [{ agent: 'hidden', instruction: 'Ask.' }])
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('custom')])
})
