import { expect, test } from 'vitest'
import { openPair, result, sentTypes } from './openai.test-kit.ts'

const asked = { type: 'text', text: 'Go.' } as const

test('reads a tool call, sends its output and continues the turn', async () => {
  await using pair = await openPair()
  pair.connection.send(asked)
  await pair.peer.next('response.create')
  const id = pair.peer.call('get_weather', { args: { city: 'Oslo' } })
  pair.peer.finish()
  const messages = await pair.until('generationComplete')
  expect(messages.filter(({ type }) => type !== 'usage')).toEqual([
    { type: 'toolCall', calls: [{ id, name: 'get_weather', args: { city: 'Oslo' } }] },
    { type: 'generationComplete' },
  ])
  pair.connection.send({ type: 'toolResponses', responses: [{ id, name: 'get_weather', response: { degrees: 3 } }] })
  await pair.peer.next('response.create')
  expect(pair.peer.items.at(-1)).toMatchObject({
    type: 'function_call_output',
    call_id: id,
    output: '{"degrees":3}',
  })
  pair.peer.say('Cold.')
  pair.peer.finish()
  // the first turnComplete of the connection: none followed the tool call
  expect((await pair.until('turnComplete'))[0]).toEqual({ type: 'text', text: 'Cold.' })
  expect(pair.server.problems).toEqual([])
})

test('delivers a tool call before the response is done', async () => {
  await using pair = await openPair()
  pair.connection.send(asked)
  await pair.peer.next('response.create')
  pair.peer.call('slow_tool')
  expect(await pair.until('toolCall')).toMatchObject([{ calls: [{ name: 'slow_tool', args: {} }] }])
})

test('asks for a reply once, after the last of several outputs', async () => {
  await using pair = await openPair()
  pair.connection.send(asked)
  await pair.peer.next('response.create')
  const [a, b, c] = [pair.peer.call('one'), pair.peer.call('two'), pair.peer.call('three')]
  pair.peer.finish()
  await pair.until('generationComplete')
  pair.connection.send({ type: 'toolResponses', responses: [result(b, 'two')] })
  pair.connection.send({ type: 'toolResponses', responses: [result(c, 'three'), result(a, 'one')] })
  await pair.peer.next('response.create')
  expect(sentTypes(pair.peer).slice(2)).toEqual([
    'conversation.item.create',
    'conversation.item.create',
    'conversation.item.create',
    'response.create',
  ])
  expect(pair.server.problems).toEqual([])
})

test('asks for no reply to an early output while the response still makes calls', async () => {
  await using pair = await openPair()
  pair.connection.send(asked)
  await pair.peer.next('response.create')
  const first = pair.peer.call('one')
  await pair.until('toolCall')
  pair.connection.send({ type: 'toolResponses', responses: [result(first, 'one')] })
  await pair.peer.next('conversation.item.create')
  await pair.peer.next('conversation.item.create')
  const second = pair.peer.call('two')
  pair.peer.finish()
  await pair.until('generationComplete')
  pair.connection.send({ type: 'toolResponses', responses: [result(second, 'two')] })
  await pair.peer.next('response.create')
  expect(sentTypes(pair.peer).slice(2)).toEqual([
    'conversation.item.create',
    'conversation.item.create',
    'response.create',
  ])
  expect(pair.server.problems).toEqual([])
})

test('asks for a reply when the response ends, if its outputs were sent before', async () => {
  await using pair = await openPair()
  pair.connection.send(asked)
  await pair.peer.next('response.create')
  const id = pair.peer.call('fast_tool')
  await pair.until('toolCall')
  pair.connection.send({ type: 'toolResponses', responses: [result(id, 'fast_tool')] })
  await pair.peer.next('conversation.item.create')
  await pair.peer.next('conversation.item.create')
  pair.peer.finish()
  await pair.peer.next('response.create')
  expect(pair.server.problems).toEqual([])
})

test('finds a call that only the end of the response contains', async () => {
  await using pair = await openPair()
  pair.peer.send({ type: 'response.created', response: { id: 'resp_x', status: 'in_progress' } })
  const calls = ['call_a', 'call_b'].map((call_id) => ({
    type: 'function_call',
    call_id,
    name: 'find',
    arguments: '{}',
  }))
  pair.peer.send({ type: 'response.output_item.done', response_id: 'resp_x', item: calls[0] })
  pair.peer.send({ type: 'response.done', response: { id: 'resp_x', status: 'completed', output: calls } })
  expect(await pair.until('generationComplete')).toEqual([
    { type: 'toolCall', calls: [{ id: 'call_a', name: 'find', args: {} }] },
    { type: 'toolCall', calls: [{ id: 'call_b', name: 'find', args: {} }] },
    { type: 'generationComplete' },
  ])
})

