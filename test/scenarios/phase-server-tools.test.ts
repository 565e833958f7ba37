// A phase restricts the tools that run on the model's servers, too: no dispatcher sees their calls.
import { googleSearch, InMemoryMemoryService, LlmAgent, preloadMemory, Runner } from 'toolwright'
import { conversationPhases, isTrue, type LivePhase } from 'toolwright/live'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { plainTool, silentLogger } from './kit.ts'
import { nextResponse, startWithCapabilities } from './live-calls-kit.ts'
import { startLive } from './live-kit.ts'

const verify = plainTool('verify', (_, { state }) => {
  state.set('verified', true)
  return { verified: true }
})
const tools = [verify, googleSearch()]
const phases: LivePhase[] = [
  {
    name: 'verify',
    instruction: 'Verify.',
    tools: ['verify'],
    transitions: [{ to: 'help', when: isTrue('verified') }],
  },
  { name: 'help', instruction: 'Help.', tools: ['google_search'] },
]
const one = (phase: Partial<LivePhase>) => ({
  initialPhase: 'a',
  phases: [{ name: 'a', instruction: 'A', ...phase }],
})

describe('the setup of a live session', () => {
  test('has no server tool in a phase without tools', async () => {
    const { connection } = await startLive({ tools, ...one({ tools: [] }) })
    expect(connection.setup?.tools ?? []).toEqual([])
  })

  test('has the server tools that the phase lists, and all in a phase that lists none', async () => {
    const listed = await startLive({ tools, ...one({ tools: ['google_search'] }) })
    expect(listed.connection.setup?.tools).toEqual([{ googleSearch: {} }])
    const all = await startLive({ tools, ...one({}) })
    expect(JSON.stringify(all.connection.setup?.tools)).toContain('googleSearch')
  })

  test('gets a server tool when the conversation reaches its phase', async () => {
    const { connection } = await startLive({ tools, phases, initialPhase: 'verify' })
    expect(JSON.stringify(connection.setup?.tools)).not.toContain('googleSearch')
    connection.call([{ id: 'c1', name: 'verify' }])
    await nextResponse(connection)
    expect(JSON.stringify(await connection.next('contextUpdate'))).toContain('googleSearch')
  })

  test('of a model without updates gets it with a new connection', async () => {
    const options = { tools, phases, initialPhase: 'verify' }
    const { connection, server } = await startWithCapabilities({ updates: false }, options)
    expect(JSON.stringify(connection.setup?.tools)).not.toContain('googleSearch')
    connection.call([{ id: 'c1', name: 'verify' }])
    const renewed = await server.nextConnection()
    expect(JSON.stringify(renewed.setup?.tools)).toContain('googleSearch')
    expect(JSON.stringify(await renewed.next('clientContent'))).toContain('verified')
  })
})

describe('a text run', () => {
  const serverTools = { serverTools: ['googleSearch'], serverToolsWithFunctions: true }

  test('sends only the server tools of the phase', async () => {
    const scripted = scriptedModel([{ calls: [{ name: 'verify' }] }, 'Verified.'])
    const model = { ...scripted, capabilities: serverTools, generate: scripted.generate.bind(scripted) }
    const agent = new LlmAgent({ name: 'desk', model, tools })
    const defined = conversationPhases({ phases, initialPhase: 'verify' })
    const runner = new Runner({ appName: 'app', agent, phases: defined, logger: silentLogger })
    await runner.complete({ userId: 'ada', message: 'Hi' })
    const sent = scripted.requests.map(({ config }) => JSON.stringify(config.tools ?? []))
    expect(sent[0]).toContain('"verify"')
    expect(sent[0]).not.toContain('googleSearch')
    expect(sent[1]).toBe('[{"googleSearch":{}}]')
  })

  test('still preloads memory in every phase: the model does not call that tool', async () => {
    const memoryService = new InMemoryMemoryService()
    const model = scriptedModel(['Hello.', 'Hello again.'])
    const agent = new LlmAgent({ name: 'desk', model, tools: [preloadMemory()] })
    const defined = conversationPhases(one({ tools: [] }))
    const runner = new Runner({ appName: 'app', agent, phases: defined, memoryService })
    await runner.complete({ userId: 'ada', sessionId: 's1', message: 'I like winter.' })
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
    if (session) await memoryService.addSessionToMemory(session)
    await runner.complete({ userId: 'ada', message: 'What about winter?' })
    expect(JSON.stringify(model.requests[1]?.config.systemInstruction)).toContain('I like winter.')
  })
})
