import { describe, expect, test } from 'vitest'
import { openPair } from './openai.test-kit.ts'

describe('a lost connection', () => {
  test('delivers what has arrived, and then throws the close code', async () => {
    await using pair = await openPair()
    pair.peer.say('Almost')
    pair.peer.close(1012, 'restart')
    await pair.peer.closed
    expect(await pair.until('text')).toEqual([{ type: 'text', text: 'Almost' }])
    await expect(pair.until('turnComplete')).rejects.toMatchObject({
      name: 'LiveConnectionError',
      recover: 'fresh',
      code: 1012,
      message: 'The connection to model "gpt-realtime" was closed with code 1012 (restart).',
    })
  })

  test('without a close frame throws, too', async () => {
    await using pair = await openPair()
    pair.peer.drop()
    await expect(pair.until('turnComplete')).rejects.toMatchObject({ recover: 'fresh', code: 1006 })
  })

  test('names the error that the provider reported before it closed', async () => {
    await using pair = await openPair()
    pair.peer.fail({ message: 'Your session hit the maximum duration of 60 minutes.', code: 'session_expired' })
    pair.peer.close(1001)
    expect(await pair.until('error')).toMatchObject([{ code: 'session_expired' }])
    await expect(pair.until('turnComplete')).rejects.toThrow(
      'closed with code 1001. The last error was: Your session hit the maximum duration of 60 minutes.',
    )
  })

  test('is not recoverable after the key was revoked', async () => {
    await using pair = await openPair()
    pair.peer.fail({ message: 'Incorrect API key provided.', code: 'invalid_api_key' })
    pair.peer.close(3000)
    await pair.until('error')
    await expect(pair.until('turnComplete')).rejects.toMatchObject({ recover: 'nothing', code: 3000 })
  })

  test('refuses messages', async () => {
    await using pair = await openPair()
    pair.peer.drop()
    await expect(pair.until('turnComplete')).rejects.toThrow()
    expect(() => pair.connection.send({ type: 'text', text: 'Hello?' })).toThrow(
      'The connection to model "gpt-realtime" is closed. Connect again to send messages.',
    )
  })
})

describe('a closed connection', () => {
  test('ends the iteration, refuses messages and may be closed again', async () => {
    await using pair = await openPair()
    const reading = pair.until('turnComplete').then(
      () => 'turnComplete',
      (error: Error) => error.message,
    )
    pair.connection.close()
    pair.connection.close()
    expect(await reading).toBe('The connection ended before a message of type turnComplete.')
    expect(() => pair.connection.send({ type: 'text', text: 'Hello?' })).toThrow('is closed')
    expect(await pair.peer.closed).toBe(1000)
  })

  test('can be iterated only once', async () => {
    await using pair = await openPair()
    pair.peer.say('Hi.')
    await pair.until('text')
    await expect(pair.connection[Symbol.asyncIterator]().next()).rejects.toThrow('can be iterated once')
  })
})

describe('an event that is malformed or unknown', () => {
  const odd = { toString: 1, valueOf: 1 }
  const frames: (string | Uint8Array | { [key: string]: unknown })[] = [
    'not JSON',
    '',
    '[]',
    'null',
    Uint8Array.of(0, 255),
    { type: odd },
    { type: 'toString' },
    { type: 'response.brand_new', anything: true },
    { type: 'rate_limits.updated', rate_limits: [] },
    { type: 'session.updated', session: 'x' },
    { type: 'response.created' },
    { type: 'response.done', response: null },
    { type: 'response.output_audio.delta', delta: '%%%' },
    { type: 'response.output_audio.delta', delta: 7 },
    { type: 'response.output_text.delta', item_id: odd, content_index: odd, delta: odd },
    { type: 'response.output_item.done', response_id: odd, item: { type: 'function_call', call_id: odd, name: odd } },
    { type: 'response.output_item.done', item: 'x' },
    { type: 'response.done', response: { id: odd, status: odd, output: [null, 'x'], usage: { input_tokens: 'x' } } },
    { type: 'conversation.item.added', item: null },
  ]

  test('never ends the session', async () => {
    await using pair = await openPair()
    for (const frame of frames) pair.peer.send(frame)
    pair.peer.say('Still here.')
    const messages = await pair.until('text')
    expect(messages.at(-1)).toEqual({ type: 'text', text: 'Still here.' })
    expect(messages.slice(0, -1).map(({ type }) => type)).toEqual(['generationComplete', 'turnComplete'])
  })

  test('of type error is reported without details', async () => {
    await using pair = await openPair()
    pair.peer.send({ type: 'error', error: odd })
    pair.peer.send({ type: 'error' })
    const nothing = { type: 'error', message: 'OpenAI reported an error without a message.' }
    expect([...(await pair.until('error')), ...(await pair.until('error'))]).toEqual([nothing, nothing])
  })

  test('in a binary frame is read like text', async () => {
    await using pair = await openPair()
    const event = { type: 'error', error: { message: 'In bytes.', type: 'server_error' } }
    pair.peer.send(new TextEncoder().encode(JSON.stringify(event)))
    expect(await pair.until('error')).toEqual([{ type: 'error', message: 'In bytes.', code: 'server_error' }])
  })
})

test('reports a failed transcription of the user', async () => {
  await using pair = await openPair()
  pair.peer.send({
    type: 'conversation.item.input_audio_transcription.failed',
    item_id: 'item_1',
    content_index: 0,
    error: { message: 'The audio is unintelligible.', code: 'audio_unintelligible' },
  })
  expect(await pair.until('error')).toEqual([
    {
      type: 'error',
      message: "The user's audio was not transcribed: The audio is unintelligible.",
      code: 'audio_unintelligible',
    },
  ])
})

test('ping() asks with an update that changes nothing, and settles when the provider answers', async () => {
  await using pair = await openPair()
  await pair.peer.next('session.update')
  const before = pair.peer.session
  await pair.connection.ping?.()
  expect(await pair.peer.next('session.update')).toMatchObject({ session: { type: 'realtime' } })
  expect([pair.server.problems, pair.peer.session]).toEqual([[], before])
})
