import { afterEach, expect, test, vi } from 'vitest'
import type { LiveConnectOptions } from '../../../engine/model/live-model.ts'
import { API_VERSION, KEY } from '../gemini.test-kit.ts'
import { geminiLive } from './gemini-live.ts'
import { openLine, VERTEX } from './live.test-kit.ts'
import type { GeminiLiveOptions } from './options.ts'

afterEach(() => vi.unstubAllEnvs())

const CONNECT: Partial<LiveConnectOptions> = {
  instruction: 'Be kind.',
  tools: [
    {
      functionDeclarations: [
        {
          name: 'look',
          description: 'Looks.',
          behavior: 'NON_BLOCKING',
          parametersJsonSchema: { type: 'object', properties: { at: { type: 'string' } } },
        },
      ],
    },
    { googleSearch: {} },
  ],
}
const LOOK = {
  name: 'look',
  description: 'Looks.',
  parametersJsonSchema: { type: 'object', properties: { at: { type: 'string' } } },
}

test('the setup for the Gemini API has the instruction, the tools, transcripts and resumption', async () => {
  await using line = await openLine(CONNECT)
  expect(line.remote.setup).toEqual({
    model: 'models/gemini-2.5-flash-live',
    generationConfig: { responseModalities: ['AUDIO'] },
    systemInstruction: { role: 'user', parts: [{ text: 'Be kind.' }] },
    tools: [{ functionDeclarations: [{ ...LOOK, behavior: 'NON_BLOCKING' }] }, { googleSearch: {} }],
    sessionResumption: {},
    inputAudioTranscription: {},
    outputAudioTranscription: {},
  })
  expect(line.remote.path).toBe(
    `//ws/google.ai.generativelanguage.${API_VERSION}.GenerativeService.BidiGenerateContent`,
  )
  expect(line.server.problems).toEqual([])
})

test('the setup for Vertex AI names the project and has no behavior', async () => {
  await using line = await openLine({ ...CONNECT, options: VERTEX })
  expect(line.remote.setup).toMatchObject({
    model: 'projects/p1/locations/us-central1/publishers/google/models/gemini-2.5-flash-live',
    tools: [{ functionDeclarations: [LOOK] }, { googleSearch: {} }],
    sessionResumption: {},
  })
  expect(line.remote.isVertex).toBe(true)
  expect(line.remote.headers.authorization).toBe('Bearer ya29.secret-token')
  expect(line.server.problems).toEqual([])
})

test('an access token function is called for each connection', async () => {
  let calls = 0
  const accessToken = async (): Promise<string> => `token-number-${++calls}`
  await using line = await openLine({ options: { ...VERTEX, accessToken } })
  expect(line.remote.headers.authorization).toBe('Bearer token-number-1')
  const model = geminiLive('m', { ...VERTEX, accessToken, baseUrl: line.server.url })
  const { signal } = new AbortController()
  const second = await model.connect({ instruction: undefined, tools: [], signal })
  const third = await model.connect({ instruction: undefined, tools: [], signal })
  expect(line.server.connections.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer token-number-1',
    'Bearer token-number-2',
    'Bearer token-number-3',
  ])
  second.close()
  third.close()
})

test('settings of the session, headers and the API version reach the service', async () => {
  await using line = await openLine({
    options: {
      apiVersion: 'v1alpha',
      headers: { 'x-team': 'blue' },
      config: {
        responseModalities: ['TEXT'],
        temperature: 0.2,
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
        realtimeInputConfig: { automaticActivityDetection: { disabled: true } },
        contextWindowCompression: { slidingWindow: {} },
        inputAudioTranscription: undefined,
      },
    },
  })
  expect(line.remote.setup).toEqual({
    model: 'models/gemini-2.5-flash-live',
    generationConfig: {
      responseModalities: ['TEXT'],
      temperature: 0.2,
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    },
    realtimeInputConfig: { automaticActivityDetection: { disabled: true } },
    contextWindowCompression: { slidingWindow: {} },
    sessionResumption: {},
  })
  expect(line.remote.path).toContain('v1alpha')
  expect(line.remote.headers['x-team']).toBe('blue')
})

