import { openaiRealtimeServer } from 'toolwright/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { WebSocket as WsWebSocket } from 'ws'
import { LiveConnectionError } from '../../../engine/model/live-model.ts'
import { connectOptions, KEY } from './openai.test-kit.ts'
import { openaiRealtime } from './openai-realtime.ts'
import type { OpenAiRealtimeOptions } from './options.ts'

afterEach(() => vi.unstubAllEnvs())

const failed = (promise: Promise<unknown>): Promise<LiveConnectionError> =>
  promise.then(
    () => expect.unreachable('connect() did not reject'),
    (error) => {
      expect(error).toBeInstanceOf(LiveConnectionError)
      return error as LiveConnectionError
    },
  )

describe('a refused connection', () => {
  test.each<[string, OpenAiRealtimeOptions]>([
    ['the WebSocket of the runtime', {}],
    ['the WebSocket of the package ws', { webSocket: WsWebSocket }],
  ])('with a wrong key is not worth another attempt, with %s', async (_name, options) => {
    await using server = await openaiRealtimeServer({ apiKey: 'sk-right' })
    const model = openaiRealtime('gpt-realtime', { apiKey: 'sk-wrong-0123456789', baseUrl: server.url, ...options })
    const error = await failed(model.connect(connectOptions()))
    expect(error).toMatchObject({ recover: 'nothing', code: 401 })
    expect(error.message).toBe(
      'Model "gpt-realtime" refused the connection with status 401. Check the API key and its access to the model.',
    )
    expect(server.connections).toHaveLength(0)
  })

  test('with the right key works, with the WebSocket of the package ws', async () => {
    await using server = await openaiRealtimeServer({ apiKey: KEY })
    const model = openaiRealtime('gpt-realtime', { apiKey: KEY, baseUrl: server.url, webSocket: WsWebSocket })
    const connection = await model.connect(connectOptions())
    const peer = await server.nextConnection()
    peer.say('Hi.')
    for await (const message of connection) {
      expect(message).toEqual({ type: 'text', text: 'Hi.' })
      break
    }
    connection.close()
    expect(await peer.closed).toBe(1000)
  })

  test('of a server that does not run may be tried again', async () => {
    const server = await openaiRealtimeServer()
    await server.close()
    const model = openaiRealtime('gpt-realtime', { apiKey: KEY, baseUrl: server.url })
    const error = await failed(model.connect(connectOptions()))
    expect(error).toMatchObject({ recover: 'fresh', code: undefined })
    expect(error.message).toBe(
      'The connection to model "gpt-realtime" could not be made. Check baseUrl and the network.',
    )
  })

  test('says why the provider refuses the settings, and closes the socket', async () => {
    await using server = await openaiRealtimeServer()
    const config = { audio: { output: { voise: 'marin' } as object } }
    const error = await failed(
      openaiRealtime('gpt-realtime', { apiKey: KEY, baseUrl: server.url, config }).connect(connectOptions()),
    )
    expect(error).toMatchObject({
      recover: 'nothing',
      message: 'Model "gpt-realtime" refused the session: session.update.session.audio.output.voise is unknown.',
    })
    expect(await (await server.nextConnection()).closed).toBe(1000)
    expect(server.problems).toEqual(['session.update.session.audio.output.voise is unknown'])
  })

  test('during the setup may be tried again if the server fails, and hides keys in its message', async () => {
    await using server = await openaiRealtimeServer({
      setup: 'ignore',
      onConnection: (peer) => peer.fail({ message: 'Broken: sk-abc123def456', type: 'server_error' }),
    })
    const model = openaiRealtime('gpt-realtime', { apiKey: KEY, baseUrl: server.url })
    const error = await failed(model.connect(connectOptions()))
    expect(error).toMatchObject({
      recover: 'fresh',
      message: 'Model "gpt-realtime" refused the session: Broken: [hidden]',
    })
  })

  test('that ends during the setup reports the close code', async () => {
    await using server = await openaiRealtimeServer({
      setup: 'ignore',
      onConnection: (peer) => peer.close(1011, 'maintenance'),
    })
    const model = openaiRealtime('gpt-realtime', { apiKey: KEY, baseUrl: server.url })
    expect(await failed(model.connect(connectOptions()))).toMatchObject({
      recover: 'fresh',
      code: 1011,
      message: 'The connection to model "gpt-realtime" was closed with code 1011 (maintenance).',
    })
  })

  test('for a server tool names the tool and opens no socket', async () => {
    await using server = await openaiRealtimeServer()
    const model = openaiRealtime('gpt-realtime', { apiKey: KEY, baseUrl: server.url })
    const error = await failed(model.connect(connectOptions({ tools: [{ googleSearch: {} }] })))
    expect(error).toMatchObject({ recover: 'nothing' })
    expect(error.message).toContain('cannot run the server tool "googleSearch"')
    expect(server.connections).toHaveLength(0)
  })

  test('by a WebSocket that accepts no headers says what to pass', async () => {
    class BrowserSocket {
      constructor() {
        throw new SyntaxError('The subprotocol is invalid')
      }
    }
    const webSocket = BrowserSocket as unknown as NonNullable<OpenAiRealtimeOptions['webSocket']>
    const model = openaiRealtime('gpt-realtime', { apiKey: KEY, baseUrl: 'ws://127.0.0.1:1', webSocket })
    const error = await failed(model.connect(connectOptions()))
    expect(error).toMatchObject({ recover: 'nothing' })
    expect(error.message).toContain('pass { webSocket }')
  })
})

