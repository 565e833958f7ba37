import { connect } from 'node:net'
import { InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { type ScriptedLiveScript, scriptedLive, scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { createSession, type StartedServer, silent, startServer } from '../edge.test-kit.ts'
import type { ServerOptions } from '../server-options.ts'

const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  parameters: z.object({ order: z.number() }),
  requiresConfirmation: true,
  run: ({ order }) => ({ refunded: order }),
})

interface LiveServer extends StartedServer {
  readonly sessionId: string
  readonly model: ReturnType<typeof scriptedLive>
}

async function startLive(script: ScriptedLiveScript, options: Partial<ServerOptions> = {}): Promise<LiveServer> {
  const model = scriptedLive(script)
  const agent = new LlmAgent({ name: 'voice', tools: [refund] })
  const runner = new Runner({
    appName: 'voice',
    agent,
    sessionService: new InMemorySessionService(),
    model: scriptedModel([]),
    logger: silent,
  })
  const server = await startServer({ apps: { voice: runner }, live: { voice: { model } }, ...options })
  return { ...server, model, sessionId: await createSession(server, 'voice/users/ada') }
}

type Frame = Record<string, unknown>

/** A client, what it has received, and how it was closed. */
function openSocket({ url, headers, sessionId }: LiveServer, query: Record<string, string> = {}) {
  const search = new URLSearchParams({ app_name: 'voice', user_id: 'ada', session_id: sessionId, ...query })
  const socket = new WebSocket(`${url.replace('http', 'ws')}/run_live?${search}`, { headers })
  onTestFinished(() => socket.terminate())
  const frames: Frame[] = []
  socket.on('message', (data) => frames.push(JSON.parse(String(data)) as Frame))
  socket.on('error', () => {})
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
  const opened = new Promise<void>((resolve) => socket.on('open', () => resolve()))
  const send = (frame: unknown): void => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  const until = (found: (frame: Frame) => boolean): Promise<Frame> =>
    expect
      .poll(() => frames.find(found), { timeout: 3_000 })
      .toBeDefined()
      .then(() => frames.find(found) as Frame)
  return { socket, frames, closed, opened, send, until }
}

type Client = ReturnType<typeof openSocket>

const metricsOf = async ({ url, headers }: LiveServer): Promise<string> =>
  (await fetch(`${url}/metrics`, { headers })).text()

const pcm = Buffer.from([1, 2, 3, 4])
const userText = (text: string) => ({ content: { role: 'user', parts: [{ text }] } })

test('an ADK client sends text and audio, and gets audio, transcripts and recorded events', async () => {
  const live = await startLive([{ audio: pcm, transcript: 'Good morning.' }, 'Fine.'])
  const { send, until, frames, opened, socket, closed } = openSocket(live)
  await opened
  send(userText('Hello'))
  const audio = await until((frame) => JSON.stringify(frame).includes('inlineData'))
  expect(audio).toMatchObject({
    author: 'voice',
    partial: true,
    content: { parts: [{ inlineData: { data: pcm.toString('base64') } }] },
    actions: { stateDelta: {}, artifactDelta: {} },
  })
  await until((frame) => frame.turnComplete === true && !frame.partial)
  expect(JSON.stringify(frames)).toContain('Good morning.')
  expect(new Set(frames.map(({ id }) => id)).size).toBe(frames.length)
  send({ blob: { mime_type: 'audio/pcm', data: pcm.toString('base64') } })
  send({ activity_start: {} })
  send({ activity_end: {} })
  await until((frame) => JSON.stringify(frame).includes('Fine.'))
  const connection = await live.model.nextConnection()
  expect(connection.sent).toContainEqual({
    type: 'audio',
    data: new Uint8Array(pcm),
    mimeType: 'audio/pcm;rate=16000',
  })
  socket.close()
  await closed
  const path = `${live.url}/apps/voice/users/ada/sessions/${live.sessionId}`
  const stored = async (): Promise<string> => (await fetch(path, { headers: live.headers })).text()
  expect(await stored()).toContain('Good morning.')
  await expect.poll(() => metricsOf(live)).toContain('toolwright_active_runs 0')
})

const asksForRefund: ScriptedLiveScript = [{ calls: [{ name: 'refund', args: { order: 7 } }] }, 'Refunded.']

