// Images, audio and documents: stored once, referenced by events, and sent to models only as far as a request needs them.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type ArtifactService,
  agentTool,
  type Content,
  createEvent,
  type Event,
  InMemoryArtifactService,
  InMemorySessionService,
  LlmAgent,
  type LlmAgentOptions,
  loadArtifacts,
  ParallelAgent,
  type Part,
  parseArtifactUri,
  prefixTools,
  Runner,
  type RunnerOptions,
  type SessionService,
  StaticToolset,
  ToolwrightError,
  tool,
  withParts,
} from 'toolwright'
import { fromAiSdk, toAiSdkTools } from 'toolwright/ai-sdk'
import { gemini } from 'toolwright/gemini'
import { geminiServer, type ScriptedModel, type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { claude } from '../../src/adapters/ai-sdk/providers.test-kit.ts'
import { ProviderServer } from '../providers/provider-server.ts'
import { stores } from '../stores.ts'
import { killWhen, LEASE_EXPIRED_MS, temporaryFile } from './kill/kill-scenario.ts'
import { type MediaProcessCommand, mediaRunner, mediaSession, picture } from './kill/media-process.ts'
import { recordingLogger, silentLogger } from './kit.ts'

vi.setConfig({ testTimeout: 60_000 })

const key = { appName: 'app', userId: 'ada', sessionId: 's1' }
const ada = { userId: 'ada', sessionId: 's1' }
const photo: Part = { inlineData: { ...picture(1), displayName: 'photo.png' } }
const drawing: Part = { inlineData: picture(2) }
const draw = tool({
  name: 'draw',
  description: 'Draws',
  effect: 'none',
  run: () => withParts({ status: 'drawn' }, [drawing]),
})
const upload = (...parts: Part[]): Part[] => [{ text: 'Look.' }, ...parts]
const isBytes = (part: Part): boolean => (part.inlineData?.data.length ?? 0) > 1_000

/** The files in a request. */
const filesIn = (contents: readonly Content[] = []): Part[] => contents.flatMap(({ parts }) => parts.filter(isBytes))
const linesIn = (contents: readonly Content[] = []): string[] =>
  contents.flatMap(({ parts }) => parts.flatMap(({ text }) => (text?.startsWith('[') ? [text] : [])))

interface Stage {
  readonly model: ScriptedModel
  readonly runner: Runner
  readonly sessionService: SessionService
  readonly artifactService: ArtifactService
  /** The files sent with the n-th request. */
  readonly sent: (at: number) => Part[]
  readonly lines: (at: number) => string[]
  readonly log: () => Promise<readonly Event[]>
  readonly names: () => Promise<string[]>
}

function stage(
  steps: readonly ScriptedStep[],
  agent: Partial<LlmAgentOptions> = {},
  more: Partial<RunnerOptions> = {},
): Stage {
  const model = scriptedModel(steps)
  const { sessionService = new InMemorySessionService(), artifactService = new InMemoryArtifactService() } = more
  const runner = new Runner({
    appName: 'app',
    agent: new LlmAgent({ name: 'agent', model, tools: [draw], ...agent }),
    logger: silentLogger,
    ...more,
    sessionService,
    artifactService: 'artifactService' in more ? more.artifactService : artifactService,
  })
  return {
    model,
    runner,
    sessionService,
    artifactService,
    sent: (at) => filesIn(model.requests[at]?.contents),
    lines: (at) => linesIn(model.requests[at]?.contents),
    log: async () => (await sessionService.getSession(key))?.events ?? [],
    names: () => artifactService.listArtifactKeys(key),
  }
}

describe.each(stores)('media $name', ({ open }) => {
  test('is a reference in the event log and exact bytes in the request', async () => {
    const { runner, sent, log, names, artifactService } = stage([{ calls: [{ name: 'draw' }] }, 'Nice.'], {}, open())
    const { events } = await runner.complete({ ...ada, message: upload(photo) })
    expect(sent(0)).toEqual([photo])
    expect(sent(1)).toEqual([photo, drawing])
    const all = await log()
    expect(JSON.stringify(all).length).toBeLessThan(3_000)
    expect(JSON.stringify(events).length).toBeLessThan(3_000)
    expect(await names()).toEqual([
      expect.stringMatching(/^media\/[0-9a-f]{32}\.png$/),
      expect.stringMatching(/^media\//),
    ])
    const file = all[0]?.content?.parts[1]?.fileData
    expect(file).toEqual({ fileUri: expect.any(String), mimeType: 'image/png', displayName: 'photo.png' })
    const reference = parseArtifactUri(file?.fileUri ?? '')
    expect(reference).toMatchObject({ ...key, version: 0 })
    expect(reference && (await artifactService.loadArtifact(reference))).toEqual(photo)
  })

  test('is stored once when it is sent several times', async () => {
    const { runner, sent, names, artifactService } = stage(['One.', 'Two.'], {}, open())
    await runner.complete({ ...ada, message: upload(photo, photo) })
    const renamed = { inlineData: { ...picture(1), displayName: 'again.png' } }
    await runner.complete({ ...ada, message: upload(renamed) })
    const [filename = '', ...more] = await names()
    expect(more).toEqual([])
    expect(await artifactService.listVersions({ ...key, filename })).toEqual([0])
    expect(sent(1)).toEqual([photo, photo, renamed])
  })

  test('of 20 MB is accepted in a message', async () => {
    const video = { inlineData: { mimeType: 'video/mp4', data: Buffer.alloc(20_000_000, 7).toString('base64') } }
    const { runner, sent, log } = stage(['A cat.'], {}, open())
    expect((await runner.complete({ ...ada, message: upload(video) })).text).toBe('A cat.')
    expect(sent(0)[0]?.inlineData?.data === video.inlineData.data).toBe(true)
    expect(JSON.stringify(await log()).length).toBeLessThan(2_000)
  })
})

test('the runner keeps a small picture inline in the event', async () => {
  const icon = { inlineData: picture(3, 1_000) }
  const { runner, log, names } = stage(['Fine.'])
  await runner.complete({ ...ada, message: upload(icon) })
  expect((await log())[0]?.content?.parts[1]).toEqual(icon)
  expect(await names()).toEqual([])
})

describe('media in later requests', () => {
  const tools = [draw, loadArtifacts()]
  const filename = expect.stringMatching(
    /^\[File "photo\.png" \(image\/png\), shown earlier; call load_artifacts with "media\/[0-9a-f]{32}\.png" to see it again\.\]$/,
  )

  test('is replaced by a line of text when the agent can load files', async () => {
    const { runner, sent, lines } = stage([{ calls: [{ name: 'draw' }] }, 'Nice.', 'Still.', 'And.'], { tools })
    await runner.complete({ ...ada, message: upload(photo) })
    await runner.complete({ ...ada, message: 'More.' })
    await runner.complete({ ...ada, message: 'And more.' })
    expect(sent(1)).toHaveLength(2)
    expect(sent(2)).toEqual([])
    expect(lines(2)).toEqual([filename, expect.stringMatching(/^\[File \(image\/png\), shown earlier; call/)])
    expect(lines(3)).toEqual(lines(2)) // the same text in every later request keeps prompt caches valid
  })

  test('is sent again after the model loads it, without a second copy in the store', async () => {
    const load: ScriptedStep = (request) => {
      const [, name = ''] = /"(media\/[^"]+)"/.exec(linesIn(request.contents)[0] ?? '') ?? []
      return { calls: [{ name: 'load_artifacts', args: { artifact_names: [name] } }] }
    }
    const { runner, sent, log, names } = stage(['Nice.', load, 'A cat.', 'Bye.'], { tools })
    await runner.complete({ ...ada, message: upload(photo) })
    expect((await runner.complete({ ...ada, message: 'What was it?' })).text).toBe('A cat.')
    expect(sent(2)).toEqual([photo])
    await runner.complete({ ...ada, message: 'Bye.' })
    expect(sent(3)).toEqual([])
    expect(await names()).toHaveLength(1)
    expect(JSON.stringify(await log()).length).toBeLessThan(5_000)
  })

  test('refers to a loaded artifact by its own name and version', async () => {
    const artifactService = new InMemoryArtifactService()
    await artifactService.saveArtifact({ ...key, filename: 'cat.png', artifact: drawing })
    await artifactService.saveArtifact({ ...key, filename: 'cat.png', artifact: photo })
    const load = { calls: [{ name: 'load_artifacts', args: { artifact_names: ['cat.png'] } }] }
    const { runner, sent, lines, log, names, model } = stage([load, 'A cat.', 'Yes.'], { tools }, { artifactService })
    await runner.complete({ ...ada, message: 'What is it?' })
    await runner.complete({ ...ada, message: 'Sure?' })
    expect(sent(1)).toEqual([photo])
    const uri = (await log())[2]?.content?.parts[1]?.fileData?.fileUri ?? ''
    expect(parseArtifactUri(uri)).toEqual({ ...key, filename: 'cat.png', version: 1 })
    expect(lines(2)).toEqual([
      '[File "photo.png" (image/png), shown earlier; call load_artifacts with "cat.png" to see it again.]',
    ])
    expect(await names()).toEqual(['cat.png'])
    expect(model.requests[0]?.config.systemInstruction).toContain('["cat.png"]')
  })

  test('names load_artifacts with its prefix, and the instruction does not list stored media', async () => {
    const prefixed = prefixTools(new StaticToolset([loadArtifacts()]), 'my_')
    const { runner, lines, model } = stage(['One.', 'Two.'], { tools: [prefixed] })
    await runner.complete({ ...ada, message: upload(photo) })
    await runner.complete({ ...ada, message: 'Again.' })
    expect(lines(1)).toEqual([expect.stringContaining('call my_load_artifacts with "media/')])
    expect(model.requests[1]?.config.systemInstruction).toBeUndefined()
  })

  test('is sent with the next three messages to an agent without load_artifacts, and not with the fourth', async () => {
    const { runner, sent, lines } = stage(['1', '2', '3', '4', '5'])
    await runner.complete({ ...ada, message: upload(photo) })
    for (const message of ['Two?', 'Three?', 'Four?', 'Five?']) await runner.complete({ ...ada, message })
    expect([1, 2, 3].map(sent)).toEqual([[photo], [photo], [photo]])
    expect(sent(4)).toEqual([])
    expect(lines(4)).toEqual(['[File "photo.png" (image/png), shown earlier.]'])
  })

  test('is sent for media.earlierTurns messages', async () => {
    const open = stage(['One.', 'Two.'])
    await open.runner.complete({ ...ada, message: upload(photo) })
    await open.runner.complete({ ...ada, message: 'What colour is it?' })
    expect(open.sent(1)).toEqual([photo])
    const closed = stage(['One.', 'Two.'], {}, { media: { earlierTurns: 0 } })
    await closed.runner.complete({ ...ada, message: upload(photo) })
    await closed.runner.complete({ ...ada, message: 'What colour is it?' })
    expect(closed.sent(1)).toEqual([])
    expect(closed.lines(1)).toEqual(['[File "photo.png" (image/png), shown earlier.]'])
    const all = stage(['One.', 'Two.'], { tools }, { media: { earlierTurns: Number.POSITIVE_INFINITY } })
    await all.runner.complete({ ...ada, message: upload(photo) })
    await all.runner.complete({ ...ada, message: 'What colour is it?' })
    expect(all.sent(1)).toEqual([photo])
  })
})

describe('media limit of a request', () => {
  const shots = [1, 2, 3].map((byte): Part => ({ inlineData: { ...picture(byte), displayName: `${byte}.png` } }))

  test.each<[string, RunnerOptions['media'], boolean]>([
    ['bytes', { maxBytesPerRequest: 130_000 }, true],
    ['files', { maxFilesPerRequest: 2 }, true],
    ['bytes, without an artifact service', { maxBytesPerRequest: 130_000 }, false],
  ])('in %s sends the newest files and describes the others', async (_, media, hasService) => {
    const { runner, sent, lines } = stage(
      ['1', '2', '3'],
      {},
      { media, ...(!hasService && { artifactService: undefined }) },
    )
    for (const shot of shots) await runner.complete({ ...ada, message: upload(shot) })
    expect(sent(1)).toHaveLength(2)
    expect(sent(2)).toEqual(shots.slice(1))
    expect(lines(2)).toEqual(['[File "1.png" (image/png), left out: the request has no room for it.]'])
  })

  test('does not load files over the limit', async () => {
    const artifactService = new InMemoryArtifactService()
    const { runner, lines } = stage(['done'], {}, { artifactService, media: { maxFilesPerRequest: 1 } })
    const load = vi.spyOn(artifactService, 'loadArtifact')
    await runner.complete({ ...ada, message: upload(...shots) })
    expect(load).toHaveBeenCalledTimes(1)
    expect(lines(0)).toHaveLength(2)
  })

  test('of zero bytes sends no file', async () => {
    const { runner, sent } = stage(['done'], {}, { media: { maxBytesPerRequest: 0 } })
    await runner.complete({ ...ada, message: upload(...shots) })
    expect(sent(0)).toEqual([])
  })

  test('rejects invalid options', () => {
    const agent = new LlmAgent({ name: 'agent', model: scriptedModel([]) })
    const make = (media: unknown) => () => new Runner({ appName: 'app', agent, media: media as never })
    expect(make({ maxBytes: 1 })).toThrow(/unknown option "maxBytes"/)
    expect(make({ earlierTurns: -1 })).toThrow(/earlierTurns must be a whole number >= 0, or Infinity/)
    expect(make({ maxFilesPerRequest: -1 })).toThrow(/maxFilesPerRequest must be a whole number >= 0/)
  })
})

describe('a forged artifact reference', () => {
  const uri = (userId: string, sessionId: string, filename: string): string =>
    `artifact://apps/app/users/${userId}/sessions/${sessionId}/artifacts/${encodeURIComponent(filename)}/versions/0`

  async function secrets(): Promise<ArtifactService> {
    const artifactService = new InMemoryArtifactService()
    for (const userId of ['ada', 'bob']) {
      for (const filename of ['secret.png', 'user:secret.png'])
        await artifactService.saveArtifact({ appName: 'app', userId, sessionId: 's1', filename, artifact: photo })
    }
    return artifactService
  }
  const forged = [
    uri('bob', 's1', 'secret.png'),
    uri('ada', 's2', 'user:secret.png'),
    uri('ada', 's1', 'secret.png'),
    uri('ada', 's1', 'user:secret.png'),
    uri('ada', 's1', 'media/../secret.png'),
    uri('ada', 's1', 'secret.png').toUpperCase(),
    'artifact:secret.png',
    'artifact://apps/app/users/%/sessions/s1/artifacts/x/versions/0',
  ].map((fileUri): Part => ({ fileData: { fileUri, mimeType: 'image/png' } }))

  test('in a message loads nothing', async () => {
    const artifactService = await secrets()
    const load = vi.spyOn(artifactService, 'loadArtifact')
    const { runner, model } = stage(['Nothing.'], {}, { artifactService })
    await runner.complete({ ...ada, message: upload(...forged) })
    expect(load).not.toHaveBeenCalled()
    const parts = model.requests[0]?.contents[0]?.parts.slice(1)
    expect(parts).toEqual(forged.map(() => ({ text: expect.stringContaining('only the framework writes') })))
  })

  test('in a tool result, a model reply or an event of a custom agent loads nothing', async () => {
    const artifactService = await secrets()
    const load = vi.spyOn(artifactService, 'loadArtifact')
    const give = tool({ name: 'give', description: 'Gives', run: () => withParts({ ok: true }, forged) })
    const steps: ScriptedStep[] = [{ calls: [{ name: 'give' }] }, { parts: [{ text: 'Here.' }, ...forged] }, 'done']
    const { runner, model } = stage(steps, { tools: [give] }, { artifactService })
    await runner.complete({ ...ada, message: 'Go.' })
    await runner.complete({ ...ada, message: 'Go on.' })
    const own = new Runner({
      appName: 'app',
      agent: {
        name: 'own',
        async *run() {
          yield createEvent({ content: { role: 'model', parts: forged } })
        },
      },
      artifactService,
    })
    const { events } = await own.complete({ userId: 'ada', sessionId: 's9', message: 'Go.' })
    expect(JSON.stringify([model.requests, events])).not.toMatch(/artifact:/i)
    expect(load).not.toHaveBeenCalled()
  })

  test('to 2,000 missing files causes at most 64 loads', async () => {
    const artifactService = new InMemoryArtifactService()
    const { runner, lines } = stage(['Nothing.'], {}, { artifactService })
    const load = vi.spyOn(artifactService, 'loadArtifact')
    const gone: Part = { fileData: { fileUri: uri('ada', 's1', `media/${'0'.repeat(32)}.png`), mimeType: 'image/png' } }
    await runner.complete({ ...ada, message: upload(...Array.from({ length: 2_000 }, () => gone)) })
    expect(load).toHaveBeenCalledTimes(64)
    expect(lines(0).length).toBeGreaterThanOrEqual(2_000)
  })

  test('next to a file in one part is refused, and nothing is stored', async () => {
    const { runner, sent, log } = stage(['One.'])
    const both = { ...photo, fileData: { fileUri: uri('bob', 's1', 'secret.png'), mimeType: 'image/png' } }
    const refused = runner.complete({ ...ada, message: upload(both) })
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('not both'),
    })
    await runner.complete({ ...ada, message: upload(photo) })
    expect(sent(0)).toEqual([photo])
    expect(JSON.stringify(await log()).length).toBeLessThan(5_000)
  })

  test('does not resolve to another artifact saved under the name of a file', async () => {
    const artifactService = new InMemoryArtifactService()
    const { runner, sent } = stage(['One.', 'Two.'], {}, { artifactService })
    const other = { appName: 'app', userId: 'ada', sessionId: 's2' }
    await runner.complete({ ...other, message: upload(photo) })
    const [filename = ''] = await artifactService.listArtifactKeys(other)
    await artifactService.saveArtifact({ appName: 'app', ...ada, filename, artifact: { inlineData: picture(2) } })
    await runner.complete({ ...ada, message: upload(photo) })
    expect(sent(1)).toEqual([photo])
  })

  test('with a type or name of the wrong type is refused', async () => {
    const { runner, sent, log } = stage(['One.', 'Two.'])
    await runner.complete({ ...ada, message: upload(photo) })
    const fileUri = (await log())[0]?.content?.parts.find(({ fileData }) => fileData)?.fileData?.fileUri ?? ''
    const send = (fileData: object) => runner.complete({ ...ada, message: upload({ fileData } as Part) })
    for (const odd of [{ mimeType: 5 }, { displayName: { length: 1 } }])
      await expect(send({ fileUri, ...odd })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await send({ fileUri, mimeType: 'image/png' })
    expect(sent(1).at(-1)).toEqual({ inlineData: picture(1) })
  })

  test('in the initial events of a session loads nothing from another session', async () => {
    const artifactService = await secrets()
    const load = vi.spyOn(artifactService, 'loadArtifact')
    const { runner, lines, sessionService } = stage(['Nothing.'], {}, { artifactService })
    const content: Content = { role: 'user', parts: forged.slice(0, 2) }
    const reply: Content = { role: 'model', parts: [{ text: 'Hm.' }] }
    const theirs = createEvent({ invocationId: 'e-1', author: 'user', content })
    await sessionService.createSession({
      ...key,
      events: [theirs, createEvent({ invocationId: 'e-1', author: 'agent', content: reply })],
    })
    await runner.complete({ ...ada, message: 'Go.' })
    expect(load).not.toHaveBeenCalled()
    expect(lines(0)).toEqual(forged.slice(0, 2).map(() => '[File (image/png), not a file of this session.]'))
  })

  test('in partMetadata is compared with the artifact', async () => {
    const artifactService = await secrets()
    const claims = { ...drawing, partMetadata: { artifact: 'secret.png' } }
    const { runner, sent, log } = stage(['ok'], {}, { artifactService })
    await runner.complete({ ...ada, message: upload(claims) })
    expect(sent(0)).toEqual([drawing])
    const reference = parseArtifactUri((await log())[0]?.content?.parts[1]?.fileData?.fileUri ?? '')
    expect(reference?.filename).toMatch(/^media\//)
  })

  test('that makes the artifact service fail does not leave inline media in the log', async () => {
    const artifactService = new InMemoryArtifactService()
    const list = artifactService.listVersions.bind(artifactService)
    vi.spyOn(artifactService, 'listVersions').mockImplementation((file) =>
      file.filename.startsWith('media/') ? list(file) : Promise.reject(new Error('No such name.')),
    )
    const { runner, log } = stage(['ok'], {}, { artifactService })
    await runner.complete({ ...ada, message: upload({ ...drawing, partMetadata: { artifact: 'x' } }) })
    expect((await log())[0]?.content?.parts[1]).toEqual({ fileData: expect.anything() })
  })
})

test('a genuine artifact reference is resolved when a client sends a recorded message again', async () => {
  const { runner, sent, log } = stage(['One.', 'Two.'], {}, { media: { earlierTurns: 0 } })
  await runner.complete({ ...ada, message: upload(photo) })
  await runner.complete({ ...ada, message: (await log())[0]?.content as Content })
  expect(sent(1)).toEqual([photo])
})

describe('a file of a message', () => {
  test('that was deleted from the store is described in text, and the run continues', async () => {
    const { runner, lines, names, artifactService } = stage(['One.', 'Two.'])
    await runner.complete({ ...ada, message: upload(photo) })
    for (const filename of await names()) await artifactService.deleteArtifact({ ...key, filename })
    expect((await runner.complete({ ...ada, message: 'Again?' })).text).toBe('Two.')
    expect(lines(1)).toEqual(['[File "photo.png" (image/png), no longer stored.]'])
  })

  test('whose artifact service fails is described in text and logged', async () => {
    const logger = recordingLogger()
    const { runner, lines, artifactService } = stage(['One.', 'Two.'], {}, { logger })
    await runner.complete({ ...ada, message: upload(photo) })
    vi.spyOn(artifactService, 'loadArtifact').mockRejectedValue(new Error('The bucket is down.'))
    expect((await runner.complete({ ...ada, message: 'Again?' })).text).toBe('Two.')
    expect(lines(1)).toEqual(['[File "photo.png" (image/png), could not be loaded.]'])
    expect(JSON.stringify(logger)).toContain('The bucket is down.')
  })

  test('is described in text by a runner without an artifact service', async () => {
    const { runner, sessionService } = stage(['One.'])
    await runner.complete({ ...ada, message: upload(photo) })
    const other = stage(['Two.'], {}, { sessionService, artifactService: undefined })
    expect((await other.runner.complete({ ...ada, message: 'Again?' })).text).toBe('Two.')
    expect(other.lines(0)).toEqual(['[File "photo.png" (image/png), not available: there is no artifact service.]'])
  })

  test('that cannot be saved stays inline in the event', async () => {
    const artifactService = new InMemoryArtifactService()
    vi.spyOn(artifactService, 'saveArtifact').mockRejectedValue(new Error('The bucket is down.'))
    const logger = recordingLogger()
    const { runner, sent, log } = stage(['One.'], {}, { artifactService, logger })
    expect((await runner.complete({ ...ada, message: upload(photo) })).text).toBe('One.')
    expect(sent(0)).toEqual([photo])
    expect((await log())[0]?.content?.parts[1]).toEqual(photo)
    expect(JSON.stringify(logger)).toContain('recorded inline: The bucket is down.')
  })
})

describe('the runner, for agents with media,', () => {
  test("shows an agent tool its own files and the caller's agent only text", async () => {
    const inner = new LlmAgent({
      name: 'inner',
      description: 'Draws',
      model: scriptedModel([{ calls: [{ name: 'draw' }] }, 'A red square.']),
      tools: [draw],
    })
    const innerModel = inner.options.model as ScriptedModel
    const { runner, sent, log } = stage([{ calls: [{ name: 'inner', args: { request: 'Draw.' } }] }, 'Done.'], {
      tools: [agentTool(inner)],
    })
    expect((await runner.complete({ ...ada, message: upload(photo) })).text).toBe('Done.')
    expect(filesIn(innerModel.requests[1]?.contents)).toEqual([drawing])
    expect(sent(1)).toEqual([photo])
    expect(JSON.stringify(await log()).length).toBeLessThan(6_000)
  })

  test('shows the upload of the invocation to the agent after a transfer', async () => {
    const model = scriptedModel(['A cat.'])
    const expert = new LlmAgent({ name: 'expert', description: 'Knows cats', model, tools: [loadArtifacts()] })
    const { runner } = stage([{ calls: [{ name: 'transfer_to_agent', args: { agent_name: 'expert' } }] }], {
      subAgents: [expert],
    })
    expect((await runner.complete({ ...ada, message: upload(photo) })).text).toBe('A cat.')
    expect(filesIn(model.requests[0]?.contents)).toEqual([photo])
  })

  test('stores a file once when parallel branches return it', async () => {
    const branch = (name: string): LlmAgent =>
      new LlmAgent({ name, model: scriptedModel([{ calls: [{ name: 'draw' }] }, `${name} done.`]), tools: [draw] })
    const subAgents = [branch('a'), branch('b'), branch('c')]
    const artifactService = new InMemoryArtifactService()
    const save = vi.spyOn(artifactService, 'saveArtifact')
    const list = artifactService.listVersions.bind(artifactService)
    vi.spyOn(artifactService, 'listVersions').mockImplementation(async (file) => {
      const versions = await list(file)
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve)) // other branches run meanwhile
      return versions
    })
    const agent = new ParallelAgent({ name: 'all', subAgents })
    const runner = new Runner({ appName: 'app', agent, artifactService, logger: silentLogger })
    await runner.complete({ ...ada, message: 'Draw.' })
    expect(save).toHaveBeenCalledTimes(1)
    for (const { options } of subAgents)
      expect(filesIn((options.model as ScriptedModel).requests[1]?.contents)).toEqual([drawing])
  })

  test('stores pictures made by a model with their thought signature', async () => {
    const made: Part = { ...drawing, thoughtSignature: 'c2lnbmVk' }
    const { runner, sent, log } = stage([{ parts: [{ text: 'Here.' }, made] }, 'Yes.'])
    await runner.complete({ ...ada, message: 'Draw.' })
    await runner.complete({ ...ada, message: 'Is it red?' })
    expect((await log())[1]?.content?.parts[1]).toMatchObject({ fileData: { mimeType: 'image/png' } })
    expect(sent(1)).toEqual([made])
  })
})

