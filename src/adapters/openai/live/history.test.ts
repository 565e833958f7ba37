import { expect, test } from 'vitest'
import type { Content } from '../../../core/content/content.ts'
import { openPair, result, sentTypes } from './openai.test-kit.ts'

const history: Content[] = [
  { role: 'user', parts: [{ text: 'Weather?' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
  {
    role: 'model',
    parts: [
      { text: 'Hm.', thought: true },
      { text: 'I look it up.' },
      { functionCall: { id: 'call-1', name: 'get_weather', args: { city: 'Oslo' } } },
      { functionCall: { id: 'call-2', name: 'get_time', args: {} } },
    ],
  },
  { role: 'tool', parts: [{ functionResponse: { id: 'call-1', name: 'get_weather', response: { degrees: 3 } } }] },
  { role: 'model', parts: [{ text: 'Cold.' }] },
]

test('sends the history of a conversation as items, without asking for a reply', async () => {
  await using pair = await openPair()
  pair.connection.send({ type: 'content', contents: history, turnComplete: false })
  for (let at = 0; at < 6; at++) await pair.peer.next('conversation.item.create')
  expect(pair.peer.items).toMatchObject([
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Weather?' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      ],
    },
    { role: 'assistant', content: [{ type: 'output_text', text: 'I look it up.' }] },
    { type: 'function_call', call_id: 'call-1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
    { type: 'function_call', call_id: 'call-2', name: 'get_time', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call-1', output: '{"degrees":3}' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'Cold.' }] },
  ])
  expect(sentTypes(pair.peer)).not.toContain('response.create')
  expect(pair.server.problems).toEqual([])
})

test('asks for a reply to contents that complete the turn', async () => {
  await using pair = await openPair()
  pair.connection.send({ type: 'content', contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }], turnComplete: true })
  await pair.peer.next('response.create')
  expect(sentTypes(pair.peer)).toEqual(['conversation.item.create', 'response.create'])
})

test('takes the output of a call that the history left open, and asks for a reply', async () => {
  await using pair = await openPair()
  pair.connection.send({ type: 'content', contents: history, turnComplete: false })
  pair.connection.send({ type: 'toolResponses', responses: [result('call-2', 'get_time')] })
  await pair.peer.next('response.create')
  expect(pair.peer.items.at(-1)).toMatchObject({ type: 'function_call_output', call_id: 'call-2' })
  expect(pair.server.problems).toEqual([])
})

test('sends the result of a call of a lost conversation as a system message', async () => {
  await using pair = await openPair()
  pair.connection.send({ type: 'toolResponses', responses: [result('call-of-old', 'research')] })
  await pair.peer.next('response.create')
  expect(pair.peer.items).toMatchObject([
    {
      role: 'system',
      content: [{ text: 'Result of the earlier call of research: {"output":"result of call-of-old"}' }],
    },
  ])
  expect(pair.server.problems).toEqual([])
})

test('sends calls without ids, with long ids and with repeated ids so that OpenAI accepts them', async () => {
  await using pair = await openPair()
  const long = 'adk-'.padEnd(60, 'x')
  const contents: Content[] = [
    {
      role: 'model',
      parts: [
        { functionCall: { name: 'one', args: {} } },
        { functionCall: { id: long, name: 'two', args: {} } },
        { functionCall: { id: 'same', name: 'three', args: {} } },
        { functionCall: { id: 'same', name: 'three', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'one', response: { ok: 1 } } },
        { functionResponse: { id: long, name: 'two', response: { ok: 2 } } },
        { functionResponse: { id: 'same', name: 'three', response: { ok: 3 } } },
      ],
    },
  ]
  pair.connection.send({ type: 'content', contents, turnComplete: true })
  await pair.peer.next('response.create')
  const calls = pair.peer.items.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id)
  const outputs = pair.peer.items.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => call_id)
  expect(new Set(calls).size).toBe(4)
  expect(outputs).toEqual(calls.slice(0, 3))
  expect(pair.server.problems).toEqual([])
})

test('describes files and code that OpenAI Realtime cannot read', async () => {
  await using pair = await openPair()
  const contents: Content[] = [
    { role: 'user', parts: [{ inlineData: { mimeType: 'application/pdf', data: 'AAAA', displayName: 'a.pdf' } }] },
    { role: 'user', parts: [{ fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/film' } }] },
    { role: 'user', parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: 'AAAA' } }] },
    { role: 'model', parts: [{ inlineData: { mimeType: 'audio/pcm', data: 'AAAA' } }, { text: 'Words.' }] },
    { role: 'model', parts: [{ executableCode: { language: 'PYTHON', code: 'print(1)' } }] },
  ]
  pair.connection.send({ type: 'content', contents, turnComplete: true })
  await pair.peer.next('response.create')
  expect(pair.peer.items.map(({ content }) => content)).toEqual([
    [{ type: 'input_text', text: '[file "a.pdf": application/pdf]' }],
    [{ type: 'input_text', text: '[file: video/mp4]' }],
    [{ type: 'input_audio', audio: 'AAAA' }],
    [{ type: 'output_text', text: 'Words.' }],
    [{ type: 'output_text', text: '```python\nprint(1)\n```' }],
  ])
  expect(pair.server.problems).toEqual([])
})
