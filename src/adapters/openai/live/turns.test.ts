import { expect, test } from 'vitest'
import { NO_TURN_DETECTION, openPair, result, sentTypes } from './openai.test-kit.ts'

const text = (words: string) => ({ type: 'text', text: words }) as const

test('queues the request for a reply while the model is replying', async () => {
  await using pair = await openPair()
  pair.connection.send(text('One.'))
  await pair.peer.next('response.create')
  pair.peer.say('First')
  await pair.until('text')
  pair.connection.send(text('Two.'))
  pair.connection.send(text('Three.'))
  for (let at = 0; at < 3; at++) await pair.peer.next('conversation.item.create')
  expect(sentTypes(pair.peer).at(-1)).toBe('conversation.item.create')
  pair.peer.finish()
  await pair.peer.next('response.create')
  expect(sentTypes(pair.peer).filter((type) => type === 'response.create')).toHaveLength(2)
  expect(pair.server.problems).toEqual([])
})

test('reports an interruption once, and drops audio of the interrupted reply that still arrives', async () => {
  await using pair = await openPair()
  pair.connection.send(text('Tell a story.'))
  await pair.peer.next('response.create')
  pair.peer.speak(Uint8Array.of(1, 1), 'Once')
  await pair.until('audio')
  pair.peer.send({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: 'item_u' })
  pair.peer.speak(Uint8Array.of(2, 2), ' upon')
  pair.peer.finish({ status: 'cancelled', reason: 'turn_detected' })
  const messages = await pair.until('turnComplete')
  expect(messages.filter(({ type }) => type !== 'usage')).toEqual([
    { type: 'outputTranscript', text: 'Once' },
    { type: 'outputTranscript', text: '', finished: true },
    { type: 'activity', state: 'start' },
    { type: 'interrupted' },
    { type: 'outputTranscript', text: '', finished: true },
    { type: 'turnComplete' },
  ])
})

test('delivers the reply that follows an interruption', async () => {
  await using pair = await openPair()
  pair.peer.say('Old')
  pair.peer.startSpeech()
  pair.peer.stopSpeech()
  pair.peer.say('New')
  pair.peer.finish()
  await pair.until('turnComplete')
  expect((await pair.until('turnComplete')).filter(({ type }) => type === 'text')).toEqual([
    { type: 'text', text: 'New' },
  ])
})

test('reports speech without an interruption if no reply is being generated', async () => {
  await using pair = await openPair()
  pair.peer.startSpeech()
  pair.peer.send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: 1, item_id: 'item_u' })
  const [start, end] = [...(await pair.until('activity')), ...(await pair.until('activity'))]
  expect([start, end]).toEqual([
    { type: 'activity', state: 'start' },
    { type: 'activity', state: 'end' },
  ])
})

test('reports no interruption if speech does not stop the reply', async () => {
  const turn_detection = { type: 'server_vad', interrupt_response: false }
  await using pair = await openPair({ model: { config: { audio: { input: { turn_detection } } } } })
  pair.peer.say('One')
  pair.peer.startSpeech()
  pair.peer.finish()
  const types = (await pair.until('turnComplete')).map(({ type }) => type)
  expect(types).toEqual(['text', 'activity', 'usage', 'generationComplete', 'turnComplete'])
})

test('stops the reply when a push-to-talk turn starts', async () => {
  await using pair = await openPair({ model: NO_TURN_DETECTION })
  pair.connection.send(text('Tell a story.'))
  await pair.peer.next('response.create')
  pair.peer.say('Once')
  await pair.until('text')
  pair.connection.send({ type: 'activity', state: 'start' })
  await pair.peer.next('response.cancel')
  expect((await pair.until('turnComplete')).map(({ type }) => type)).toEqual(['usage', 'interrupted', 'turnComplete'])
  expect(pair.server.problems).toEqual([])
})

test('lets the reply to the user cover tool outputs that arrive while the user speaks', async () => {
  await using pair = await openPair()
  const id = pair.peer.call('find')
  pair.peer.finish()
  await pair.until('generationComplete')
  pair.peer.startSpeech()
  await pair.until('activity')
  pair.connection.send({ type: 'toolResponses', responses: [result(id, 'find')] })
  await pair.peer.next('conversation.item.create')
  pair.peer.stopSpeech()
  pair.peer.say('Found it.')
  pair.peer.finish()
  await pair.until('turnComplete')
  pair.connection.send({ type: 'video', data: Uint8Array.of(1), mimeType: 'image/png' })
  await pair.peer.next('conversation.item.create')
  expect(sentTypes(pair.peer)).toEqual(['conversation.item.create', 'conversation.item.create'])
  expect(pair.server.problems).toEqual([])
})

test('asks again after a reply that the provider started at the same time', async () => {
  await using pair = await openPair()
  pair.peer.say('By myself') // the client asks before it knows of this reply
  pair.connection.send(text('Hello.'))
  await pair.peer.next('response.create')
  pair.peer.finish()
  const first = await pair.until('turnComplete')
  expect(first.map(({ type }) => type)).not.toContain('error')
  await pair.peer.next('response.create')
  pair.peer.say('Hello to you.')
  expect(await pair.until('text')).toEqual([{ type: 'text', text: 'Hello to you.' }])
})

test('asks for the reply to a text that failed speech recognition has delayed', async () => {
  await using pair = await openPair()
  pair.peer.startSpeech()
  await pair.until('activity')
  pair.connection.send(text('Hello.'))
  await pair.peer.next('conversation.item.create')
  pair.peer.fail({ message: 'Speech was not understood.', code: 'server_error' })
  await pair.peer.next('response.create')
  expect(await pair.until('error')).toEqual([
    { type: 'error', message: 'Speech was not understood.', code: 'server_error' },
  ])
})

test('reports a failed response and completes the turn', async () => {
  await using pair = await openPair()
  pair.connection.send(text('Hello.'))
  await pair.peer.next('response.create')
  pair.peer.finish({ status: 'failed', error: { message: 'Overloaded.', code: 'rate_limit_exceeded' } })
  const messages = await pair.until('turnComplete')
  expect(messages.slice(-2)).toEqual([
    { type: 'error', message: 'Overloaded.', code: 'rate_limit_exceeded' },
    { type: 'turnComplete' },
  ])
  pair.connection.send(text('Again.'))
  await pair.peer.next('response.create')
  expect(pair.server.problems).toEqual([])
})
