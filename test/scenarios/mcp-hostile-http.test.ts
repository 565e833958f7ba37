// MCP servers over HTTP that hang, break off, flood, redirect and refuse.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { InMemoryCredentialService, type JsonObject } from 'toolwright'
import { describe, expect, test } from 'vitest'
import type { Exchange, HttpBehaviour } from '../mcp/hostile/http-server.ts'
import { callOnce, hostileHttp, meet, type Outcome } from '../mcp/hostile-kit.ts'
import { responsesOf } from './kit.ts'

const LOST = { errorCode: 'UNKNOWN_OUTCOME', error: expect.stringContaining('(connection_closed)') }
const TIMED_OUT = { errorCode: 'UNKNOWN_OUTCOME', error: expect.stringContaining('timed out after 300 ms') }

/** Misbehaves on calls of `evil` only. */
function onCall(http: (exchange: Exchange) => void): HttpBehaviour {
  return {
    about: 'Misbehaves on one call.',
    http: (exchange) => {
      const { method, params } = exchange.message ?? {}
      if (method !== 'tools/call' || params?.name !== 'evil') return false
      http(exchange)
      return true
    },
  }
}

function sse(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' })
}

/** Writes a chunk again and again, until the client goes away. */
function endless(response: ServerResponse, chunk: string | Buffer): void {
  const more = (): void => {
    while (!response.destroyed) if (!response.write(chunk)) return void response.once('drain', more)
  }
  more()
}

async function callEvil(behaviour: HttpBehaviour, timeout = 5_000): Promise<Outcome> {
  await using server = await hostileHttp(behaviour)
  return await callOnce({
    connection: server.connection,
    calls: [{ name: 'evil' }, { name: 'echo', args: { text: 'hi' } }],
    options: { callTimeoutMs: timeout },
  })
}

describe('a call has a clear result when the server', () => {
  const cases: [what: string, http: (exchange: Exchange) => void, expected: JsonObject, timeout?: number][] = [
    ['sends no headers', () => {}, TIMED_OUT, 300],
    ['sends no body', ({ response }) => sse(response).flushHeaders(), TIMED_OUT, 300],
    ['answers 202 and nothing else', ({ response }) => response.writeHead(202).end(), TIMED_OUT, 300],
    ['ends the stream without an answer', ({ response }) => sse(response).end(': nothing\n\n'), LOST],
    [
      'resets the connection in the stream',
      ({ response }) => {
        sse(response).write('data: {"jsonrpc"')
        setTimeout(() => response.destroy(), 20)
      },
      LOST,
    ],
    ['resets the connection at once', ({ response }) => response.destroy(), LOST],
    [
      'answers with a page',
      ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>'),
      LOST,
    ],
    ['answers without a content type', ({ response }) => response.writeHead(200).end('{}'), LOST],
    [
      'answers with JSON that is no message',
      ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
      LOST,
    ],
    [
      'answers with broken JSON',
      ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc'),
      LOST,
    ],
    [
      'sends an event without end, in many lines',
      ({ response }) => endless(sse(response), `data: ${'x'.repeat(1_000_000)}\n`),
      LOST,
    ],
    ['sends a line without end', ({ response }) => endless(sse(response), 'x'.repeat(1_000_000)), LOST],
    [
      'sends JSON without end',
      ({ response }) => endless(response.writeHead(200, { 'content-type': 'application/json' }), ' '.repeat(1_000_000)),
      LOST,
    ],
    [
      'sends single bytes without end',
      ({ response }) => {
        sse(response)
        const timer = setInterval(() => response.write(':'), 1)
        response.on('close', () => clearInterval(timer))
      },
      TIMED_OUT,
      300,
    ],
    [
      'sends a gzip bomb',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        response.end(BOMB)
      },
      LOST,
    ],
    [
      'refuses with 403',
      ({ response }) => response.writeHead(403).end('no'),
      { error: 'The MCP server of tool "evil" refused the call with HTTP status 403.', errorCode: 'EXECUTION_FAILED' },
    ],
    ['fails with 500', ({ response }) => response.writeHead(500).end('x'.repeat(100_000)), LOST],
  ]
  test.each(cases)('%s', async (_, http, expected, timeout) => {
    const { response, responses } = await callEvil(onCall(http), timeout)
    expect(response).toMatchObject(expected)
    expect(responses.find(({ name }) => name === 'echo')?.response).toEqual({ text: 'echo {"text":"hi"}' })
  })
})

