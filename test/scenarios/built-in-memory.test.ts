import {
  InMemoryMemoryService,
  LlmAgent,
  loadMemory,
  type MemoryService,
  memoryPlugin,
  preloadMemory,
  Runner,
  tool,
} from 'toolwright'
import { type ScriptedModel, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { stores } from '../stores.ts'

const look = tool({ name: 'look', description: 'Look.', run: () => ({ seen: 'tea' }) })

/** Creates a memory service with the text of a user from an earlier session. */
async function createMemoryWith(text: string, userId = 'ada'): Promise<MemoryService> {
  const memoryService = new InMemoryMemoryService()
  const runner = new Runner({
    appName: 'app',
    agent: new LlmAgent({ name: 'guide', model: scriptedModel(['Noted.']) }),
    ports: { now: () => 1_700_000_000_000 },
  })
  const { sessionId } = await runner.complete({ userId, message: text })
  const session = await runner.sessionService.getSession({ appName: 'app', userId, sessionId })
  if (session) await memoryService.addSessionToMemory(session)
  return memoryService
}

const instructions = (model: ScriptedModel) => model.requests.map(({ config }) => config.systemInstruction)

test('load_memory answers with matching memories', async () => {
  const model = scriptedModel([{ calls: [{ name: 'load_memory', args: { query: 'favourite tea' } }] }, 'Sencha.'])
  const agent = new LlmAgent({ name: 'guide', model, tools: [loadMemory()] })
  const memoryService = await createMemoryWith('My favourite tea is sencha.')
  const { events } = await new Runner({ appName: 'app', agent, memoryService }).complete({
    userId: 'ada',
    message: 'What do I like?',
  })
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({
    memories: [
      {
        content: { role: 'user', parts: [{ text: 'My favourite tea is sencha.' }] },
        author: 'user',
        timestamp: 1_700_000_000,
      },
    ],
  })
})

test('load_memory and preload_memory find no memories of another user', async () => {
  const search = { calls: [{ name: 'load_memory', args: { query: 'favourite tea' } }] }
  const model = scriptedModel([search, 'I do not know.'])
  const agent = new LlmAgent({ name: 'guide', model, tools: [preloadMemory(), loadMemory()] })
  const memoryService = await createMemoryWith('My favourite tea is sencha.')
  const { events } = await new Runner({ appName: 'app', agent, memoryService }).complete({
    userId: 'eve',
    message: 'What is the favourite tea?',
  })
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({ memories: [] })
  expect(instructions(model)).toEqual([undefined, undefined])
})

test('load_memory names memoryService in its error when the service is missing, and the run continues', async () => {
  const model = scriptedModel([{ calls: [{ name: 'load_memory', args: { query: 'tea' } }] }, 'I cannot remember.'])
  const agent = new LlmAgent({ name: 'guide', model, tools: [preloadMemory(), loadMemory()] })
  const { events, text } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Tea?' })
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({
    error: expect.stringContaining('memoryService'),
    errorCode: 'EXECUTION_FAILED',
  })
  expect(text).toBe('I cannot remember.')
})

test('preload_memory searches once per message and adds the memories to every model call', async () => {
  const memoryService = await createMemoryWith('My favourite tea is sencha.')
  const search = memoryService.searchMemory.bind(memoryService)
  const queries: string[] = []
  memoryService.searchMemory = (options) => {
    queries.push(options.query)
    return search(options)
  }
  const call = { calls: [{ name: 'look' }] }
  const model = scriptedModel([call, call, 'Sencha.', 'Still sencha.'])
  const agent = new LlmAgent({ name: 'guide', model, instruction: 'Be kind.', tools: [preloadMemory(), look] })
  const runner = new Runner({ appName: 'app', agent, memoryService })
  const { sessionId } = await runner.complete({ userId: 'ada', message: 'Which tea?' })
  const line = '- "user", 2023-11-14T22:13:20.000Z: "My favourite tea is sencha."'
  for (const instruction of instructions(model)) {
    expect(instruction).toMatch(/^Be kind\.\n\nRelevant prior context/)
    expect(instruction?.split('\n').filter((one) => one === line)).toHaveLength(1)
  }
  expect(queries).toEqual(['Which tea?'])

  await runner.complete({ userId: 'ada', sessionId, message: 'And which tea now?' })
  expect(instructions(model).at(-1)).toContain(line)
  expect(queries).toEqual(['Which tea?', 'And which tea now?'])
})

test('preload_memory ignores a failing memory service', async () => {
  const memoryService = await createMemoryWith('tea')
  memoryService.searchMemory = () => Promise.reject(new Error('down'))
  const model = scriptedModel([{ calls: [{ name: 'look' }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'guide', model, instruction: 'Be kind.', tools: [preloadMemory(), look] })
  const { text } = await new Runner({ appName: 'app', agent, memoryService }).complete({
    userId: 'ada',
    message: 'tea',
  })
  expect(text).toBe('Done.')
  expect(instructions(model)).toEqual(['Be kind.', 'Be kind.'])
})

test('preload_memory does not fill placeholders inside memories', async () => {
  const model = scriptedModel(['Done.'])
  const agent = new LlmAgent({ name: 'guide', model, instruction: 'For {name}.', tools: [preloadMemory()] })
  const memoryService = await createMemoryWith('tea with {secret}')
  const runner = new Runner({ appName: 'app', agent, memoryService })
  await runner.complete({ userId: 'ada', message: 'tea', stateDelta: { name: 'Ada', secret: 'hidden' } })
  expect(instructions(model)[0]).toContain('tea with {secret}')
})

test('preload_memory cannot be called by the model', async () => {
  const model = scriptedModel([{ calls: [{ name: 'preload_memory' }] }, 'Sorry.'])
  const agent = new LlmAgent({ name: 'guide', model, tools: [preloadMemory(), look] })
  const { events, text } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'tea' })
  expect(model.requests[0]?.config.tools).toEqual([{ functionDeclarations: [look.declaration()] }])
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({
    error: expect.stringContaining('Unknown tool "preload_memory"'),
    errorCode: 'NOT_FOUND',
  })
  expect(text).toBe('Sorry.')
})

test.each(stores)('memoryPlugin() adds a session $name after each run, and a deleted one is gone', async ({ open }) => {
  const services = { memoryService: new InMemoryMemoryService(), ...open() }
  const { memoryService } = services
  const agent = new LlmAgent({ name: 'guide', model: scriptedModel(['Noted.', 'Noted again.']) })
  const runner = new Runner({ appName: 'app', agent, ...services, plugins: [memoryPlugin(services)] })
  const where = { userId: 'ada', sessionId: 's1' }
  const texts = async (query: string) =>
    (await memoryService.searchMemory({ appName: 'app', userId: 'ada', query })).memories.map(
      ({ content }) => content.parts[0]?.text,
    )
  await runner.complete({ ...where, message: 'I like sencha.' })
  expect(await texts('sencha')).toEqual(['I like sencha.'])
  await runner.complete({ ...where, message: 'And sencha cake.' })
  expect((await texts('sencha')).length).toBe(2)
  await runner.deleteSession(where)
  expect(await texts('sencha noted')).toEqual([])
})

test('memoryPlugin() removes a session again that was deleted while it was added', async () => {
  const store = stores[0]?.open()
  if (!store) throw new Error('There is no store.')
  const memoryService = new InMemoryMemoryService()
  const add = memoryService.addSessionToMemory.bind(memoryService)
  const where = { appName: 'app', userId: 'ada', sessionId: 's1' }
  memoryService.addSessionToMemory = async (session) => {
    await store.sessionService.deleteSession(where)
    await memoryService.deleteSession(where)
    await add(session)
  }
  const agent = new LlmAgent({ name: 'guide', model: scriptedModel(['Noted.']) })
  const plugins = [memoryPlugin({ ...store, memoryService })]
  const runner = new Runner({ appName: 'app', agent, ...store, memoryService, plugins })
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'I like sencha.' }).catch(() => {})
  expect((await memoryService.searchMemory({ ...where, query: 'sencha' })).memories).toEqual([])
})

test('a memory that fails does not fail the run, and is logged', async () => {
  const memoryService = Object.assign(new InMemoryMemoryService(), {
    addSessionToMemory: () => Promise.reject(new Error('The disk is full.')),
  })
  const store = stores[0]?.open()
  if (!store) throw new Error('There is no store.')
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
  const agent = new LlmAgent({ name: 'guide', model: scriptedModel(['Noted.']) })
  const plugins = [memoryPlugin({ ...store, memoryService, logger })]
  const runner = new Runner({ appName: 'app', agent, ...store, plugins })
  expect((await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Hi' })).text).toBe('Noted.')
  expect(warnings).toEqual(['Session "s1" was not added to the memory: The disk is full.'])
  expect(() => memoryPlugin({ ...store } as never)).toThrow('memoryService')
})
