import {
  agentTool,
  approve,
  type Content,
  type Event,
  InMemorySessionService,
  LlmAgent,
  type LlmRequest,
  LoopAgent,
  ParallelAgent,
  Runner,
  respond,
  SequentialAgent,
  tool,
} from 'toolwright'
import { bearerTokens } from 'toolwright/server'
import { type ScriptedReply, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { createTestServer, runBody, SESSIONS, type TestClient, type TestServerOptions } from '../../server.test-kit.ts'

const OPERATOR = { userId: 'op', mayActAsAnyUser: true }
const authenticate = bearerTokens({ 'token-of-ada-012345': 'ada', 'token-of-op-0123456': OPERATOR })
const [ADA, OP] = [{ as: 'token-of-ada-012345' }, { as: 'token-of-op-0123456' }]
const usageMetadata = { promptTokenCount: 9, cachedContentTokenCount: 4, candidatesTokenCount: 2 }
const look = tool({ name: 'look', description: 'Looks', effect: 'none', run: () => ({ found: 1 }) })

async function runOnce(options: TestServerOptions, message: string | object[] = 'Hi', more: object = {}) {
  const client = createTestServer({ dev: true, authenticate, ...options })
  await client.send(`POST ${SESSIONS}`, { sessionId: 's1' }, ADA)
  const events: Event[] = (await client.send('POST /run', runBody(message, more), ADA)).json()
  return { client, events }
}

const read = ({ send }: TestClient, eventId: string | undefined, as = OP) =>
  send(`GET /dev${SESSIONS}/s1/model-calls/${eventId}`, undefined, as)

test('a developer reads what a model was asked and replied, also in the trace; other users do not', async () => {
  const model = scriptedModel([
    { calls: [{ id: 'c1', name: 'look' }], deltas: ['.'] },
    { text: 'One.', response: { usageMetadata, finishReason: 'STOP' } },
  ])
  const agent = new LlmAgent({
    name: 'clerk',
    model,
    tools: [look],
    instruction: 'Be brief.',
    generateContentConfig: { temperature: 0.2 },
    beforeModel: ({ request }) => request.appendInstruction('Today is Monday.'),
  })
  const { client, events } = await runOnce({ apps: { desk: agent } }, 'Hi', { streaming: true })
  const reply = events.at(-1)
  expect((await read(client, events.find(({ content }) => content?.role === 'tool')?.id)).status).toBe(404)
  const call = (await read(client, reply?.id)).json()
  const { contents, config } = JSON.parse(JSON.stringify(model.requests[1])) as LlmRequest
  expect(call.request).toEqual({ model: 'scripted', contents, config, leftOut: 0 })
  expect(config.systemInstruction).toMatch(/Be brief\.\s+Today is Monday\./)
  expect(config).toMatchObject({ temperature: 0.2, tools: [{ functionDeclarations: [{ name: 'look' }] }] })
  expect(call).toMatchObject({
    from: 'recorded',
    previousId: events.find(({ turnComplete }) => turnComplete)?.id,
    agent: 'clerk',
    outcome: 'completed',
    reply: { content: { parts: [{ text: 'One.' }] }, finishReason: 'STOP', usageMetadata },
  })
  expect(call.totalMs).toBeGreaterThanOrEqual(call.firstDeltaMs)

  const trace = async (as: { as: string }): Promise<{ config: object }> =>
    JSON.parse(
      (await client.send(`GET /dev/apps/desk/debug/trace/${reply?.id}`, undefined, as)).json()[
        'gcp.vertex.agent.llm_request'
      ],
    )
  expect((await trace(OP)).config).toEqual(config)
  expect((await trace(ADA)).config).toEqual({})
  expect((await read(client, reply?.id, ADA)).status).toBe(403)
  expect((await read(client, 'none')).status).toBe(404)
  expect((await client.send(`DELETE ${SESSIONS}/s1`, undefined, ADA)).status).toBe(200)
  expect((await read(client, reply?.id)).status).toBe(404)
})

test('a server for production records model calls only if an option asks for it, and shows them to operators', async () => {
  const plain = await runOnce({ dev: false, steps: ['One.'] })
  expect((await read(plain.client, plain.events[0]?.id)).status).toBe(404)
  const asked = await runOnce({ dev: false, recordModelCalls: true, steps: ['One.'] })
  expect((await read(asked.client, asked.events[0]?.id)).json()).toMatchObject({ from: 'recorded' })
  expect((await read(asked.client, asked.events[0]?.id, ADA)).status).toBe(403)
  expect((await asked.client.send(`GET /dev${SESSIONS}/s1/log`, undefined, OP)).status).toBe(404)
})

test('keys, headers and credentials are in no recorded request', async () => {
  const canary = (what: string): string => `canary-${what}-1f2e3d4c`
  const model = scriptedModel(['One.'])
  const agent = new LlmAgent({
    name: 'clerk',
    model: Object.assign(model, { apiKey: canary('model') }),
    tools: [
      {
        ...tool({
          name: 'sign_in',
          description: 'Signs in',
          parameters: { type: 'object', properties: { password: { type: 'string' } } },
          authConfig: {
            authScheme: { type: 'apiKey', in: 'header', name: 'key' },
            rawAuthCredential: { authType: 'apiKey', apiKey: canary('tool') },
          },
          run: () => ({}),
        }),
        processLlmRequest: (request) =>
          request.appendConfigTool({
            maps: {
              authConfig: { apiKey: canary('maps') },
              apiAuth: { apiKeyConfig: { apiKeyString: canary('external') } },
            },
          }),
      },
    ],
    generateContentConfig: {
      maxOutputTokens: 5,
      httpOptions: {
        headers: { 'x-goog-api-key': canary('header') },
        authorization_token: canary('authorization'),
        privateKey: canary('private'),
        baseUrl: `https://me:${canary('url')}@host.test`,
      },
    },
  })
  const { client, events } = await runOnce({ apps: { desk: agent } })
  const answer = await read(client, events[0]?.id)
  expect(answer.text).not.toContain('canary')
  const { config } = answer.json().request
  expect(config).toMatchObject({ maxOutputTokens: 5, httpOptions: { headers: '[hidden]' } })
  expect(
    config.tools[0].functionDeclarations[0].parameters ?? config.tools[0].functionDeclarations[0].parametersJsonSchema,
  ).toMatchObject({
    properties: { password: { type: 'string' } },
  })
})

test('a request with hostile content is shown in part, and its run is not disturbed', async () => {
  const cycle: { self?: object } = {}
  cycle.self = cycle
  const hostile = {
    get thrower(): never {
      throw new Error('no')
    },
  }
  const beforeModel = ({ request }: { request: LlmRequest }): void => {
    Object.assign(request.config, { cycle, many: Array.from({ length: 200_000 }, () => 0), hostile })
    request.contents.unshift({ role: 'user', parts: [Object.assign(hostile, { text: 'x' })] })
    request.contents.unshift({
      role: 'user',
      parts: [{ inlineData: { mimeType: 'image/png', data: 'A'.repeat(9_000_000) } }],
    })
  }
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel(['One.']), beforeModel })
  const { client, events } = await runOnce({ apps: { desk: agent } })
  expect(events[0]?.content?.parts[0]?.text).toBe('One.')
  const answer = await read(client, events[0]?.id)
  expect(answer.text.length).toBeLessThan(10_000_000)
  expect(answer.json().request.contents.at(-1)).toEqual({ role: 'user', parts: [{ text: 'Hi' }] })
  expect(answer.json().reply.content.parts).toEqual([{ text: 'One.' }])

  const large = tool({ name: 'look', description: 'Looks', run: () => ({ text: 'long '.repeat(40_000) }) })
  const steps = [...Array(12).keys()].map((id) => ({ calls: [{ id: `c${id}`, name: 'look' }] }))
  const long = await runOnce({ tools: [large], steps: [...steps, 'Done.'] })
  const { request } = (await read(long.client, long.events.at(-1)?.id)).json()
  expect(request.leftOut + request.contents.length).toBe(25)
  expect(request.contents.at(-1).parts[0].functionResponse.response.text).toContain('long ')
})