/** 200 MB of spaces. */
const BOMB = gzipSync(Buffer.alloc(200_000_000, ' '), { level: 1 })

describe('the older transport', () => {
  test('works', async () => {
    await using server = await hostileHttp('honest', { kind: 'sse' })
    const { response } = await callOnce({ connection: server.connection, calls: [{ name: 'echo' }] })
    expect(response).toEqual({ text: 'echo {}' })
  })

  test('ends calls at once when its stream breaks off, and connects again for the next', async () => {
    const streams: ServerResponse[] = []
    await using server = await hostileHttp(
      {
        about: 'Breaks the stream off during a call.',
        call: () => streams.at(-1)?.destroy(),
        http: ({ request, response }) => {
          if (request.method === 'GET') streams.push(response)
          return false
        },
      },
      { kind: 'sse' },
    )
    const steps = [{ calls: [{ name: 'evil' }] }, { calls: [{ name: 'echo' }] }, 'done']
    await using meeting = meet({ connection: server.connection, steps })
    const [first, second] = responsesOf((await meeting.send()).events)
    expect(first?.response).toMatchObject(LOST)
    expect(second?.response).toEqual({ text: 'echo {}' })
    expect(streams).toHaveLength(2)
  })

  test('does not send messages to another origin', async () => {
    await using target = await hostileHttp('honest', { host: '127.0.0.2' })
    await using server = await hostileHttp(
      {
        about: 'Names an endpoint at another origin.',
        http: ({ request, response }) => {
          if (request.method !== 'GET') return false
          sse(response).write(`event: endpoint\ndata: ${target.url}\n\n`)
          return true
        },
      },
      { kind: 'sse' },
    )
    const { offered, lines } = await callOnce({ connection: server.connection, calls: [] })
    expect(offered).toEqual([])
    expect(lines[0]).toContain('the MCP server cannot be used')
    expect(target.connections).toBe(0)
  })
})

describe('a redirect', () => {
  const redirecting = (location: string, status = 307): HttpBehaviour => ({
    about: 'Redirects.',
    http: ({ request, response }) => {
      if (request.url !== '/mcp') return false
      response.writeHead(status, { location }).end()
      return true
    },
  })

  test.each([301, 302, 303, 307, 308])('with status %i to another origin is not followed', async (status) => {
    await using target = await hostileHttp('honest', { host: '127.0.0.2' })
    await using server = await hostileHttp(redirecting(target.url, status))
    const { offered, lines } = await callOnce({
      connection: server.connection,
      calls: [],
      options: { headers: () => ({ authorization: 'Bearer canary-token' }) },
    })
    expect(offered).toEqual([])
    expect(lines[0]).toContain('not followed')
    expect(target.connections).toBe(0)
  })

  test('within the origin is followed', async () => {
    await using server = await hostileHttp(redirecting('/other'))
    const { response } = await callOnce({ connection: server.connection, calls: [{ name: 'echo' }] })
    expect(response).toEqual({ text: 'echo {}' })
  })

  test('within the origin in a circle ends', async () => {
    await using server = await hostileHttp(redirecting('/mcp'))
    const { offered } = await callOnce({ connection: server.connection, calls: [] })
    expect(offered).toEqual([])
    expect(server.requests.length).toBeLessThan(100)
  })
})