describe('an attempt to connect', () => {
  test('ends after connectTimeoutMs and closes the socket', async () => {
    await using server = await openaiRealtimeServer({ setup: 'ignore' })
    const timers: { callback: () => void; ms: number }[] = []
    const setTimer = (callback: () => void, ms: number): (() => void) => {
      timers.push({ callback, ms })
      return () => undefined
    }
    const options = { apiKey: KEY, baseUrl: server.url, connectTimeoutMs: 7_000, ports: { setTimer } }
    const attempt = failed(openaiRealtime('gpt-realtime', options).connect(connectOptions()))
    const peer = await server.nextConnection()
    await peer.next('session.update')
    expect(timers.map(({ ms }) => ms)).toEqual([7_000])
    timers[0]?.callback()
    const error = await attempt
    expect(error).toMatchObject({ recover: 'fresh' })
    expect(error.message).toBe(
      'Model "gpt-realtime" did not accept the session within 7000 ms. Raise connectTimeoutMs or check the network.',
    )
    expect(await peer.closed).toBe(1000)
  })

  test('ends when the caller aborts it, and closes the socket', async () => {
    await using server = await openaiRealtimeServer({ setup: 'ignore' })
    const controller = new AbortController()
    const model = openaiRealtime('gpt-realtime', { apiKey: KEY, baseUrl: server.url })
    const attempt = failed(model.connect(connectOptions({ signal: controller.signal })))
    const peer = await server.nextConnection()
    await peer.next('session.update')
    controller.abort(new Error('stop'))
    expect(await attempt).toMatchObject({ recover: 'fresh', cause: new Error('stop') })
    expect(await peer.closed).toBe(1000)
  })

  test('opens no socket for an aborted signal', async () => {
    await using server = await openaiRealtimeServer()
    const model = openaiRealtime('gpt-realtime', { apiKey: KEY, baseUrl: server.url })
    await failed(model.connect(connectOptions({ signal: AbortSignal.abort() })))
    expect(server.connections).toHaveLength(0)
  })
})

describe('the options', () => {
  test('take the key from OPENAI_API_KEY', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-from-environment')
    await using server = await openaiRealtimeServer({ apiKey: 'sk-from-environment' })
    const connection = await openaiRealtime('gpt-realtime', { baseUrl: server.url }).connect(connectOptions())
    connection.close()
    expect(server.connections[0]?.headers.authorization).toBe('Bearer sk-from-environment')
  })

  test('need a key, unless a header has one', () => {
    vi.stubEnv('OPENAI_API_KEY', '')
    expect(() => openaiRealtime('gpt-realtime')).toThrow(/needs an API key. Set OPENAI_API_KEY/)
    expect(openaiRealtime('gpt-realtime', { headers: { 'api-key': 'azure' } }).name).toBe('gpt-realtime')
  })

  test.each<[string, OpenAiRealtimeOptions, RegExp]>([
    ['a misspelled option', { apikey: 'x' } as object, /unknown option "apikey". Did you mean "apiKey"\?/],
    ['a URL without a scheme', { baseUrl: 'localhost' }, /baseUrl must be a URL that starts with wss:\/\/ or ws:\/\//],
    ['a time limit of 0', { connectTimeoutMs: 0 }, /connectTimeoutMs must be a positive number of milliseconds, got 0/],
    ['a setting at its old place', { config: { voice: 'marin' } }, /"voice". Set config.audio.output.voice instead/],
    [
      'audio settings that are text',
      { config: { audio: 'pcm' as unknown as object } },
      /audio must be an object, got a string/,
    ],
  ])('refuse %s when the model is created', (_name, options, message) => {
    expect(() => openaiRealtime('gpt-realtime', { apiKey: KEY, ...options })).toThrow(message)
  })

  test('refuse a model without a name', () => {
    expect(() => openaiRealtime('', { apiKey: KEY })).toThrow(/takes the name of a model/)
  })
})