/** What a model was sent for each reply, by a number that the reply carries. */
function numbered(script: (request: LlmRequest, at: number) => string | ScriptedReply) {
  const sent: Content[][] = []
  const model = scriptedModel((request) => {
    const at = sent.push(JSON.parse(JSON.stringify(request.contents))) - 1
    const step = script(request, at)
    return { ...(typeof step === 'string' ? { text: step } : step), response: { customMetadata: { at } } }
  })
  return { model, sent }
}

const calls = (...names: string[]): ScriptedReply => ({ calls: names.map((name) => ({ name, args: {} })) })
const from = (steps: readonly (string | ScriptedReply)[]) => numbered((_, at) => steps[at] ?? 'Done.')

/** Runs an agent, then compares what a server that has recorded nothing rebuilds for each reply. */
async function expectRebuilt(
  agent: ConstructorParameters<typeof Runner>[0]['agent'],
  sent: readonly (readonly Content[])[],
  converse: (runner: Runner) => Promise<void>,
): Promise<void> {
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'desk', agent, sessionService })
  await converse(runner)
  const { send } = createTestServer({ dev: true, authenticate, apps: { desk: agent }, services: { sessionService } })
  const session = await sessionService.getSession({ appName: 'desk', userId: 'ada', sessionId: 's1' })
  const replies = session?.events.filter(({ customMetadata }) => customMetadata) ?? []
  expect(replies).toHaveLength(sent.length)
  for (const { id, customMetadata } of replies) {
    const { request, doubts } = (await send(`GET /dev${SESSIONS}/s1/model-calls/${id}`, undefined, OP)).json()
    expect({ contents: request.contents, doubts }).toEqual({ contents: sent[Number(customMetadata?.at)], doubts: [] })
  }
}