test('drops a call that was cut off', async () => {
  await using pair = await openPair()
  pair.connection.send(asked)
  await pair.peer.next('response.create')
  pair.peer.call('refund', { args: '{"amount": 1', status: 'incomplete' })
  pair.peer.finish({ status: 'incomplete', reason: 'max_output_tokens' })
  const messages = await pair.until('turnComplete')
  expect(messages.map(({ type }) => type)).toEqual(['usage', 'error', 'generationComplete', 'turnComplete'])
  expect(messages[1]).toEqual({
    type: 'error',
    message: 'The reply of the model is incomplete: max_output_tokens.',
    code: 'max_output_tokens',
  })
})

test('passes arguments that are not JSON on as text, which dispatch rejects', async () => {
  await using pair = await openPair()
  pair.peer.call('find', { args: '{"city": ' })
  expect(await pair.until('toolCall')).toMatchObject([{ calls: [{ name: 'find', args: '{"city": ' }] }])
})

test('sends an acknowledgement as output and the later result as a system message', async () => {
  await using pair = await openPair()
  pair.connection.send(asked)
  await pair.peer.next('response.create')
  const id = pair.peer.call('research')
  pair.peer.finish()
  await pair.until('generationComplete')
  const running = { id, name: 'research', response: { status: 'running' }, willContinue: true }
  pair.connection.send({ type: 'toolResponses', responses: [running] })
  await pair.peer.next('response.create')
  expect(pair.peer.items.at(-1)).toMatchObject({ call_id: id, output: '{"status":"running"}' })
  pair.peer.say('One moment.')
  pair.peer.finish()
  await pair.until('turnComplete')
  const progress = { ...running, response: { percent: 50 } }
  pair.connection.send({ type: 'toolResponses', responses: [progress] })
  pair.connection.send({ type: 'toolResponses', responses: [{ id, name: 'research', response: { found: 7 } }] })
  await pair.peer.next('response.create')
  expect(pair.peer.items.slice(-2)).toMatchObject([
    { role: 'system', content: [{ text: 'Progress of the earlier call of research: {"percent":50}' }] },
    { role: 'system', content: [{ text: 'Result of the earlier call of research: {"found":7}' }] },
  ])
  expect(sentTypes(pair.peer).filter((type) => type === 'response.create')).toHaveLength(3)
  expect(pair.server.problems).toEqual([])
})

test('sends a silent late result without asking for a reply', async () => {
  await using pair = await openPair()
  pair.connection.send({ type: 'toolResponses', responses: [result('gone', 'note', { scheduling: 'SILENT' })] })
  pair.connection.send({ type: 'video', data: Uint8Array.of(1), mimeType: 'image/png' })
  await pair.peer.next('conversation.item.create')
  await pair.peer.next('conversation.item.create')
  expect(sentTypes(pair.peer)).toEqual(['conversation.item.create', 'conversation.item.create'])
  expect(pair.server.problems).toEqual([])
})

test('stops the reply of the model for a late result that interrupts', async () => {
  await using pair = await openPair()
  pair.connection.send(asked)
  await pair.peer.next('response.create')
  pair.peer.say('Long story')
  await pair.until('text')
  pair.connection.send({ type: 'toolResponses', responses: [result('gone', 'alarm', { scheduling: 'INTERRUPT' })] })
  await pair.peer.next('response.cancel')
  await pair.peer.next('response.create')
  expect((await pair.until('turnComplete')).map(({ type }) => type)).toEqual(['usage', 'interrupted', 'turnComplete'])
  expect(pair.server.problems).toEqual([])
})

test('shows the model the output that the tool made for it, and images of the result', async () => {
  await using pair = await openPair()
  const id = pair.peer.call('draw')
  pair.peer.finish()
  await pair.until('generationComplete')
  const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
  const shown = { modelOutput: { response: { short: true }, showsMedia: true }, parts: [image] }
  pair.connection.send({ type: 'toolResponses', responses: [result(id, 'draw', shown)] })
  await pair.peer.next('response.create')
  expect(pair.peer.items.slice(-2)).toMatchObject([
    { type: 'function_call_output', output: '{"short":true}' },
    { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] },
  ])
  expect(pair.server.problems).toEqual([])
})

test('calls tools by their own names, although OpenAI does not accept all of them', async () => {
  const tools = [{ functionDeclarations: ['a.b', 'a_b', 'x'.repeat(80)].map((name) => ({ name, description: name })) }]
  await using pair = await openPair({ connect: { tools } })
  const names = (pair.peer.session.tools as { name: string }[]).map(({ name }) => name)
  expect(names).toEqual(['a_b', 'a_b_2', 'x'.repeat(64)])
  for (const name of names) pair.peer.call(name)
  pair.peer.finish()
  const messages = await pair.until('generationComplete')
  const called = messages.flatMap((message) => (message.type === 'toolCall' ? message.calls : []))
  expect(called.map(({ name }) => name)).toEqual(['a.b', 'a_b', 'x'.repeat(80)])
  expect(pair.server.problems).toEqual([])
})
