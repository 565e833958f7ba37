import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { JsonObject } from '../../core/base/json.ts'
import type { GeminiLiveServer } from './gemini-live-script.ts'
import { geminiLiveServer } from './gemini-live-server.ts'

const GEMINI_PATH = '//ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=good'
const VERTEX_PATH = '//ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent'

/** A client without any library of Google. */
class Client {
  readonly received: string[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  readonly #socket: WebSocket

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => this.received.push(String(data)))
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }))
    })
  }

  static async connect(server: GeminiLiveServer, path = GEMINI_PATH, headers = {}): Promise<Client> {
    const socket = new WebSocket(server.url.replace('http', 'ws') + path, { headers })
    const client = new Client(socket)
    await once(socket, 'open')
    return client
  }

  send(message: JsonObject | string): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** The messages so far. Waits until there are `count`. */
  async messages(count: number): Promise<unknown[]> {
    while (this.received.length < count) await once(this.#socket, 'message')
    return this.received.map((text) => JSON.parse(text) as unknown)
  }

  close(): void {
    this.#socket.terminate()
  }
}

const setup = (more: JsonObject = {}): JsonObject => ({ setup: { model: 'models/live', ...more } })

test('geminiLiveServer() answers the setup and sends a handle', async () => {
  await using server = await geminiLiveServer()
  const client = await Client.connect(server)
  client.send(setup())
  const connection = await server.nextConnection()
  expect(await client.messages(2)).toEqual([
    { setupComplete: {} },
    { sessionResumptionUpdate: { newHandle: 'conversation-1-handle-1', resumable: true } },
  ])
  expect(connection).toMatchObject({ setup: { model: 'models/live' }, isVertex: false, isOpen: true })
  expect(connection.path).toBe(GEMINI_PATH.split('?')[0])
  expect(server.problems).toEqual([])
})

test('a client that resumes continues its conversation, with its calls and turns', async () => {
  await using server = await geminiLiveServer()
  const first = await Client.connect(server)
  first.send(setup())
  const before = await server.nextConnection()
  first.send({ realtimeInput: { text: 'Book a table.' } })
  await before.next('realtimeInput')
  before.call([{ id: 'c1', name: 'book', args: {} }])
  const handle = before.newHandle()
  before.drop()
  expect((await first.closed).code).toBe(1006)

  const second = await Client.connect(server)
  second.send(setup({ sessionResumption: { handle } }))
  const after = await server.nextConnection()
  second.send({ toolResponse: { functionResponses: [{ id: 'c1', name: 'book', response: { ok: true } }] } })
  await after.next('toolResponse')
  expect(after.handle).toBe(handle)
  expect(server.conversations).toHaveLength(1)
  expect(server.conversations[0]?.turns).toEqual(['Book a table.'])
  expect(server.conversations[0]?.calls.get('c1')?.responses).toHaveLength(1)
  expect(server.problems).toEqual([])
})

test.each<[string, JsonObject[], string]>([
  ['a first message that is no setup', [{ realtimeInput: { text: 'x' } }], 'The first message is "realtimeInput"'],
  ['two keys in a message', [{ ...setup(), realtimeInput: { text: 'x' } }], 'has 2 keys (setup, realtimeInput)'],
  ['an unknown message', [setup(), { ping: {} }], 'Unknown message "ping"'],
  ['an unknown field', [setup({ voice: 1 })], 'Unknown field "voice" in "setup"'],
  ['a second setup', [setup(), setup()], 'A second "setup"'],
  ['a model without prefix', [setup({ model: 'live' })], '"setup.model" is not models/<name>'],
  ['no responses', [setup(), { toolResponse: { functionResponses: [] } }], 'is empty'],
  ['a response without id', [setup(), respond({ id: undefined })], 'has no id'],
  ['a response to an unknown call', [setup(), respond({ id: 'c9' })], 'has the id "c9", which no call has'],
  ['a response that is a text', [setup(), respond({ response: 'ok' })], 'is not an object'],
  ['an unknown field of a response', [setup(), respond({ modelOutput: {} })], 'Unknown field "modelOutput"'],
  ['two last responses', [setup(), respond({}), respond({})], 'Call "c1" got another response after its last one'],
  ['a turn of a tool', [setup(), { clientContent: { turns: [{ role: 'tool', parts: [{}] }] } }], 'has the role "tool"'],
  ['audio without a type', [setup(), { realtimeInput: { audio: { data: 'AAAA' } } }], 'has no mimeType'],
])('geminiLiveServer() reports %s', async (_, messages, problem) => {
  await using server = await geminiLiveServer({
    onConnection: (connection) => connection.call([{ id: 'c1', name: 'look', args: {} }]),
  })
  const client = await Client.connect(server)
  for (const message of messages) client.send(message)
  const [connection] = server.connections
  for (const message of messages) await connection?.next(Object.keys(message)[0] as string)
  expect(server.problems.join('\n')).toContain(problem)
  expect(server.problems).toHaveLength(1)
})

