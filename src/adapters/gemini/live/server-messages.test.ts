import { expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import type { LiveServerMessage } from '../../../engine/model/live-model.ts'
import { openLine, VERTEX } from './live.test-kit.ts'
import { readServerMessage } from './server-messages.ts'

const AUDIO = new Uint8Array([0, 1, 127, 128, 254, 255, 7])
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

const MESSAGES: [string, JsonObject, LiveServerMessage[]][] = [
  ['text', { serverContent: { modelTurn: { parts: [{ text: 'Hi' }] } } }, [{ type: 'text', text: 'Hi' }]],
  [
    'a thought',
    { serverContent: { modelTurn: { parts: [{ text: 'Hm', thought: true }] } } },
    [{ type: 'text', text: 'Hm', thought: true }],
  ],
  [
    'audio',
    {
      serverContent: {
        modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: base64(AUDIO) } }] },
      },
    },
    [{ type: 'audio', data: AUDIO, mimeType: 'audio/pcm;rate=24000' }],
  ],
  [
    'code and its result',
    {
      serverContent: {
        modelTurn: {
          parts: [
            { executableCode: { language: 'PYTHON', code: '1+1' } },
            { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } },
          ],
        },
      },
    },
    [
      { type: 'part', part: { executableCode: { language: 'PYTHON', code: '1+1' } } },
      { type: 'part', part: { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } } },
    ],
  ],
  [
    'an image',
    { serverContent: { modelTurn: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } } },
    [{ type: 'part', part: { inlineData: { mimeType: 'image/png', data: 'AAAA' } } }],
  ],
  [
    'a transcript of the user',
    { serverContent: { inputTranscription: { text: 'Hel' } } },
    [{ type: 'inputTranscript', text: 'Hel' }],
  ],
  [
    'the end of a transcript without text',
    { serverContent: { outputTranscription: { finished: true } } },
    [{ type: 'outputTranscript', text: '', finished: true }],
  ],
  [
    'a tool call',
    { toolCall: { functionCalls: [{ id: 'c1', name: 'look', args: { at: 1 } }] } },
    [{ type: 'toolCall', calls: [{ id: 'c1', name: 'look', args: { at: 1 } }] }],
  ],
  [
    'a tool call without arguments',
    { toolCall: { functionCalls: [{ id: 'c1', name: 'look' }] } },
    [{ type: 'toolCall', calls: [{ id: 'c1', name: 'look', args: {} }] }],
  ],
  ['cancelled calls', { toolCallCancellation: { ids: ['c1', 'c2'] } }, [{ type: 'toolCancelled', ids: ['c1', 'c2'] }]],
  ['the end of generation', { serverContent: { generationComplete: true } }, [{ type: 'generationComplete' }]],
  ['the end of a turn', { serverContent: { turnComplete: true } }, [{ type: 'turnComplete' }]],
  [
    'a turn that ended early',
    { serverContent: { turnComplete: true, turnCompleteReason: 'MALFORMED_FUNCTION_CALL' } },
    [
      {
        type: 'error',
        message: 'Gemini ended its turn early: MALFORMED_FUNCTION_CALL.',
        code: 'MALFORMED_FUNCTION_CALL',
      },
      { type: 'turnComplete' },
    ],
  ],
  ['an interruption', { serverContent: { interrupted: true } }, [{ type: 'interrupted' }]],
  [
    'grounding',
    { serverContent: { groundingMetadata: { webSearchQueries: ['x'] } } },
    [{ type: 'grounding', groundingMetadata: { webSearchQueries: ['x'] } }],
  ],
  [
    'a handle',
    { sessionResumptionUpdate: { newHandle: 'h1', resumable: true } },
    [{ type: 'resumption', handle: 'h1' }],
  ],
  [
    'a state that cannot be resumed',
    { sessionResumptionUpdate: { newHandle: 'h1', resumable: false } },
    [{ type: 'resumption', handle: undefined }],
  ],
  [
    'an empty handle',
    { sessionResumptionUpdate: { newHandle: '', resumable: true } },
    [{ type: 'resumption', handle: undefined }],
  ],
  ['a deadline', { goAway: { timeLeft: '9.5s' } }, [{ type: 'goAway', timeLeftMs: 9_500 }]],
  ['a deadline without a time', { goAway: {} }, [{ type: 'goAway', timeLeftMs: 0 }]],
  ['speech', { voiceActivity: { voiceActivityType: 'ACTIVITY_START' } }, [{ type: 'activity', state: 'start' }]],
  ['the end of speech', { voiceActivity: { type: 'VOICE_ACTIVITY_END' } }, [{ type: 'activity', state: 'end' }]],
  [
    'a speech signal',
    { voiceActivityDetectionSignal: { vadSignalType: 'VAD_SIGNAL_TYPE_SOS' } },
    [{ type: 'activity', state: 'start' }],
  ],
  [
    'an error',
    { error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED' } },
    [{ type: 'error', message: 'Slow down.', code: 'RESOURCE_EXHAUSTED' }],
  ],
]