test('a connection can ask for another modality than the settings', async () => {
  await using text = await openLine({ responseModality: 'text' })
  expect(text.remote.setup).toMatchObject({ generationConfig: { responseModalities: ['TEXT'] } })
  expect(text.remote.setup).not.toHaveProperty('outputAudioTranscription')
  const config = { responseModalities: ['TEXT' as const] }
  await using audio = await openLine({ options: { config }, responseModality: 'audio' })
  expect(audio.remote.setup).toMatchObject({
    generationConfig: { responseModalities: ['AUDIO'] },
    outputAudioTranscription: {},
  })
})

test('a connection resumes the conversation of its handle', async () => {
  await using first = await openLine({ server: { sendHandles: true } })
  const [resumption] = await first.read(1)
  const handle = resumption?.type === 'resumption' ? resumption.handle : undefined
  expect(handle).toBe('conversation-1-handle-1')
  first.remote.drop()
  const model = geminiLive('m', { apiKey: KEY, baseUrl: first.server.url })
  const { signal } = new AbortController()
  const second = await model.connect({ instruction: undefined, tools: [], signal, resumeHandle: handle })
  const remote = await first.server.nextConnection()
  expect(remote.handle).toBe(handle)
  expect(remote.conversation).toBe(first.remote.conversation)
  second.close()
})

test('a client of the caller is used and not changed', async () => {
  const { GoogleGenAI } = await import('@google/genai')
  await using server = await openLine()
  const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: server.server.url } })
  const members = Object.keys(client.live)
  const { signal } = new AbortController()
  const connection = await geminiLive('m', { client }).connect({ instruction: undefined, tools: [], signal })
  connection.send({ type: 'text', text: 'Hi' })
  const remote = await server.server.nextConnection()
  expect(await remote.next('realtimeInput')).toEqual({ realtimeInput: { text: 'Hi' } })
  expect(Object.keys(client.live)).toEqual(members)
  connection.close()
})

test('capabilities depend on the service and the model, and single ones can be replaced', () => {
  const of = (name: string, options: GeminiLiveOptions = {}): unknown =>
    geminiLive(name, { apiKey: KEY, ...options }).capabilities
  const common = { serverToolsWithFunctions: true, resumption: true, updates: true }
  expect(of('gemini-2.5-flash-live')).toMatchObject({ ...common, nonBlocking: true })
  expect(of('gemini-3.1-flash-live-preview')).toMatchObject({ ...common, nonBlocking: false })
  expect(of('gemini-2.5-flash-live', VERTEX)).toMatchObject({ ...common, nonBlocking: false })
  expect(of('gemini-2.5-flash-live', { capabilities: { updates: false } })).toMatchObject({
    nonBlocking: true,
    updates: false,
  })
})

test.each<[string, GeminiLiveOptions, string]>([
  ['a voice outside of speechConfig', { config: { voice: 'Kore' } as object }, 'Set config.speechConfig.voiceConfig'],
  ['a WebSocket address', { baseUrl: 'ws://127.0.0.1:1' }, 'a URL that starts with http:// or https://'],
  ['an unknown option', { retry: {} } as GeminiLiveOptions, 'retry'],
  ['tools in config', { config: { tools: [] } as never }, 'config.tools is not supported. Set the tools of the agent'],
  ['a token for the Gemini API', { accessToken: 't0ken' }, 'accessToken is for Vertex AI'],
  ['a token and a key', { ...VERTEX, apiKey: KEY }, 'only one of accessToken, googleAuthOptions and apiKey'],
  ['no time to connect', { connectTimeoutMs: 0 }, 'connectTimeoutMs'],
])('geminiLive() refuses %s', (_, options, message) => {
  expect(() => geminiLive('m', { apiKey: KEY, ...options })).toThrow(message)
})

test('geminiLive() names itself when the key or the model is missing', () => {
  for (const name of ['GOOGLE_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI']) vi.stubEnv(name, '')
  expect(() => geminiLive('m')).toThrow("pass geminiLive('m', { apiKey })")
  expect(() => geminiLive('')).toThrow('geminiLive() takes the name of a model')
  expect(() => geminiLive('m', { vertexai: true, accessToken: 'token' })).toThrow('needs a project')
  vi.stubEnv('GEMINI_API_KEY', KEY)
  expect(geminiLive('m').name).toBe('m')
})
