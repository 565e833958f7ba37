import { connect, type Socket } from 'node:net'
import { LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from './create-server.ts'
import {
  createSession,
  helloAgent,
  rawRequest,
  runBody,
  type StartedServer,
  sendRaw,
  slowAgent,
  startServer,
  statusOf,
} from './edge.test-kit.ts'

const run = ({ url, headers }: StartedServer, body: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}/run_sse`, { method: 'POST', headers, body, ...(signal && { signal }) })

test('cuts off clients that send their headers too slowly, while others are served', async () => {
  const { port, url } = await startServer({ limits: { headersTimeoutMs: 200, requestTimeoutMs: 400 } })
  const partial = `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Slow: `
  const slow = Array.from({ length: 100 }, () => sendRaw(port, partial))
  expect((await fetch(`${url}/health`)).status).toBe(200)
  for (const answer of await Promise.all(slow)) expect(statusOf(answer)).toBe(408)
})

test('refuses headers that are too large, and connections above the limit', async () => {
  const { port } = await startServer({ limits: { connections: 2 } })
  const host = `Host: 127.0.0.1:${port}`
  const large = rawRequest('GET /health HTTP/1.1', [host, `X-Large: ${'x'.repeat(20_000)}`])
  expect(statusOf(await sendRaw(port, large))).toBe(431)
  const open = await Promise.all([1, 2].map(() => openSocket(port)))
  expect(await sendRaw(port, rawRequest('GET /health HTTP/1.1', [host]))).toBe('')
  for (const socket of open) socket.destroy()
})

test.each([
  ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['chunks that are not last', ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
  ['an unknown coding', ['Transfer-Encoding: xchunked'], '0\r\n\r\n'],
  ['a space before the colon', ['Transfer-Encoding : chunked'], '0\r\n\r\n'],
  ['a folded header', ['X-Folded: a\r\n b: c', 'Content-Length: 0'], ''],
  ['a bare line feed', ['X-Line: a\nContent-Length: 0'], ''],
  ['two lengths', ['Content-Length: 0', 'Content-Length: 30'], ''],
])('closes the connection of a request with %s, and reads no second request from it', async (_, headers, body) => {
  const { port, headers: sent } = await startServer()
  const lines = [`Host: 127.0.0.1:${port}`, `Authorization: ${sent.authorization}`, ...headers]
  const hidden = `GET /list-apps HTTP/1.1\r\n${lines.slice(0, 2).join('\r\n')}\r\nConnection: close\r\n\r\n`
  const answer = await sendRaw(port, `${['POST /run HTTP/1.1', ...lines, '', body].join('\r\n')}${hidden}`)
  expect(statusOf(answer)).toBe(400)
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
})

test('a client that closes /run_sse cancels the run; with `detach` the run completes', async () => {
  for (const onDisconnect of ['cancel', 'detach'] as const) {
    const slow = slowAgent()
    const server = await startServer({ apps: { slow: slow.agent }, onDisconnect })
    const sessionId = await createSession(server, 'slow/users/ada')
    const aborting = new AbortController()
    const response = await run(server, runBody(sessionId, 'slow'), aborting.signal)
    await slow.started
    aborting.abort()
    await expect(response.text()).rejects.toThrow()
    if (onDisconnect === 'detach') slow.release()
    const path = `${server.url}/apps/slow/users/ada/sessions/${sessionId}`
    const read = async (): Promise<string> => (await fetch(path, { headers: server.headers })).text()
    await expect.poll(read, { timeout: 5_000 }).toContain(onDisconnect === 'cancel' ? 'CANCELLED' : 'Done.')
    expect(slow.outcomes).toEqual([onDisconnect === 'cancel' ? 'aborted' : 'finished'])
  }
})

test('a reader that stalls is cut off, and its run continues to the end without losing anything', async () => {
  const slow = slowAgent()
  const texts = Array.from({ length: 40 }, (_, n) => `${n}:${'x'.repeat(250_000)}`)
  const loud = texts.map((text) => ({ text, calls: [{ name: 'next' }] }))
  const model = scriptedModel([...loud, { calls: [{ name: 'wait' }] }, 'Done.'])
  const next = tool({ name: 'next', description: 'Continues', effect: 'none', mayRepeat: true, run: () => ({}) })
  const agent = new LlmAgent({ name: 'loud', model, tools: [next, slow.tool], maxIterations: 100 })
  const limits = { streamBufferBytes: 100_000, streamStallMs: 50 }
  const server = await startServer({ apps: { loud: agent }, limits })
  const sessionId = await createSession(server, 'loud/users/ada')
  const body = runBody(sessionId, 'loud')
  const lines = [`Host: 127.0.0.1:${server.port}`, `Authorization: ${server.headers.authorization}`]
  const socket = await openSocket(server.port)
  socket.pause()
  const head = [...lines, 'Content-Type: application/json', `Content-Length: ${body.length}`]
  socket.write(['POST /run_sse HTTP/1.1', ...head, '', body].join('\r\n'))
  const metrics = async (): Promise<string> =>
    (await fetch(`${server.url}/metrics`, { headers: server.headers })).text()
  await expect.poll(metrics, { timeout: 5_000 }).toContain('toolwright_stream_detaches_total 1')
  await slow.started // the run goes on without its reader
  slow.release()
  await expect.poll(metrics, { timeout: 5_000 }).toContain('toolwright_active_runs 0')
  const path = `${server.url}/apps/loud/users/ada/sessions/${sessionId}`
  const stored = await (await server.server.fetch(new Request(path, { headers: server.headers }))).text()
  expect(stored).toContain('"Done."')
  expect(stored.match(/"\d+:x/g)).toHaveLength(40)
  expect(slow.outcomes).toEqual(['finished'])
})

test('a client that does not read its response is cut off; a silent stream and a slow run are not', async () => {
  const slow = slowAgent()
  const server = await startServer({
    apps: { slow: slow.agent },
    limits: { streamStallMs: 50, stateBytes: 10_000_000 },
  })
  const { url, headers, port } = server
  const body = JSON.stringify({ sessionId: 'large', state: { text: 'x'.repeat(9_000_000) } })
  await server.server.fetch(new Request(`${url}/apps/slow/users/ada/sessions`, { method: 'POST', headers, body }))
  const response = await run(server, runBody(await createSession(server, 'slow/users/ada'), 'slow'))
  await slow.started
  const socket = await openSocket(port)
  const lines = [`Host: 127.0.0.1:${port}`, `Authorization: ${headers.authorization}`]
  socket.pause().write(['GET /apps/slow/users/ada/sessions/large HTTP/1.1', ...lines, '', ''].join('\r\n'))
  // a client that does not read sees the end of its connection when it writes
  const isCutOff = (): boolean => !socket.write('\r\n') || socket.destroyed
  await expect.poll(isCutOff, { interval: 200, timeout: 5_000 }).toBe(true)
  slow.release()
  expect(await response.text()).toContain('Done.')
})

test('close() frees the port also when listen() has not resolved yet, and a second listen() is refused at once', async () => {
  const server = createServer({ apps: { hello: helloAgent() } })
  const listening = server.listen({ port: 0 })
  await expect(server.listen({ port: 0 })).rejects.toThrow('can listen once')
  const [{ url }] = await Promise.all([listening, server.close()])
  await expect(fetch(`${url}/health`)).rejects.toThrow()
  const taken = await startServer()
  const other = createServer({ apps: { hello: helloAgent() } })
  onTestFinished(() => other.close())
  await expect(other.listen({ port: taken.port })).rejects.toThrow('EADDRINUSE')
  expect((await fetch(`${(await other.listen({ port: 0 })).url}/health`)).status).toBe(200)
})

test('close() lets a short run finish for its reader', async () => {
  const slow = slowAgent()
  const server = await startServer({ apps: { slow: slow.agent } })
  const response = await run(server, runBody(await createSession(server, 'slow/users/ada'), 'slow'))
  await slow.started
  const closed = server.server.close()
  await expect(fetch(`${server.url}/health`)).rejects.toThrow()
  slow.release()
  expect(await response.text()).toContain('Done.')
  await closed
  expect(slow.outcomes).toEqual(['finished'])
})

test('close() leaves a long run interrupted, and a new server completes it', async () => {
  const slow = slowAgent()
  const first = new Runner({ appName: 'slow', agent: slow.agent })
  const server = await startServer({ apps: { slow: first }, limits: { drainMs: 50 } })
  const sessionId = await createSession(server, 'slow/users/ada')
  const response = await run(server, runBody(sessionId, 'slow'))
  await slow.started
  await Promise.all([server.server.close(), server.server.close()])
  const [last] = (await response.text()).trimEnd().split('\n\n').slice(-1)
  expect(last).toContain('"errorCode":"INTERRUPTED"')
  expect(slow.outcomes).toEqual(['aborted'])

  const again = slowAgent()
  again.release()
  const agent = new LlmAgent({ name: 'slow', model: scriptedModel(['Done.']), tools: [again.tool] })
  const second = new Runner({ appName: 'slow', agent, sessionService: first.sessionService })
  onTestFinished(() => second.close())
  const [recovered] = await second.recover()
  for await (const _ of recovered ?? []);
  const session = await second.sessionService.getSession({ appName: 'slow', userId: 'ada', sessionId })
  expect(JSON.stringify(session?.events)).toContain('Done.')
})

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  })
}