const complete = async (runner: Runner, message: Parameters<Runner['complete']>[0]['message']) =>
  await runner.complete({ userId: 'ada', sessionId: 's1', message })

test('the messages of a model call that was not recorded are rebuilt from the log as they were sent: tools, agent tools and transfers', async () => {
  const script = from([
    calls('look', 'helper'),
    calls('look'),
    'Helped.',
    { calls: [{ name: 'transfer_to_agent', args: { agent_name: 'other' } }] },
    calls('look'),
    'From other.',
    'Again.',
  ])
  const { model, sent } = script
  const helper = new LlmAgent({ name: 'helper', description: 'Helps', tools: [look] })
  const other = new LlmAgent({ name: 'other', description: 'Another', tools: [look] })
  const agent = new LlmAgent({ name: 'desk', model, tools: [look, agentTool(helper)], subAgents: [other] })
  await expectRebuilt(agent, sent, async (runner) => {
    await complete(runner, 'Go')
    await complete(runner, 'And now?')
  })
})

test('the messages of branches, loops and their successors are rebuilt as they were sent', async () => {
  const { model, sent } = numbered((_, at) => (at < 2 ? calls('look') : `Reply ${at}.`))
  const one = (name: string): LlmAgent => new LlmAgent({ name, model, tools: [look] })
  const agent = new SequentialAgent({
    name: 'pipeline',
    subAgents: [
      new ParallelAgent({ name: 'gather', subAgents: [one('left'), one('right')] }),
      new LoopAgent({ name: 'polish', maxIterations: 2, subAgents: [one('writer'), one('critic')] }),
    ],
  })
  await expectRebuilt(agent, sent, async (runner) => {
    await complete(runner, 'Go')
    await complete(runner, 'Again')
  })
})

test('the messages around pauses and late results are rebuilt as they were sent', async () => {
  const { model, sent } = from([calls('pay', 'look'), 'Paid.', calls('ship'), 'Shipping.', 'Shipped.'])
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) })
  const ship = tool({ name: 'ship', description: 'Ships', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const agent = new LlmAgent({ name: 'desk', model, tools: [look, pay, ship] })
  await expectRebuilt(agent, sent, async (runner) => {
    const { pending } = await complete(runner, 'Pay')
    await complete(
      runner,
      pending.map((request) => approve(request)),
    )
    const later = await complete(runner, 'Ship')
    await complete(
      runner,
      later.pending.map((request) => respond(request, { arrived: true })),
    )
  })
})

test('the messages of agents that see a part of the conversation, and of an agent tool that paused, are rebuilt as they were sent', async () => {
  const { model, sent } = numbered((request, at) => {
    const text = JSON.stringify(request.contents.at(-1))
    if (text.includes('Pay it')) return calls('pay')
    return text.includes('Go') ? { calls: [{ name: 'helper', args: { request: 'Pay it' } }] } : `Reply ${at}.`
  })
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) })
  const helper = new LlmAgent({ name: 'helper', description: 'Helps', tools: [pay] })
  const short = new LlmAgent({ name: 'short', model, history: { lastTurns: 1 }, tools: [look] })
  const none = new LlmAgent({ name: 'none', model, includeContents: 'none' })
  const desk = new LlmAgent({ name: 'desk', model, tools: [agentTool(helper)] })
  const agent = new SequentialAgent({ name: 'all', subAgents: [desk, short, none] })
  await expectRebuilt(agent, sent, async (runner) => {
    await complete(runner, 'First')
    const { pending } = await complete(runner, 'Go')
    await complete(
      runner,
      pending.map((request) => approve(request)),
    )
    await complete(runner, 'Last')
  })
})

test('a rebuilt request says what may differ from what was sent', async () => {
  const sessionService = new InMemorySessionService()
  const services = { sessionService }
  const { events } = await runOnce({ services, recordModelCalls: false, steps: ['One.'] })
  const agent = new LlmAgent({
    name: 'clerk',
    model: scriptedModel([]),
    beforeModel: () => undefined,
    tools: [{ ...look, processLlmRequest: () => {} }],
  })
  const changed = createTestServer({ dev: true, authenticate, services, apps: { desk: agent } })
  expect((await read(changed, events[0]?.id)).json()).toMatchObject({
    from: 'log',
    doubts: ['callbacks', 'tools'],
    origin: expect.stringContaining('They may differ from those that were sent: the agent has callbacks'),
  })
  const renamed = new LlmAgent({ name: 'clark', model: scriptedModel([]) })
  const other = createTestServer({ dev: true, authenticate, services, apps: { desk: renamed } })
  const unknown = (await read(other, events[0]?.id)).json()
  expect(unknown.request).toBeUndefined()
  expect(unknown.reply.content.parts).toEqual([{ text: 'One.' }])
})