describe('the runner, after a crash or a cancel with media,', () => {
  test('stores a file once when the process crashes between artifact and event', async () => {
    let isDying = true
    class DyingStore extends InMemorySessionService {
      override async append(...args: Parameters<InMemorySessionService['append']>): Promise<number> {
        if (isDying && args[2].length) throw new ToolwrightError('STORAGE', 'The disk is gone.')
        return await super.append(...args)
      }
    }
    const { runner, sent, log, names, artifactService } = stage(['One.'], {}, { sessionService: new DyingStore() })
    await expect(runner.complete({ ...ada, message: upload(photo) })).rejects.toMatchObject({ code: 'STORAGE' })
    isDying = false
    expect(await log()).toEqual([])
    await runner.complete({ ...ada, message: upload(photo) })
    expect(sent(0)).toEqual([photo])
    const [filename = ''] = await names()
    expect(await artifactService.listVersions({ ...key, filename })).toEqual([0])
  })

  test('resumes with the files in another process after kill -9', async () => {
    const file = temporaryFile()
    const silentServer = createServer() // never answers: the process hangs there
    silentServer.listen(0, '127.0.0.1')
    await once(silentServer, 'listening')
    onTestFinished(() => {
      silentServer.closeAllConnections()
      silentServer.close()
    })
    const url = `http://127.0.0.1:${(silentServer.address() as AddressInfo).port}`
    const program = new URL('./kill/media-process.ts', import.meta.url).pathname
    await killWhen(once(silentServer, 'request'), program, { file, url } satisfies MediaProcessCommand)
    const model = scriptedModel(['Both are red.'])
    const runner = mediaRunner(file, model, () => Date.now() + LEASE_EXPIRED_MS)
    let text = ''
    for await (const { content } of runner.resume(mediaSession)) text = content?.parts[0]?.text ?? text
    expect(text).toBe('Both are red.')
    expect(filesIn(model.requests[0]?.contents)).toEqual([{ inlineData: picture(1) }, { inlineData: picture(2) }])
    const session = await runner.sessionService.getSession({ appName: 'app', ...mediaSession })
    expect(JSON.stringify(session?.events).length).toBeLessThan(5_000)
  })

  test('records the response when the run is cancelled while a file is being stored', async () => {
    const artifactService = new InMemoryArtifactService()
    const { runner, log } = stage([{ calls: [{ name: 'draw' }] }], {}, { artifactService })
    const saving = Promise.withResolvers<void>()
    vi.spyOn(artifactService, 'saveArtifact').mockImplementation(() => {
      saving.resolve()
      return new Promise(() => {})
    })
    const run = runner.complete({ ...ada, message: 'Draw.' })
    await saving.promise
    await runner.cancel(ada)
    await run
    const parts = (await log()).flatMap(({ content }) => content?.parts ?? [])
    expect(parts.find((part) => part.functionResponse)?.functionResponse?.response).toEqual({ status: 'drawn' })
  })
})

