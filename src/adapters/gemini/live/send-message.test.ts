import { expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import type { FunctionResponse } from '../../../core/content/content.ts'
import type { LiveClientMessage } from '../../../engine/model/live-model.ts'
import { user } from '../gemini.test-kit.ts'
import { openLine, VERTEX } from './live.test-kit.ts'

const bytes = new Uint8Array(640)

test.each<[string, LiveClientMessage, JsonObject]>([
  [
    'audio',
    { type: 'audio', data: bytes, mimeType: 'audio/pcm;rate=16000' },
    { realtimeInput: { audio: { mimeType: 'audio/pcm;rate=16000', bytes: 640 } } },
  ],
  [
    'video',
    { type: 'video', data: bytes, mimeType: 'image/jpeg' },
    { realtimeInput: { video: { mimeType: 'image/jpeg', bytes: 640 } } },
  ],
  ['text', { type: 'text', text: 'Hi' }, { realtimeInput: { text: 'Hi' } }],
  ['the start of speech', { type: 'activity', state: 'start' }, { realtimeInput: { activityStart: {} } }],
  ['the end of speech', { type: 'activity', state: 'end' }, { realtimeInput: { activityEnd: {} } }],
  [
    'messages of the conversation',
    { type: 'content', contents: [user('Hi'), { role: 'model', parts: [{ text: 'Hello' }] }], turnComplete: false },
    {
      clientContent: {
        turns: [
          { role: 'user', parts: [{ text: 'Hi' }] },
          { role: 'model', parts: [{ text: 'Hello' }] },
        ],
        turnComplete: false,
      },
    },
  ],
  [
    'the end of a turn',
    { type: 'content', contents: [], turnComplete: true },
    { clientContent: { turnComplete: true } },
  ],
  [
    'another instruction and no tools',
    { type: 'update', instruction: 'Be brief.', tools: [] },
    { contextUpdate: { systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] }, tools: { tools: [] } } },
  ],
])('geminiLive() sends %s to the Gemini API and to Vertex AI', async (_, message, expected) => {
  for (const options of [{}, VERTEX]) {
    await using line = await openLine({ options })
    expect(line.local.send(message)).toBeUndefined()
    expect(await line.remote.next(Object.keys(expected)[0] as string)).toEqual(expected)
    expect(line.server.problems).toEqual([])
  }
})

test('other tools keep their behavior on the Gemini API and lose it on Vertex AI', async () => {
  const declaration = { name: 'look', description: 'Looks.', behavior: 'NON_BLOCKING' } as const
  const update = { type: 'update', tools: [{ functionDeclarations: [declaration] }] } as const
  for (const [options, expected] of [
    [{}, declaration],
    [VERTEX, { name: 'look', description: 'Looks.' }],
  ] as const) {
    await using line = await openLine({ options })
    line.local.send(update)
    expect(await line.remote.next('contextUpdate')).toEqual({
      contextUpdate: { tools: { tools: [{ functionDeclarations: [expected] }] } },
    })
    expect(line.server.problems).toEqual([])
  }
})

/** Sends a response to a call `c1` of `look` and returns what the server got. */
async function respond(response: FunctionResponse, how: Parameters<typeof openLine>[0] = {}): Promise<JsonObject[]> {
  await using line = await openLine(how)
  line.remote.call([{ id: 'c1', name: 'look' }])
  await line.read(1)
  line.local.send({ type: 'toolResponses', responses: [response] })
  await line.remote.next('toolResponse')
  expect(line.server.problems).toEqual([])
  return line.remote.received.slice(1)
}

const sent = (response: JsonObject): JsonObject => ({
  toolResponse: { functionResponses: [{ id: 'c1', name: 'look', ...response }] },
})

test('a tool response keeps willContinue and scheduling on the Gemini API only', async () => {
  const response = { id: 'c1', name: 'look', response: { a: 1 }, willContinue: true, scheduling: 'SILENT' } as const
  expect(await respond(response)).toEqual([sent({ response: { a: 1 }, willContinue: true, scheduling: 'SILENT' })])
  expect(await respond(response, { options: VERTEX })).toEqual([sent({ response: { a: 1 } })])
})

test('a tool response that is no object is wrapped', async () => {
  const response = { id: 'c1', name: 'look', response: 'sunny' as unknown as JsonObject }
  expect(await respond(response)).toEqual([sent({ response: { output: 'sunny' } })])
})

test('the model gets modelOutput instead of the response, without its media', async () => {
  const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }]
  const response = { id: 'c1', name: 'look', response: { secret: 1 }, modelOutput: { response: { ok: true } }, parts }
  expect(await respond(response)).toEqual([sent({ response: { ok: true } })])
})

test('an image of a tool response is sent in a video frame, or inside the response to Gemini 3', async () => {
  const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }]
  const response = { id: 'c1', name: 'look', response: {}, parts }
  expect(await respond(response)).toEqual([
    { realtimeInput: { video: { mimeType: 'image/png', bytes: 3 } } },
    sent({ response: {} }),
  ])
  expect(await respond(response, { name: 'gemini-3.1-flash-live-preview' })).toEqual([sent({ response: {}, parts })])
})

test('an empty list of tool responses is not sent', async () => {
  await using line = await openLine()
  line.local.send({ type: 'toolResponses', responses: [] })
  line.local.send({ type: 'text', text: 'next' })
  await line.remote.next('realtimeInput')
  expect(line.remote.received.map((message) => Object.keys(message)[0])).toEqual(['setup', 'realtimeInput'])
})

test('a user message for Gemini 3 is sent as realtime text, which it accepts in every turn', async () => {
  await using line = await openLine({ name: 'gemini-3.1-flash-live-preview' })
  line.local.send({ type: 'content', contents: [user('Hi', 'there')], turnComplete: true })
  expect(await line.remote.next('realtimeInput')).toEqual({ realtimeInput: { text: 'Hi\nthere' } })
})

test('audio and video with another mimeType are refused, and the connection stays open', async () => {
  await using line = await openLine()
  expect(() => line.local.send({ type: 'audio', data: bytes, mimeType: 'video/mp4' })).toThrow(
    'Gemini accepts live audio only with a mimeType that starts with "audio/", got "video/mp4".',
  )
  expect(() => line.local.send({ type: 'video', data: bytes, mimeType: 'video/mp4' })).toThrow('"image/"')
  line.local.send({ type: 'text', text: 'still here' })
  expect(await line.remote.next('realtimeInput')).toEqual({ realtimeInput: { text: 'still here' } })
})
