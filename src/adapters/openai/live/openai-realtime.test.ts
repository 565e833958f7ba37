import { expect, test } from 'vitest'
import { KEY, NO_TURN_DETECTION, openPair, sentTypes } from './openai.test-kit.ts'
import { openaiRealtime } from './openai-realtime.ts'

const weather = {
  functionDeclarations: [
    {
      name: 'get_weather',
      description: 'The weather of a city.',
      parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
    },
    { name: 'clock.now', description: 'The time.' },
  ],
}

test('connects with key, model, instruction, tools and settings', async () => {
  await using pair = await openPair({
    model: { headers: { 'x-team': 'blue' }, config: { audio: { output: { voice: 'marin' } }, max_output_tokens: 500 } },
    connect: { instruction: 'Be brief.', tools: [weather] },
  })
  expect(pair.peer.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-team': 'blue' })
  expect(pair.peer.query).toEqual({ model: 'gpt-realtime' })
  expect(pair.peer.received).toEqual([
    {
      type: 'session.update',
      session: {
        type: 'realtime',
        instructions: 'Be brief.',
        max_output_tokens: 500,
        audio: { input: { transcription: { model: 'gpt-transcribe' } }, output: { voice: 'marin' } },
        tools: [
          {
            type: 'function',
            name: 'get_weather',
            description: 'The weather of a city.',
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
          },
          {
            type: 'function',
            name: 'clock_now',
            description: 'The time.',
            parameters: { type: 'object', properties: {} },
          },
        ],
      },
    },
  ])
  expect(pair.server.problems).toEqual([])
})

test('a connection can ask for another modality than the settings', async () => {
  await using pair = await openPair({
    model: { config: { output_modalities: ['audio'] } },
    connect: { responseModality: 'text' },
  })
  expect(pair.peer.session).toMatchObject({ output_modalities: ['text'] })
})

test('turns input transcription off with null', async () => {
  await using pair = await openPair({ model: { config: { audio: { input: { transcription: null } } } } })
  expect(pair.peer.session).toMatchObject({ audio: { input: { transcription: null } } })
})

test('states that it supports updates, but no resumption and no non-blocking tools', () => {
  expect(openaiRealtime('gpt-realtime', { apiKey: KEY }).capabilities).toEqual({
    nonBlocking: false,
    updates: true,
    resumption: false,
  })
})

test('sends text and reads the reply of the model as text', async () => {
  await using pair = await openPair()
  pair.connection.send({ type: 'text', text: 'Hello.' })
  await pair.peer.next('response.create')
  pair.peer.say('Hi', ' there.')
  pair.peer.finish()
  expect(pair.peer.items[0]).toMatchObject({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'Hello.' }],
  })
  expect(await pair.until('turnComplete')).toEqual([
    { type: 'text', text: 'Hi' },
    { type: 'text', text: ' there.' },
    {
      type: 'usage',
      usageMetadata: {
        promptTokenCount: 20,
        candidatesTokenCount: 10,
        cachedContentTokenCount: 4,
        totalTokenCount: 30,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 12 },
          { modality: 'AUDIO', tokenCount: 8 },
        ],
        candidatesTokensDetails: [
          { modality: 'TEXT', tokenCount: 4 },
          { modality: 'AUDIO', tokenCount: 6 },
        ],
      },
    },
    { type: 'generationComplete' },
    { type: 'turnComplete' },
  ])
  expect(pair.server.problems).toEqual([])
})

test('sends audio and reads audio with both transcripts', async () => {
  await using pair = await openPair()
  pair.connection.send({ type: 'audio', data: Uint8Array.of(1, 2, 3, 4), mimeType: 'audio/pcm;rate=24000' })
  expect(await pair.peer.next('input_audio_buffer.append')).toEqual({
    type: 'input_audio_buffer.append',
    audio: 'AQIDBA==',
  })
  pair.peer.startSpeech()
  pair.peer.stopSpeech()
  pair.peer.hear('What ', 'time?')
  pair.peer.speak(Uint8Array.of(9, 8), 'No', 'on.')
  pair.peer.finish()
  expect((await pair.until('turnComplete')).filter(({ type }) => type !== 'usage')).toEqual([
    { type: 'activity', state: 'start' },
    { type: 'activity', state: 'end' },
    { type: 'inputTranscript', text: 'What ' },
    { type: 'inputTranscript', text: 'time?' },
    { type: 'inputTranscript', text: '', finished: true },
    { type: 'audio', data: Uint8Array.of(9, 8), mimeType: 'audio/pcm;rate=24000' },
    { type: 'outputTranscript', text: 'No' },
    { type: 'outputTranscript', text: 'on.' },
    { type: 'outputTranscript', text: '', finished: true },
    { type: 'generationComplete' },
    { type: 'turnComplete' },
  ])
  expect(pair.server.problems).toEqual([])
})

test('reads a transcript that arrives without deltas', async () => {
  await using pair = await openPair()
  const place = { item_id: 'item_9', content_index: 0 }
  pair.peer.send({
    type: 'conversation.item.input_audio_transcription.completed',
    ...place,
    transcript: 'Whole.',
    usage: { type: 'duration', seconds: 1 },
  })
  expect(await pair.until('inputTranscript')).toEqual([{ type: 'inputTranscript', text: 'Whole.', finished: true }])
})

