import { InMemoryArtifactService, InMemoryMemoryService, type ToolContext } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { plainTool, runScenario, type Scenario, type ScenarioResult } from './kit.ts'

function body(run: (context: ToolContext) => unknown, story: Partial<Scenario> = {}): Promise<ScenarioResult> {
  return runScenario({ tools: [plainTool('work', (_, context) => run(context))], calls: [{ name: 'work' }], ...story })
}

describe('artifacts', () => {
  test('have versions from 0, can be listed, and are undefined when missing', async () => {
    const artifactService = new InMemoryArtifactService()
    const { response, events } = await body(
      async (context) => ({
        first: await context.saveArtifact('a.txt', { text: 'one' }),
        second: await context.saveArtifact('a.txt', { text: 'two' }, { customMetadata: { by: 'me' } }),
        latest: await context.loadArtifact('a.txt'),
        earlier: await context.loadArtifact('a.txt', 0),
        missing: (await context.loadArtifact('b.txt')) === undefined,
        noSuchVersion: (await context.loadArtifact('a.txt', 9)) === undefined,
        names: await context.listArtifacts(),
      }),
      { runner: { artifactService } },
    )
    expect(response).toEqual({
      first: 0,
      second: 1,
      latest: { text: 'two' },
      earlier: { text: 'one' },
      missing: true,
      noSuchVersion: true,
      names: ['a.txt'],
    })
    expect(events[1]?.actions.artifactDelta).toEqual({ 'a.txt': 1 })
  })

  test('with the prefix "user:" are visible in every session of the user', async () => {
    const artifactService = new InMemoryArtifactService()
    const runner = { artifactService }
    await body((context) => context.saveArtifact('user:cv.txt', { text: 'me' }), { runner })
    await body((context) => context.saveArtifact('notes.txt', { text: 'here' }), { runner })
    const { response } = await body(
      async (context) => [await context.listArtifacts(), await context.loadArtifact('user:cv.txt')],
      { runner },
    )
    expect(response.result).toEqual([['user:cv.txt'], { text: 'me' }])
  })

  test('stay saved without an artifactDelta when the call fails later', async () => {
    const artifactService = new InMemoryArtifactService()
    const { response, events, sessionId } = await body(
      async (context) => {
        await context.saveArtifact('a.txt', { text: 'one' })
        throw new Error('after the save')
      },
      { runner: { artifactService } },
    )
    expect(response.error).toBe('after the save')
    expect(events[1]?.actions).toEqual({})
    const key = { appName: 'app', userId: 'ada', sessionId, filename: 'a.txt' }
    expect(await artifactService.listVersions(key)).toEqual([0])
  })

  test('are bound to the session in the scoped services', async () => {
    const artifactService = new InMemoryArtifactService()
    const { response, sessionId } = await body(
      async ({ invocation: { services } }) => {
        const version = await services.artifacts?.save('a.txt', { text: 'one' })
        return [version, await services.artifacts?.load('a.txt'), await services.artifacts?.list()]
      },
      { runner: { artifactService } },
    )
    expect(response.result).toEqual([0, { text: 'one' }, ['a.txt']])
    expect(await artifactService.listArtifactKeys({ appName: 'app', userId: 'ada', sessionId })).toEqual(['a.txt'])
    expect(await artifactService.listArtifactKeys({ appName: 'app', userId: 'eve', sessionId })).toEqual([])
  })

  test('of all calls of a batch are in the artifactDelta', async () => {
    const save = plainTool('save', async (args, context) => {
      const { file } = args as { file: string }
      return await context.saveArtifact(file, { text: file })
    })
    const calls = ['a', 'b', 'a'].map((file) => ({ name: 'save', args: { file } }))
    const { events } = await runScenario({
      tools: [save],
      calls,
      runner: { artifactService: new InMemoryArtifactService() },
    })
    expect(events[1]?.actions.artifactDelta).toEqual({ a: 1, b: 0 })
  })
})

test('searchMemory finds memories of the user only', async () => {
  const memoryService = new InMemoryMemoryService()
  const at = { appName: 'app', lastUpdateTime: 0, state: {} }
  const userText = (text: string): { content: { role: 'user'; parts: { text: string }[] } } => ({
    content: { role: 'user', parts: [{ text }] },
  })
  const event = (id: string, text: string) => ({
    id,
    invocationId: 'e-1',
    author: 'user',
    timestamp: 1,
    actions: {},
    ...userText(text),
  })
  await memoryService.addSessionToMemory({ ...at, id: 's1', userId: 'ada', events: [event('1', 'I love Oslo')] })
  await memoryService.addSessionToMemory({ ...at, id: 's2', userId: 'eve', events: [event('2', 'Oslo is cold')] })
  const { response } = await body(
    async (context) => (await context.searchMemory('Oslo')).map(({ content }) => content.parts[0]?.text),
    { runner: { memoryService } },
  )
  expect(response.result).toEqual(['I love Oslo'])
})

test.each([
  ['saving an artifact', 'artifactService', (context: ToolContext) => context.saveArtifact('a', { text: '' })],
  ['loading an artifact', 'artifactService', (context: ToolContext) => context.loadArtifact('a')],
  ['listing artifacts', 'artifactService', (context: ToolContext) => context.listArtifacts()],
  ['searching memory', 'memoryService', (context: ToolContext) => context.searchMemory('a')],
] as const)('the error result names the missing service: %s', async (_, service, run) => {
  const { response, text } = await body(run)
  expect(response).toEqual({ error: expect.stringContaining(service), errorCode: 'EXECUTION_FAILED' })
  expect(text).toBe('done')
})
