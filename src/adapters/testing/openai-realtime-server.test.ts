import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { JsonObject } from '../../core/base/json.ts'
import { Arrivals } from './arrivals.ts'
import type { OpenAiRealtimeServerOptions } from './openai-realtime-connection.ts'
import { openaiRealtimeServer } from './openai-realtime-server.ts'

const headers = { authorization: 'Bearer sk-test' }

/** A client without any knowledge of the API. */
async function openRaw(options: OpenAiRealtimeServerOptions = {}, path = '/?model=gpt-realtime') {
  const server = await openaiRealtimeServer(options)
  const socket = new WebSocket(server.url + path, { headers })
  const events = new Arrivals<JsonObject>()
  socket.on('message', (data) => events.add(JSON.parse(String(data))))
  const peer = await server.nextConnection()
  return {
    server,
    socket,
    peer,
    send: (event: unknown): void => socket.send(typeof event === 'string' ? event : JSON.stringify(event)),
    /** Reads events up to the first one of a type. */
    async until(type: string): Promise<JsonObject[]> {
      const read: JsonObject[] = []
      for (;;) {
        const event = await events.next()
        read.push(event)
        if (event.type === type) return read
      }
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

const opened = async (options?: OpenAiRealtimeServerOptions) => {
  const raw = await openRaw(options)
  await raw.until('session.created')
  return raw
}

const user = (content: unknown[]) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content },
})
const session = (members: object) => ({ type: 'session.update', session: { type: 'realtime', ...members } })

describe('the events of a client', () => {
  test.each<[string, unknown]>([
    ['A frame is not a JSON object', 'no JSON'],
    ['An event must be an object with a type', {}],
    ['Event "response.make" is unknown', { type: 'response.make' }],
    ['session.update.session is missing', { type: 'session.update' }],
    ['session.update.session.voice is unknown', session({ voice: 'marin' })],
    [
      'session.update.session.output_modalities must be ["text"] or ["audio"]',
      session({ output_modalities: ['text', 'audio'] }),
    ],
    [
      'session.update.session.tools[0].name must be a string like /^[\\w-]{1,64}$/, got a string',
      session({ tools: [{ type: 'function', name: 'a.b' }] }),
    ],
    [
      'session.update.session.audio.input.format.rate must be 24000, got 16000',
      session({ audio: { input: { format: { type: 'audio/pcm', rate: 16_000 } } } }),
    ],
    ['input_audio_buffer.append.audio must be base64, got a string', { type: 'input_audio_buffer.append', audio: '%' }],
    ['input_audio_buffer.commit: the buffer is empty', { type: 'input_audio_buffer.commit' }],
    ['response.cancel.turn is unknown', { type: 'response.cancel', turn: 1 }],
    ['conversation.item.create.item.content[0].txt is unknown', user([{ type: 'input_text', text: 'x', txt: 'x' }])],
    [
      'conversation.item.create: call call_9 is not in the conversation',
      { type: 'conversation.item.create', item: { type: 'function_call_output', call_id: 'call_9', output: '{}' } },
    ],
  ])('are refused with the problem: %s', async (problem, event) => {
    await using raw = await opened()
    raw.send(event)
    raw.send({ type: 'response.create' })
    await raw.peer.next('response.create')
    expect(raw.server.problems).toEqual([problem])
  })

  test('get an error that names the refused event', async () => {
    await using raw = await opened()
    raw.send({ type: 'response.cancel', response_id: 7, event_id: 'mine' })
    expect((await raw.until('error')).at(-1)).toMatchObject({
      error: {
        type: 'invalid_request_error',
        message: 'response.cancel.response_id must be a string, got 7.',
        event_id: 'mine',
      },
    })
  })

  test('that follow the API are recorded without problems', async () => {
    await using raw = await opened()
    const events = [
      session({
        instructions: 'Hi.',
        tools: [{ type: 'function', name: 'a-b_1', parameters: {} }],
        tool_choice: 'auto',
      }),
      { type: 'input_audio_buffer.append', audio: 'AAAA', event_id: 'e1' },
      { type: 'input_audio_buffer.commit' },
      user([
        { type: 'input_text', text: 'x' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      ]),
      { type: 'conversation.item.create', item: { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}' } },
      { type: 'conversation.item.create', item: { type: 'function_call_output', call_id: 'c1', output: '' } },
      { type: 'response.create', response: { instructions: 'Short.', output_modalities: ['text'] } },
    ]
    for (const event of events) raw.send(event)
    expect(await raw.peer.next('response.create')).toEqual(events.at(-1))
    expect(raw.peer.received).toEqual(events)
    expect(raw.server.problems).toEqual([])
    expect(raw.peer.session).toMatchObject({ instructions: 'Hi.', audio: { output: { voice: 'alloy' } } })
    expect(raw.peer.items.map(({ type, role }) => role ?? type)).toEqual([
      'user',
      'user',
      'function_call',
      'function_call_output',
    ])
  })

  test('must not answer a call twice', async () => {
    await using raw = await opened()
    const call_id = raw.peer.call('find')
    const output = { type: 'conversation.item.create', item: { type: 'function_call_output', call_id, output: '{}' } }
    raw.send(output)
    raw.send(output)
    await raw.until('error')
    expect(raw.server.problems).toEqual([`conversation.item.create: call ${call_id} has an output already`])
  })

  test('must not request a response while a requested one is active', async () => {
    await using raw = await opened()
    raw.send({ type: 'response.create' })
    raw.send({ type: 'response.create', event_id: 'second' })
    expect((await raw.until('error')).at(-1)).toMatchObject({
      error: { code: 'conversation_already_has_active_response', event_id: 'second' },
    })
    expect(raw.server.problems).toEqual(['response.create: response resp_1 is active'])
  })

  test('need a model in the URL', async () => {
    await using raw = await openRaw({}, '/')
    expect(raw.server.problems).toEqual(['The URL has no model'])
  })
})

describe('the events of the server', () => {
  test('of a reply are those of the API, in order', async () => {
    await using raw = await opened()
    raw.send({ type: 'response.create' })
    await raw.peer.next('response.create')
    raw.peer.say('Hi', '.')
    raw.peer.finish()
    const events = await raw.until('response.done')
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'conversation.item.added',
      'conversation.item.done',
      'response.done',
    ])
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length)
    expect(events.at(-1)).toMatchObject({
      response: {
        id: 'resp_1',
        status: 'completed',
        output: [{ role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }],
        usage: { total_tokens: 30 },
      },
    })
  })

  test('of a function call carry its id, name and arguments', async () => {
    await using raw = await opened()
    expect(raw.peer.call('find', { id: 'c7', args: { q: 1 } })).toBe('c7')
    const events = await raw.until('response.output_item.done')
    const call = { call_id: 'c7', name: 'find', arguments: '{"q":1}' }
    expect(events.find(({ type }) => type === 'response.function_call_arguments.done')).toMatchObject(call)
    expect(events.at(-1)).toMatchObject({ item: { type: 'function_call', status: 'completed', ...call } })
  })

  test('of speech interrupt the response and start another one, unless the session forbids it', async () => {
    await using raw = await opened()
    raw.peer.say('Long')
    raw.peer.startSpeech()
    raw.peer.stopSpeech()
    const types = (await raw.until('input_audio_buffer.committed')).map(({ type }) => type)
    expect(types.slice(-4)).toEqual([
      'input_audio_buffer.speech_started',
      'response.done',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
    ])
    await raw.until('response.created')
    raw.send(session({ audio: { input: { turn_detection: { type: 'semantic_vad', interrupt_response: false } } } }))
    await raw.peer.next('session.update')
    raw.peer.startSpeech()
    raw.peer.finish()
    expect((await raw.until('response.done')).at(-1)).toMatchObject({ response: { status: 'completed' } })
  })

  test('may be any frame of the test', async () => {
    await using raw = await opened()
    raw.peer.send({ type: 'rate_limits.updated', rate_limits: [] })
    expect(await raw.until('rate_limits.updated')).toMatchObject([{ event_id: expect.any(String), rate_limits: [] }])
  })

  test('need an active response to finish one', async () => {
    await using raw = await opened()
    expect(() => raw.peer.finish()).toThrow('No response is active.')
  })
})