test('a gated call waits for the answer of an ADK client; only true approves [DG-14]', async () => {
  for (const confirmed of [true, 'true']) {
    const { send, until, opened } = openSocket(await startLive(asksForRefund))
    await opened
    send(userText('Refund order 7'))
    const asked = await until((frame) => JSON.stringify(frame).includes('adk_request_confirmation'))
    const [id] = asked.longRunningToolIds as [string]
    const answer = { id, name: 'adk_request_confirmation', response: { confirmed } }
    const part = confirmed === true ? { function_response: answer } : { functionResponse: answer }
    send({ content: { role: 'user', parts: [part] } })
    const answered = await until((frame) => /"name":"refund","response"/.test(JSON.stringify(frame)))
    const isRefunded = JSON.stringify(answered).includes('"refunded":7')
    expect(isRefunded).toBe(confirmed === true)
  }
})

test('the page gets live events, and answers a request by its id', async () => {
  const { send, until, opened } = openSocket(await startLive(asksForRefund), { frames: 'live' })
  await opened
  send(userText('Refund order 7'))
  const { request } = (await until(({ type }) => type === 'request')) as { request: { id: string } }
  const answer = { id: request.id, name: 'adk_request_confirmation', response: { confirmed: true } }
  send({ answer })
  expect(await until(({ type }) => type === 'toolResponse')).toMatchObject({
    responses: [{ response: { refunded: 7 } }],
  })
  send({ answer: { ...answer, response: { confirmed: false } } })
  expect(await until(({ type }) => type === 'error')).toMatchObject({ errorCode: 'ALREADY_ANSWERED' })
  send({ close: true })
  await until(({ type }) => type === 'closed')
})

test.each([
  ['live events', { frames: 'live' }, (answer: object) => ({ answer })],
  ['ADK events', {}, (functionResponse: object) => ({ content: { role: 'user', parts: [{ functionResponse }] } })],
])('a client of %s cannot approve what mayAnswer keeps from it', async (_, query, frameOf) => {
  let isAllowed = false
  const live = await startLive([{ calls: [{ name: 'refund', args: { order: 7 } }] }, 'Done.'], {
    mayAnswer: () => isAllowed,
  })
  const { send, until, frames, opened } = openSocket(live, query)
  await opened
  send(userText('Refund order 7.'))
  const listed = async (): Promise<{ id: string }[]> =>
    await (await fetch(`${live.url}/apps/voice/users/ada/pending`, { headers: live.headers })).json()
  await expect.poll(async () => (await listed()).length).toBe(1)
  const [request] = await listed()
  const answer = { id: request?.id, name: 'adk_request_confirmation', response: { confirmed: true } }
  send(frameOf(answer))
  await until((frame) => frame.errorCode === 'FORBIDDEN')
  expect(JSON.stringify(frames)).not.toContain('"refunded":7')
  expect(await listed()).toHaveLength(1)
  isAllowed = true
  send(frameOf(answer))
  await until((frame) => JSON.stringify(frame).includes('"refunded":7'))
})

test('closes with the codes of ADK if there is no app, no live model or no session', async () => {
  const live = await startLive([])
  expect((await openSocket(live, { app_name: 'none' }).closed).code).toBe(1008)
  expect(await openSocket(live, { session_id: 'none' }).closed).toEqual({ code: 1002, reason: 'Session not found.' })
  expect((await openSocket(live, { user_id: 'eve' }).closed).code).toBe(1002) // the session of another user
  const broken = await startLive([], { live: {} })
  expect((await openSocket(broken).closed).code).toBe(1008)
})

test('refuses a principal that may not act as the user, and one without a token', async () => {
  const live = await startLive([], { authenticate: ({ headers }) => ({ userId: headers.get('authorization') ?? '' }) })
  const status = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve) => {
      const search = `app_name=voice&user_id=ada&session_id=${live.sessionId}`
      const socket = new WebSocket(`${live.url.replace('http', 'ws')}/run_live?${search}`, { headers })
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
      socket.on('open', () => resolve(101))
      socket.on('error', () => {})
      onTestFinished(() => socket.terminate())
    })
  expect(await status({ authorization: 'eve' })).toBe(403)
  expect(await status({})).toBe(500) // an empty user id is a mistake in `authenticate`
  expect(await status({ authorization: 'ada' })).toBe(101)
  expect((await fetch(`${live.url}/run_live`, { headers: { authorization: 'ada' } })).status).toBe(400)
})