describe('the runner, for media on the wire,', () => {
  const bytes = (photo.inlineData?.data ?? '').slice(0, 2_000)

  test('sends bytes to Gemini in the first invocation and a line of text in the next', async () => {
    await using server = await geminiServer(['A cat.', 'Yes.'])
    const model = gemini('gemini-2.5-flash', { apiKey: 'any-key', baseUrl: server.url })
    const { runner } = stage([], { model, tools: [loadArtifacts()] })
    await runner.complete({ ...ada, message: upload(photo) })
    expect((await runner.complete({ ...ada, message: 'Sure?' })).text).toBe('Yes.')
    const [first, second] = server.requests.map(({ body }) => JSON.stringify(body))
    expect(first).toContain(bytes)
    expect(second).not.toContain(bytes)
    expect(second).toContain('shown earlier; call load_artifacts')
    expect(`${first}${second}`).not.toContain('artifact://')
  })

  test('sends bytes to an AI SDK provider in the first invocation and a line of text in the next', async () => {
    await using server = await ProviderServer.start([
      claude.say({ calls: [{ id: 'c1', name: 'draw', args: {} }] }),
      claude.say({ text: 'A cat.' }),
      claude.say({ text: 'Yes.' }),
    ])
    const model = fromAiSdk(claude.model(server.url), { maxRetries: 0 })
    const { runner } = stage([], { model, tools: [draw, loadArtifacts()] })
    await runner.complete({ ...ada, message: upload(photo) })
    expect((await runner.complete({ ...ada, message: 'Sure?' })).text).toBe('Yes.')
    const [first, second, third] = server.requests.map(({ body }) => JSON.stringify(body))
    expect(first).toContain(photo.inlineData?.data)
    expect(second).toContain(drawing.inlineData?.data)
    expect(third).not.toContain(bytes)
    expect(third).not.toContain(drawing.inlineData?.data)
    expect(`${first}${second}${third}`).not.toContain('artifact://')
  })

  test('returns the bytes from a tool converted by toAiSdkTools', async () => {
    const tools = toAiSdkTools([draw], { userId: 'ada', artifactService: new InMemoryArtifactService() })
    const result = await tools.draw?.execute({})
    expect(tools.draw?.toModelOutput(result)).toMatchObject({
      value: [{ type: 'text' }, { type: 'file-data', data: drawing.inlineData?.data, mediaType: 'image/png' }],
    })
  })
})

test('the runner shows media to plugins before it is stored', async () => {
  const seen: boolean[] = []
  const plugin = {
    name: 'watch',
    onEvent: ({ event }: { event: Event }) => {
      if (event.content?.role === 'tool') seen.push(event.content.parts.some(isBytes))
    },
  }
  const { runner, log } = stage([{ calls: [{ name: 'draw' }] }, 'Nice.'], {}, { plugins: [plugin] })
  await runner.complete({ ...ada, message: 'Draw.' })
  expect(seen).toEqual([true])
  expect(JSON.stringify(await log()).length).toBeLessThan(3_000)
})