test.each(MESSAGES)('geminiLive() delivers %s', async (_, sent, expected) => {
  await using line = await openLine()
  line.remote.send(sent)
  line.remote.send({ serverContent: { interrupted: true } })
  expect(await line.read(expected.length + 1)).toEqual([...expected, { type: 'interrupted' }])
})

test.each(MESSAGES)('geminiLive() delivers %s of Vertex AI in a binary frame', async (_, sent, expected) => {
  await using line = await openLine({ options: VERTEX })
  line.remote.send(new TextEncoder().encode(JSON.stringify(sent)))
  line.remote.send({ serverContent: { interrupted: true } })
  expect(await line.read(expected.length + 1)).toEqual([...expected, { type: 'interrupted' }])
})

test('every key of one message is delivered, and the end of the turn comes last', async () => {
  await using line = await openLine()
  line.remote.send({
    serverContent: {
      turnComplete: true,
      generationComplete: true,
      outputTranscription: { text: 'Hello' },
      modelTurn: { parts: [{ text: 'a' }, { inlineData: { mimeType: 'audio/pcm', data: base64(AUDIO) } }] },
      inputTranscription: { text: 'Hi', finished: true },
      interrupted: true,
    },
    toolCallCancellation: { ids: ['c0'] },
    toolCall: { functionCalls: [{ id: 'c1', name: 'look', args: { toolCallCancellation: 1 } }] },
    usageMetadata: { promptTokenCount: 3, responseTokenCount: 4 },
    sessionResumptionUpdate: { newHandle: 'h2', resumable: true },
    goAway: { timeLeft: '10s' },
  })
  const messages = await line.read(12)
  expect(messages.map(({ type }) => type)).toEqual([
    'interrupted',
    'inputTranscript',
    'text',
    'audio',
    'outputTranscript',
    'toolCall',
    'toolCancelled',
    'generationComplete',
    'usage',
    'turnComplete',
    'resumption',
    'goAway',
  ])
  expect(messages[8]).toMatchObject({ usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 } })
})

test('a call without an id gets an id that is not sent back', async () => {
  await using line = await openLine({ options: { ports: { newId: () => 'made' } } })
  line.remote.call([{ name: 'look' }])
  expect(await line.read(1)).toEqual([{ type: 'toolCall', calls: [{ id: 'adk-made', name: 'look', args: {} }] }])
  line.local.send({
    type: 'toolResponses',
    responses: [{ id: 'adk-made', name: 'look', response: { output: 'nothing' } }],
  })
  expect(await line.remote.next('toolResponse')).toEqual({
    toolResponse: { functionResponses: [{ name: 'look', response: { output: 'nothing' } }] },
  })
})

test.each<[string, JsonObject]>([
  ['unknown keys', { weather: { sun: true }, serverContent: { waitingForInput: true, modelTurn: { parts: [] } } }],
  ['parts of other shapes', { serverContent: { modelTurn: { parts: [null, 1, 'x', {}, { text: '' }, { a: null }] } } }],
  ['lists instead of objects', { serverContent: [], toolCall: [], goAway: [], usageMetadata: [] }],
  ['texts instead of objects', { serverContent: 'x', toolCall: 'x', toolCallCancellation: 'x', error: 'x' }],
  ['calls that are no objects', { toolCall: { functionCalls: [null, 1] }, toolCallCancellation: { ids: [1] } }],
  ['an unknown activity', { voiceActivity: { voiceActivityType: 'TYPE_UNSPECIFIED' } }],
])('%s in a message are ignored', (_, message) => {
  expect(readServerMessage(message, { newId: () => 'id' })).toEqual([])
})