test.each([
  ['text that is not JSON', 'hello', 1007],
  ['a list', '[]', 1007],
  ['an unknown frame', { hello: 1 }, 1007],
  ['a call of a tool', { content: { role: 'user', parts: [{ functionCall: { name: 'refund', args: {} } }] } }, 1007],
  [
    'a call in snake_case',
    { content: { role: 'user', parts: [{ function_call: { name: 'refund', args: {} } }] } },
    1007,
  ],
  ['a message of the model', { content: { role: 'model', parts: [{ text: 'x' }] } }, 1007],
  ['a blob of another type', { blob: { mimeType: 'text/html', data: '' } }, 1007],
  ['10 MB', 'x'.repeat(10_000_000), 1009],
])('closes the connection for %s', async (_, frame, code) => {
  const live = await startLive([])
  const { opened, send, closed } = openSocket(live)
  await opened
  send(frame)
  expect((await closed).code).toBe(code)
  await expect.poll(() => metricsOf(live)).toContain('toolwright_active_runs 0')
  const again = openSocket(live, { frames: 'live' }) // the session is free again
  await again.opened
  again.send({ close: true })
  expect((await again.closed).code).toBe(1000)
})

test.each([
  ['a frame that cannot be read', Buffer.from('hello'), false],
  ['a binary frame', Buffer.from([1]), true],
])('ends the session after %s, also of a client that stays and sends more', async (_, frame, binary) => {
  const live = await startLive([])
  const { opened, socket, send } = openSocket(live)
  await opened
  await live.model.nextConnection()
  socket.close = () => {} // the client does not close its side
  socket.send(frame, { binary })
  send(userText('I am still here.'))
  await expect.poll(() => metricsOf(live)).toContain('toolwright_active_runs 0')
  send(userText('And here.'))
  await new Promise<void>((resolve) => socket.ping('', true, () => resolve()))
  const session = `${live.url}/apps/voice/users/ada/sessions/${live.sessionId}`
  expect(await (await fetch(session, { headers: live.headers })).text()).not.toContain('here')
})

test('cuts off a client that is gone without closing its connection', async () => {
  const live = await startLive([], { limits: { liveSilenceMs: 100 } })
  const gone = connect(live.port, '127.0.0.1')
  onTestFinished(() => void gone.destroy())
  const path = `/run_live?app_name=voice&user_id=ada&session_id=${live.sessionId}`
  const head = [`Host: 127.0.0.1:${live.port}`, `Authorization: ${live.headers.authorization}`, 'Connection: Upgrade']
  const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
  gone.write([`GET ${path} HTTP/1.1`, ...head, ...upgrade, '', ''].join('\r\n'))
  await expect.poll(() => metricsOf(live)).toContain('toolwright_active_runs 1')
  await expect.poll(() => metricsOf(live), { timeout: 3_000 }).toContain('toolwright_active_runs 0')
})

test('cuts off a client that never reads', async () => {
  const second = { type: 'audio' as const, data: new Uint8Array(100_000), mimeType: 'audio/pcm' }
  const script = [{ messages: Array(400).fill(second) }]
  const live = await startLive(script, { limits: { streamStallMs: 50, streamBufferBytes: 1_000 } })
  const { opened, send, socket } = openSocket(live)
  await opened
  send(userText('Speak'))
  socket.pause()
  await expect.poll(() => metricsOf(live)).toContain('toolwright_active_runs 1')
  await expect.poll(() => metricsOf(live), { timeout: 3_000 }).toContain('toolwright_active_runs 0')
})