function respond(response: JsonObject): JsonObject {
  return { toolResponse: { functionResponses: [{ id: 'c1', name: 'look', response: {}, ...response }] } }
}

test('geminiLiveServer() reports what only Vertex AI refuses', async () => {
  await using server = await geminiLiveServer()
  const client = await Client.connect(server, VERTEX_PATH, { authorization: 'Bearer token' })
  client.send(setup({ tools: [{ functionDeclarations: [{ name: 'look', behavior: 'NON_BLOCKING' }] }] }))
  const connection = await server.nextConnection()
  connection.call([{ id: 'c1', name: 'look' }])
  client.send(respond({ willContinue: true, scheduling: 'SILENT' }))
  await connection.next('toolResponse')
  expect(connection.isVertex).toBe(true)
  expect(server.problems).toEqual([
    'Vertex AI refuses "behavior" of "look".',
    'Vertex AI refuses the field "scheduling" of the response of "look".',
    'Vertex AI refuses the field "willContinue" of the response of "look".',
  ])
})

test('geminiLiveServer() keeps the size of media instead of the media, and at most 1,000 messages', async () => {
  await using server = await geminiLiveServer()
  const client = await Client.connect(server)
  client.send(setup())
  const connection = await server.nextConnection()
  const audio = { mimeType: 'audio/pcm;rate=16000', data: Buffer.alloc(640).toString('base64') }
  for (let at = 0; at < 1_200; at++) client.send({ realtimeInput: { audio } })
  client.send({ realtimeInput: { audioStreamEnd: true } })
  client.send({ clientContent: { turnComplete: true } })
  await connection.next('clientContent')
  expect(connection.received).toHaveLength(1_000)
  expect(connection.received[0]).toEqual({ realtimeInput: { audio: { mimeType: audio.mimeType, bytes: 640 } } })
  expect(connection.conversation.audioBytesIn).toBe(1_200 * 640)
})

test('geminiLiveServer() refuses a wrong key, a rejected handle and Vertex AI without a token', async () => {
  await using server = await geminiLiveServer({ apiKey: 'good', rejectHandles: ['old'] })
  const stranger = await Client.connect(server, GEMINI_PATH.replace('good', 'bad'))
  stranger.send(setup())
  expect(await stranger.closed).toEqual({ code: 1007, reason: 'API key not valid. Please pass a valid API key.' })
  const late = await Client.connect(server)
  late.send(setup({ sessionResumption: { handle: 'old' } }))
  expect((await late.closed).code).toBe(1007)
  await expect(Client.connect(server, VERTEX_PATH)).rejects.toThrow('401')
  const honest = await Client.connect(server)
  honest.send(setup())
  expect((await honest.messages(1))[0]).toEqual({ setupComplete: {} })
})

test('geminiLiveServer() stays silent without acceptSetup, and the test closes the connection', async () => {
  await using server = await geminiLiveServer({
    acceptSetup: false,
    onConnection: (connection) => connection.close(1008, 'not today'),
  })
  const client = await Client.connect(server)
  client.send(setup())
  expect(await client.closed).toEqual({ code: 1008, reason: 'not today' })
  expect(client.received).toEqual([])
})

test('geminiLiveServer() sends invalid frames as they are', async () => {
  await using server = await geminiLiveServer({ sendHandles: false })
  const client = await Client.connect(server)
  client.send(setup())
  const connection = await server.nextConnection()
  await client.messages(1)
  connection.send('{ not json')
  connection.send(new TextEncoder().encode('{"goAway":{}}'))
  connection.close()
  await client.closed
  expect(client.received.slice(1)).toEqual(['{ not json', '{"goAway":{}}'])
})

test('next() and nextConnection() reject when nothing more can arrive', async () => {
  const server = await geminiLiveServer()
  const client = await Client.connect(server)
  client.send('garbage')
  client.send(setup())
  const connection = await server.nextConnection()
  const [message, later] = [connection.next('toolResponse'), server.nextConnection()]
  await server.close()
  await expect(message).rejects.toThrow('ended before a message with "toolResponse" arrived')
  await expect(later).rejects.toThrow('geminiLiveServer() was closed')
  expect((await client.closed).code).toBe(1006)
  expect(server.problems).toEqual(['A client sent a frame that is no JSON object.'])
})

test('geminiLiveServer() reports an error that a callback of the test throws', async () => {
  await using server = await geminiLiveServer({
    onMessage: () => {
      throw new Error('broken script')
    },
  })
  const client = await Client.connect(server)
  client.send(setup())
  const connection = await server.nextConnection()
  client.send({ realtimeInput: { text: 'x' } })
  await connection.next('realtimeInput')
  expect(server.problems).toEqual(['onMessage() of geminiLiveServer() threw an error: broken script'])
})