describe('a session', () => {
  test('that the server has forgotten is started again, and the call runs once', async () => {
    let forgotten = 0
    await using server = await hostileHttp({
      about: 'Forgets the first session.',
      http: ({ request, response, message }) => {
        if (message?.method !== 'tools/call' || forgotten > 0) return false
        forgotten++
        expect(request.headers['mcp-session-id']).toMatch(/^session-/)
        response.writeHead(404).end()
        return true
      },
    })
    const { response } = await callOnce({ connection: server.connection, calls: [{ name: 'echo' }] })
    expect(response).toEqual({ text: 'echo {}' })
    expect(server.memory.calls).toBe(1)
    const sessions = server.requests.map(({ headers }) => headers['mcp-session-id']).filter(Boolean)
    expect(new Set(sessions).size).toBe(2)
  })

  test('that the server always forgets fails after one more try', async () => {
    await using server = await hostileHttp({
      about: 'Knows no session.',
      http: ({ response, message }) => {
        if (message?.method !== 'tools/call') return false
        response.writeHead(404).end()
        return true
      },
    })
    const { response } = await callOnce({ connection: server.connection, calls: [{ name: 'echo' }] })
    expect(response).toMatchObject({ error: expect.stringContaining('HTTP status 404') })
  })

  test('is ended when the runner closes, also if the server does not answer', async () => {
    await using server = await hostileHttp({
      about: 'Does not answer DELETE.',
      http: ({ request }) => request.method === 'DELETE',
    })
    await callOnce({ connection: server.connection, calls: [{ name: 'echo' }] })
    expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
  })
})

test('a server that fails on the request of the new protocol is used with the old one', async () => {
  await using server = await hostileHttp({
    about: 'Answers 500 to the probe.',
    http: ({ response, message }) => {
      if (message?.method !== 'server/discover') return false
      response.writeHead(500).end()
      return true
    },
  })
  const { response } = await callOnce({ connection: server.connection, calls: [{ name: 'echo' }] })
  expect(response).toEqual({ text: 'echo {}' })
})

test('a server that refuses every credential is asked a few times only', async () => {
  await using server = await hostileHttp({
    about: 'Answers 401 without a challenge.',
    http: ({ response }) => {
      response.writeHead(401).end()
      return true
    },
  })
  const { offered, lines } = await callOnce({
    connection: server.connection,
    calls: [],
    runner: { credentialService: new InMemoryCredentialService() },
  })
  expect(offered).toEqual([])
  expect(lines.length).toBeGreaterThan(0)
  expect(server.requests.length).toBeLessThan(40)
})

test('a server that ends its event stream again and again is not asked without end', async () => {
  let streams = 0
  const busy = Promise.withResolvers<void>()
  await using server = await hostileHttp({
    about: 'Ends each stream at once, and wants it opened again at once.',
    http: ({ request, response }) => {
      if (request.method !== 'GET') return false
      if (++streams === 60) busy.resolve()
      sse(response).end(`id: ${streams}\nretry: 0\ndata: \n\n`)
      return true
    },
    call: (message, peer) => {
      // the streams end long before 1 s
      void busy.promise.then(() => setTimeout(() => peer.send({ id: message.id, result: { content: [] } }), 1_000))
    },
  })
  const { response } = await callOnce({ connection: server.connection, calls: [{ name: 'evil' }] })
  expect(response).toEqual({ status: 'completed' })
  expect(streams).toBeLessThanOrEqual(60)
})

test('a server that floods the client with requests it does not let finish gets 100 answers', async () => {
  let answers = 0
  await using server = await hostileHttp({
    about: 'Sends 1,000 pings, and holds the requests with the answers open.',
    http: ({ message }) => {
      if (message === undefined || message.method !== undefined) return false
      answers++
      return true
    },
    call: (message, peer) => {
      for (let at = 0; at < 1_000; at++) peer.send({ id: `ping-${at}`, method: 'ping' })
      setTimeout(() => peer.send({ id: message.id, result: { content: [] } }), 300)
    },
  })
  const { response } = await callOnce({ connection: server.connection, calls: [{ name: 'evil' }] })
  expect(response).toEqual({ status: 'completed' })
  expect(answers).toBe(100)
})

test('no connection is left open when the runner is closed', async () => {
  const server = createServer((_, response) => sse(response).flushHeaders())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/mcp`
  const { offered } = await callOnce({
    connection: { type: 'http', url },
    calls: [],
    options: { connectTimeoutMs: 200 },
  })
  expect(offered).toEqual([])
  await new Promise((resolve) => server.close(resolve)) // waits for the connections
})
