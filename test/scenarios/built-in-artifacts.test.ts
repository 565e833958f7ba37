import { InMemoryArtifactService, LlmAgent, loadArtifacts, type Part, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

const png: Part = { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } }

const draw = tool({
  name: 'draw',
  description: 'Draws a picture.',
  run: async (_, context) => {
    await context.saveArtifact('picture.png', png)
    await context.saveArtifact('user:notes.txt', { text: 'Blue.' })
    return { status: 'drawn' }
  },
})

const load = (...artifact_names: string[]) => ({ calls: [{ name: 'load_artifacts', args: { artifact_names } }] })

test('load_artifacts puts media next to its response and in the next request', async () => {
  const model = scriptedModel([
    { calls: [{ name: 'draw' }] },
    load('picture.png', 'user:notes.txt', 'gone.png', 'picture.png'),
    'A blue picture.',
  ])
  const agent = new LlmAgent({ name: 'painter', model, tools: [draw, loadArtifacts()] })
  const runner = new Runner({ appName: 'app', agent, artifactService: new InMemoryArtifactService() })
  const { events, text } = await runner.complete({ userId: 'ada', message: 'Paint.' })
  expect(text).toBe('A blue picture.')
  const [response, ...media] = [
    {
      functionResponse: {
        id: expect.any(String),
        name: 'load_artifacts',
        response: {
          loaded: [
            { name: 'picture.png', part: { mimeType: 'image/png', bytes: 5, attachment: 1 } },
            { name: 'user:notes.txt', part: { text: 'Blue.' } },
            { name: 'gone.png', error: 'not found' },
          ],
        },
      },
    },
    png,
  ]
  expect(events[3]?.content).toEqual({
    role: 'tool',
    parts: [
      response,
      {
        fileData: { mimeType: 'image/png', fileUri: expect.stringMatching(/\/artifacts\/picture\.png\/versions\/0$/) },
      },
    ],
  })
  expect(model.requests[2]?.contents.at(-1)).toEqual({ role: 'tool', parts: [response, ...media] })
})

test('load_artifacts lists artifact names in the instruction as soon as artifacts exist', async () => {
  const model = scriptedModel([{ calls: [{ name: 'draw' }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'painter', model, instruction: 'Paint.', tools: [draw, loadArtifacts()] })
  const runner = new Runner({ appName: 'app', agent, artifactService: new InMemoryArtifactService() })
  await runner.complete({ userId: 'ada', message: 'Paint.' })
  const [before, after] = model.requests.map(({ config }) => config.systemInstruction)
  expect(before).toBe('Paint.')
  expect(after).toContain('["picture.png","user:notes.txt"]')
  expect(after).not.toContain('Blue.')
})

test('load_artifacts neither lists nor loads artifacts of another user', async () => {
  const artifactService = new InMemoryArtifactService()
  await artifactService.saveArtifact({
    appName: 'app',
    userId: 'ada',
    sessionId: 's',
    filename: 'user:diary.txt',
    artifact: { text: 'Dear diary' },
  })
  const model = scriptedModel([load('user:diary.txt'), 'Nothing there.'])
  const agent = new LlmAgent({ name: 'reader', model, tools: [loadArtifacts()] })
  const runner = new Runner({ appName: 'app', agent, artifactService })
  const { events } = await runner.complete({ userId: 'eve', sessionId: 's', message: 'Read the diary.' })
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({
    loaded: [{ name: 'user:diary.txt', error: 'not found' }],
  })
  expect(model.requests[0]?.config.systemInstruction).toBeUndefined()
})

test('load_artifacts names artifactService in its error when the service is missing', async () => {
  const model = scriptedModel([load('a.png'), 'There are no files.'])
  const agent = new LlmAgent({ name: 'reader', model, tools: [loadArtifacts()] })
  const { events, text } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Read.' })
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({
    error: expect.stringContaining('artifactService'),
    errorCode: 'EXECUTION_FAILED',
  })
  expect(text).toBe('There are no files.')
})

test('load_artifacts answers INVALID_ARGS when the names are not a list', async () => {
  const model = scriptedModel([{ calls: [{ name: 'load_artifacts', args: { artifact_names: 'a.png' } }] }, 'Sorry.'])
  const agent = new LlmAgent({ name: 'reader', model, tools: [loadArtifacts()] })
  const artifactService = new InMemoryArtifactService()
  const runner = new Runner({ appName: 'app', agent, artifactService })
  const { events } = await runner.complete({ userId: 'ada', message: 'Read.' })
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toMatchObject({
    errorCode: 'INVALID_ARGS',
    error: expect.stringContaining('artifact_names'),
  })
})

test('load_artifacts keeps twenty long texts below the result size limit', async () => {
  const artifactService = new InMemoryArtifactService()
  const names = Array.from({ length: 20 }, (_, i) => `file-${i}.txt`)
  for (const filename of names) {
    const artifact = { text: '"\n'.repeat(100_000) }
    await artifactService.saveArtifact({ appName: 'app', userId: 'ada', sessionId: 's', filename, artifact })
  }
  const model = scriptedModel([load(...names), 'Long.'])
  const agent = new LlmAgent({ name: 'reader', model, tools: [loadArtifacts()] })
  const runner = new Runner({ appName: 'app', agent, artifactService })
  const { events } = await runner.complete({ userId: 'ada', sessionId: 's', message: 'Read.' })
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toMatchObject({ loaded: expect.any(Array) })
  expect(events[1]?.actions.artifactDelta).toBeUndefined()
})