describe('the connections of the server', () => {
  test('need the right key', async () => {
    await using server = await openaiRealtimeServer({ apiKey: 'sk-right' })
    const url = server.url.replace('ws:', 'http:')
    expect((await fetch(url)).status).toBe(401)
    expect((await fetch(url, { headers: { authorization: 'Bearer sk-wrong' } })).status).toBe(401)
    expect((await fetch(url, { headers: { authorization: 'Bearer sk-right' } })).status).toBe(426)
    const refused = new Promise<Error>((resolve) => new WebSocket(server.url, { headers }).on('error', resolve))
    expect((await refused).message).toBe('Unexpected server response: 401')
    expect(server.connections).toEqual([])
  })

  test('are given to the test, with the handshake', async () => {
    const seen: unknown[] = []
    await using raw = await openRaw({ onConnection: (connection) => seen.push(connection) })
    expect(seen).toEqual([raw.peer])
    expect(raw.server.connections).toEqual([raw.peer])
    expect(raw.peer.headers).toMatchObject(headers)
    expect(raw.peer.query).toEqual({ model: 'gpt-realtime' })
  })

  test('end with the code of the test, or without one', async () => {
    await using raw = await opened()
    const code = new Promise((resolve) => raw.socket.on('close', resolve))
    const waiting = raw.peer.next('response.create')
    raw.peer.close(4000, 'over')
    expect(await code).toBe(4000)
    await expect(waiting).rejects.toThrow('The connection ended before message 1 of type response.create.')
    await using other = await opened()
    const dropped = new Promise((resolve) => other.socket.on('close', resolve))
    other.peer.drop()
    expect(await dropped).toBe(1006)
    expect(await other.peer.closed).toBe(1006)
  })

  test('get no answer to their setup if the test wants it', async () => {
    await using raw = await opened({ setup: 'ignore' })
    raw.send(session({}))
    await raw.peer.next('session.update')
    raw.peer.say('Hi.')
    expect((await raw.until('response.created')).map(({ type }) => type)).toEqual(['response.created'])
  })

  test('refuse unknown options', async () => {
    await expect(openaiRealtimeServer({ key: 'x' } as object)).rejects.toThrow(/unknown option "key"/)
  })
})
