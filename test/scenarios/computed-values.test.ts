// Computed values are part of the state wherever it is read, and never part of the log.
import { agentTool, InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { connectLive, conversationPhases } from 'toolwright/live'
import { scriptedLive, scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'

const computed = [
  { key: 'gross', from: ['net'], compute: (state: { get<T>(key: string, fallback: T): T }) => state.get('net', 0) * 2 },
]
const quote = tool({
  name: 'quote',
  description: 'Quotes',
  effect: 'none',
  run: (_, { state }) => ({
    gross: state.get('derived:gross') ?? 'missing',
    bare: state.get('gross') ?? 'missing',
    has: state.has('derived:gross'),
    keys: state.keys().sort(),
  }),
})
const raise = tool({
  name: 'raise',
  description: 'Raises',
  run: (_, { state }) => {
    state.set('net', 200)
    return { done: true }
  },
})
const QUOTED = { gross: 200, bare: 200, has: true, keys: ['derived:gross', 'net'] }

test('every reader of a live session sees a computed value', async () => {
  const seen: Record<string, unknown> = {}
  const writerModel = scriptedModel(['Written.'])
  const writer = new LlmAgent({
    name: 'writer',
    description: 'Writes',
    model: writerModel,
    instruction: 'Gross: {derived:gross}.',
    tools: [quote],
  })
  const agent = new LlmAgent({
    name: 'desk',
    tools: [quote, raise, agentTool(writer)],
    instruction: ({ state }) => `Gross is ${state.get('derived:gross')}.`,
    beforeTool: ({ context }) => {
      seen.beforeTool = context.state.get('derived:gross')
    },
  })
  const request = { calls: [{ name: 'writer', args: { request: 'Write.' } }] }
  const model = scriptedLive([{ calls: [{ name: 'quote' }] }, request, { calls: [{ name: 'raise' }] }, 'Done.'])
  const session = await connectLive({
    agent,
    model,
    computed,
    state: { net: 100 },
    beforeToolResponse: ({ responses, state }) => {
      seen.beforeToolResponse = state.get('derived:gross')
      return responses
    },
  })
  onTestFinished(() => session.close())
  await session.send('What does it cost?')
  const responses: unknown[] = []
  for await (const event of session) {
    if (event.type === 'toolResponse') responses.push(event.responses[0]?.response)
    if (event.type === 'turnComplete') break
  }
  expect(responses[0]).toEqual(QUOTED)
  expect(seen).toEqual({ beforeTool: 200, beforeToolResponse: 200 })
  expect(model.requests[0]?.instruction).toContain('Gross is 200.')
  expect(writerModel.requests[0]?.config.systemInstruction).toContain('Gross: 200.')
})

test('a tool sees the computed value of what an earlier call wrote, and the log has none', async () => {
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'desk', tools: [quote, raise] }) })
  const model = scriptedLive([{ calls: [{ name: 'raise' }] }, { calls: [{ name: 'quote' }] }, 'Done.'])
  const session = await connectLive({ runner, userId: 'ada', model, computed, state: { net: 100 } })
  onTestFinished(() => session.close())
  await session.send('Go.')
  const responses: unknown[] = []
  for await (const event of session) {
    if (event.type === 'toolResponse') responses.push(event.responses[0]?.response)
    if (event.type === 'turnComplete') break
  }
  expect(responses[1]).toMatchObject({ gross: 400 })
  const key = { appName: 'app', userId: 'ada', sessionId: session.sessionId }
  const stored = await runner.sessionService.getSession(key)
  expect(stored?.state).toEqual({ net: 200 })
  expect(JSON.stringify(stored?.events.map(({ actions }) => actions))).not.toContain('derived')
})

test('a text run of a runner whose phases have computed values reads them, too', async () => {
  const model = scriptedModel([{ calls: [{ name: 'raise' }] }, { calls: [{ name: 'quote' }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [quote, raise], instruction: 'Gross: {derived:gross}.' })
  const phases = conversationPhases({ initialPhase: 'a', phases: [{ name: 'a', instruction: 'A' }], computed })
  const runner = new Runner({ appName: 'app', agent, phases })
  const { events } = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go.', stateDelta: { net: 100 } })
  const responses = events.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [])
  expect(responses[1]?.response).toMatchObject({ gross: 400, bare: 400, keys: ['derived:gross', 'net'] })
  expect(model.requests[0]?.config.systemInstruction).toContain('Gross: 200.')
  expect(model.requests[1]?.config.systemInstruction).toContain('Gross: 400.')
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
  expect(session?.state).toEqual({ net: 200 })
})

test('a stored key with the prefix is never read, with and without computed values', async () => {
  const computedButFailing = [{ key: 'gross', from: ['net'], compute: () => undefined }]
  const phases = conversationPhases({
    initialPhase: 'a',
    phases: [{ name: 'a', instruction: 'Go.' }],
    computed: computedButFailing,
  })
  for (const options of [{}, { phases }]) {
    const model = scriptedModel([{ calls: [{ name: 'quote' }] }, 'Done.'])
    const sessionService = new InMemorySessionService()
    const agent = new LlmAgent({ name: 'desk', model, tools: [quote] })
    const runner = new Runner({ appName: 'app', agent, sessionService, ...options })
    const key = { userId: 'ada', sessionId: 's1' }
    await sessionService.createSession({ appName: 'app', ...key, state: { 'derived:gross': 5 } })
    const { events } = await runner.complete({ ...key, message: 'Go.' })
    const [response] = events.flatMap(
      ({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [],
    )
    expect(response?.response).toEqual({ gross: 'missing', bare: 'missing', has: false, keys: [] })
  }
})

test('a tool that writes a key with the prefix gets an error that says what to write', async () => {
  const write = tool({ name: 'write', description: 'Writes', run: (_, { state }) => state.set('derived:gross', 1) })
  const model = scriptedModel([{ calls: [{ name: 'write' }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [write] })
  const logger = { warn: () => {}, error: () => {} }
  await new Runner({ appName: 'app', agent, logger }).complete({ userId: 'ada', message: 'Go.' })
  expect(JSON.stringify(model.requests[1]?.contents)).toContain('Write the keys that the value is computed from')
})