test('a client chooses what the model replies with; other modalities, and parameters that are there twice, are refused', async () => {
  const live = await startLive([])
  const path = `/run_live?app_name=voice&user_id=ada&session_id=${live.sessionId}`
  const open = (query: string): Promise<number> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${live.url.replace('http', 'ws')}${path}${query}`, { headers: live.headers })
      socket.on('open', () => socket.send('{"close":true}'))
      socket.on('close', (code) => resolve(code))
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
      socket.on('error', () => {})
      onTestFinished(() => socket.terminate())
    })
  for (const query of ['', '&modalities=TEXT', '&modalities=audio&modalities=AUDIO'])
    expect(await open(query), query).toBe(1000)
  expect(live.model.requests.map(({ responseModality }) => responseModality)).toEqual([undefined, 'text', 'audio'])
  for (const query of [
    '&modalities=',
    '&modalities=VIDEO',
    '&modalities=AUDIO&modalities=TEXT',
    '&modalities=__proto__',
  ])
    expect(await open(query), query).toBe(400)
  for (const query of ['&user_id=eve', '&userId=eve', '&sessionId=s2']) expect(await open(query), query).toBe(400)
  expect(live.model.requests).toHaveLength(3)
})

test('answers the pings of a client, and cuts off one that reads no answers', async () => {
  const live = await startLive([], { limits: { streamBufferBytes: 1_000 } })
  const polite = openSocket(live)
  await polite.opened
  const answered = new Promise<string>((resolve) => polite.socket.on('pong', (data) => resolve(String(data))))
  polite.socket.ping('there?')
  expect(await answered).toBe('there?')
  polite.send({ close: true })
  await polite.closed

  const rude = openSocket(live)
  await rude.opened
  rude.socket.pause()
  const flood = (): number => {
    for (let n = 0; n < 10_000; n++) rude.socket.ping('x'.repeat(125))
    return rude.socket.readyState
  }
  // a client that does not read sees the end of its connection when it writes
  await expect.poll(flood, { timeout: 10_000 }).not.toBe(rude.socket.OPEN)
  await expect.poll(() => metricsOf(live)).toContain('toolwright_active_runs 0')
}, 20_000)

test('messages and answers of live clients count as requests; audio does not', async () => {
  const live = await startLive(['Hello.', 'Hello.'], { limits: { requestsPerMinute: 4 } }) // two for the session and the socket
  const { opened, send, until, frames, closed } = openSocket(live)
  await opened
  send(userText('first'))
  await until(({ turnComplete }) => turnComplete === true)
  send({ answer: { id: 'unknown', name: 'refund', response: {} } })
  await until(({ errorCode }) => errorCode === 'NOT_FOUND')
  send(userText('one too many'))
  await until(({ errorCode }) => errorCode === 'RATE_LIMITED')
  const connection = await live.model.nextConnection()
  const blob = { mimeType: 'audio/pcm', data: pcm.toString('base64') }
  for (let n = 0; n < 20; n++) send({ blob })
  await expect.poll(() => connection.sent.filter(({ type }) => type === 'audio').length).toBe(20)
  expect(JSON.stringify(connection.sent)).not.toContain('one too many')
  expect(frames.filter(({ errorCode }) => errorCode === 'RATE_LIMITED')).toHaveLength(1)
  send({ close: true })
  expect((await closed).code).toBe(1000)
})

test.each([
  ['messages', 100, ({ send }: Client) => send(userText('x'))],
  ['pings', 2_000, ({ socket }: Client) => socket.ping()],
])('requests of others are answered while clients flood the server with %s', async (_, count, flood) => {
  const live = await startLive([], { limits: { requestsPerMinute: 1_000 } })
  const sessions = await Promise.all(Array.from({ length: 10 }, () => createSession(live, 'voice/users/ada')))
  const clients = sessions.map((sessionId) => openSocket({ ...live, sessionId }))
  await Promise.all(clients.map(({ opened }) => opened))
  for (const client of clients) for (let n = 0; n < count; n++) flood(client)
  for (const { send } of clients) send({ close: true })
  let isFlooded = true
  const closed = Promise.all(clients.map(({ closed }) => closed)).finally(() => {
    isFlooded = false
  })
  let answered = 0
  while (isFlooded && answered < 20) if ((await fetch(`${live.url}/health`)).ok) answered++
  expect(answered).toBe(20)
  for (const { code } of await closed) expect(code).toBe(1000)
})

test('close() of the server ends live sessions and tells their clients', async () => {
  const live = await startLive([])
  const { opened, closed } = openSocket(live)
  await opened
  await live.model.nextConnection()
  await live.server.close()
  expect((await closed).code).toBe(1001)
})

test('close() does not wait for an upgrade that is not decided', async () => {
  const asked = Promise.withResolvers<void>()
  const authenticate = (): Promise<never> => {
    asked.resolve()
    return new Promise(() => {})
  }
  const server = await startServer({ authenticate })
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/run_live`)
  const failed = new Promise((resolve) => socket.on('error', resolve))
  await asked.promise
  await server.server.close()
  await failed
})