test('names the audio format that the session reports', async () => {
  await using pair = await openPair({ model: { config: { audio: { output: { format: { type: 'audio/pcmu' } } } } } })
  pair.peer.speak(Uint8Array.of(1))
  expect(await pair.until('audio')).toEqual([{ type: 'audio', data: Uint8Array.of(1), mimeType: 'audio/pcmu' }])
})

test('sends a video frame as an image, without asking for a reply', async () => {
  await using pair = await openPair()
  pair.connection.send({ type: 'video', data: Uint8Array.of(255, 216), mimeType: 'image/jpeg' })
  const { item } = await pair.peer.next('conversation.item.create')
  expect(item).toMatchObject({
    role: 'user',
    content: [{ type: 'input_image', image_url: 'data:image/jpeg;base64,/9g=' }],
  })
  pair.connection.send({ type: 'text', text: 'What is it?' })
  await pair.peer.next('response.create')
  expect(sentTypes(pair.peer)).toEqual(['conversation.item.create', 'conversation.item.create', 'response.create'])
  expect(pair.server.problems).toEqual([])
})

test('reports what OpenAI cannot use once, and says what to do', async () => {
  await using pair = await openPair()
  const video = { type: 'video', data: Uint8Array.of(1), mimeType: 'video/mp4' } as const
  const audio = { type: 'audio', data: Uint8Array.of(1), mimeType: 'audio/wav' } as const
  const update = { type: 'update', tools: [{ googleSearch: {} }] } as const
  for (const message of [video, audio, update, video, audio]) expect(pair.connection.send(message)).toBeUndefined()
  pair.peer.say('Hi.')
  expect(await pair.until('text')).toEqual([
    {
      type: 'error',
      message: 'OpenAI Realtime cannot read video of type "video/mp4". Send frames as image/jpeg or image/png.',
      code: 'INVALID_REQUEST',
    },
    {
      type: 'error',
      message:
        'OpenAI Realtime cannot read audio of type "audio/wav": the session takes audio/pcm. Convert the audio, or set config.audio.input.format.',
      code: 'INVALID_REQUEST',
    },
    {
      type: 'error',
      message: 'OpenAI Realtime cannot run the server tool "googleSearch". Remove the tool, or use a function.',
      code: 'INVALID_CONFIG',
    },
    { type: 'text', text: 'Hi.' },
  ])
  expect(sentTypes(pair.peer)).toEqual([])
})

test('changes instruction and tools of a running session', async () => {
  await using pair = await openPair({ connect: { instruction: 'First.', tools: [weather] } })
  pair.connection.send({ type: 'update', instruction: 'Second.' })
  pair.connection.send({ type: 'update', tools: [] })
  await pair.peer.next('session.update')
  await pair.peer.next('session.update')
  expect(await pair.peer.next('session.update')).toEqual({
    type: 'session.update',
    session: { type: 'realtime', tools: [] },
  })
  expect(pair.peer.received[1]).toEqual({
    type: 'session.update',
    session: { type: 'realtime', instructions: 'Second.' },
  })
  expect(pair.peer.session).toMatchObject({ instructions: 'Second.', tools: [] })
  expect(pair.server.problems).toEqual([])
})

test('commits the audio of a push-to-talk turn and asks for a reply', async () => {
  await using pair = await openPair({ model: NO_TURN_DETECTION })
  const audio = { type: 'audio', data: Uint8Array.of(1, 2), mimeType: 'audio/pcm' } as const
  pair.connection.send(audio) // noise before the turn
  pair.connection.send({ type: 'activity', state: 'start' })
  pair.connection.send(audio)
  pair.connection.send({ type: 'activity', state: 'end' })
  await pair.peer.next('response.create')
  expect(sentTypes(pair.peer)).toEqual([
    'input_audio_buffer.append',
    'input_audio_buffer.clear',
    'input_audio_buffer.append',
    'input_audio_buffer.commit',
    'response.create',
  ])
  expect(pair.server.problems).toEqual([])
})

test('sends nothing for a push-to-talk turn without audio', async () => {
  await using pair = await openPair({ model: NO_TURN_DETECTION })
  pair.connection.send({ type: 'activity', state: 'start' })
  pair.connection.send({ type: 'activity', state: 'end' })
  pair.connection.send({ type: 'text', text: 'Hello.' })
  await pair.peer.next('response.create')
  expect(sentTypes(pair.peer)).toEqual(['conversation.item.create', 'response.create'])
})

test('leaves the turns to the provider if it detects them', async () => {
  await using pair = await openPair()
  pair.connection.send({ type: 'audio', data: Uint8Array.of(1, 2), mimeType: 'audio/pcm' })
  pair.connection.send({ type: 'activity', state: 'end' })
  pair.connection.send({ type: 'text', text: 'Hello.' })
  await pair.peer.next('response.create')
  expect(sentTypes(pair.peer)).toEqual(['input_audio_buffer.append', 'conversation.item.create', 'response.create'])
})
