import { createServer, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { LiveConnectionError } from '../../../engine/model/live-model.ts'
import { geminiLiveServer } from '../../testing/gemini-live-server.ts'
import { KEY } from '../gemini.test-kit.ts'
import { dial, VERTEX } from './live.test-kit.ts'
import type { GeminiLiveOptions } from './options.ts'

/** The error of an attempt that fails. */
async function failureOf(attempt: Promise<unknown>): Promise<LiveConnectionError> {
  const error: unknown = await attempt.then(
    () => undefined,
    (thrown) => thrown,
  )
  if (error instanceof LiveConnectionError) return error
  throw new Error('Expected a LiveConnectionError.', { cause: error })
}

/** A TCP server that answers a handshake with the given bytes, or never. */
async function tcpServer(answer?: string): Promise<AsyncDisposable & { url: string; closed: Promise<void> }> {
  const closed = Promise.withResolvers<void>()
  const server: Server = createServer((socket) => {
    socket.on('error', () => {}).resume()
    socket.on('close', () => closed.resolve())
    if (answer !== undefined) socket.end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const end = async (): Promise<void> => void server.close()
  return { url: `http://127.0.0.1:${port}`, closed: closed.promise, [Symbol.asyncDispose]: end }
}

test('a refused port is an error that names the model and may be tried again', async () => {
  const gone = await tcpServer()
  await gone[Symbol.asyncDispose]()
  const error = await failureOf(dial(gone))
  expect(error).toMatchObject({ code: 1006, recover: 'resume' })
  expect(error.message).toMatch(
    /^Model "gemini-2.5-flash-live" did not accept the live connection: close code 1006, connect ECONNREFUSED 127.0.0.1:\d+\. Check baseUrl/,
  )
})

test.each([
  [401, 'nothing'],
  [403, 'nothing'],
  [404, 'nothing'],
  [429, 'resume'],
  [503, 'resume'],
])('status %i of the handshake is an error with recover %j', async (status, recover) => {
  await using server = await tcpServer(`HTTP/1.1 ${status} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  const error = await failureOf(dial(server))
  expect(error).toMatchObject({ code: status, recover })
  expect(error.message).toContain(`HTTP status ${status}`)
})

test.each<[number, string, string, string | undefined]>([
  [1008, 'Publisher model was not found.', 'nothing', undefined],
  [1008, 'The operation was aborted.', 'resume', undefined],
  [1007, 'Request contains an invalid argument.', 'nothing', undefined],
  [1007, 'Request contains an invalid argument.', 'fresh', 'old-handle'],
  [1007, 'API key expired. Please renew the API key.', 'nothing', 'old-handle'],
  [1011, 'Internal error encountered.', 'resume', undefined],
  [1012, 'Restart.', 'resume', undefined],
  [1013, 'Try later.', 'resume', undefined],
  [1001, '', 'resume', undefined],
  [1000, '', 'resume', undefined],
])('a setup refused with %i %j is an error with recover %j', async (code, reason, recover, resumeHandle) => {
  await using server = await geminiLiveServer({
    acceptSetup: false,
    onConnection: (connection) => connection.close(code, reason),
  })
  const error = await failureOf(dial(server, { resumeHandle }))
  expect(error).toMatchObject({ code, recover })
  expect(error.message).toContain('Model "gemini-2.5-flash-live" did not accept the live connection')
  expect(error.message).toContain(`close code ${code}`)
  expect(error.message).toContain(reason.replace(/\.$/, ''))
})

test('a socket that breaks before the setup is answered may be connected again', async () => {
  await using server = await geminiLiveServer({ acceptSetup: false, onConnection: (connection) => connection.drop() })
  expect(await failureOf(dial(server))).toMatchObject({ code: 1006, recover: 'resume' })
})

test('a rejected handle asks for a fresh connection, which works', async () => {
  await using server = await geminiLiveServer({ rejectHandles: ['expired'] })
  const error = await failureOf(dial(server, { resumeHandle: 'expired' }))
  expect(error).toMatchObject({ code: 1007, recover: 'fresh' })
  expect(error.message).toContain('connect without a handle')
  const connection = await dial(server)
  connection.close()
})

test('a wrong key is refused without naming the key, and the right key works', async () => {
  await using server = await geminiLiveServer({ apiKey: KEY })
  const wrong = 'my-own-proxy-credential'
  const error = await failureOf(dial(server, { options: { apiKey: wrong } }))
  expect(error).toMatchObject({ code: 1007, recover: 'nothing' })
  expect(error.message).toContain('API key not valid')
  expect(error.message).toContain('Check the API key')
  const connection = await dial(server)
  connection.close()
})

test.each<[string, string, GeminiLiveOptions]>([
  ['a key', 'my-own-proxy-credential', { apiKey: 'my-own-proxy-credential' }],
  ['a token', 'plain-access-value', { ...VERTEX, accessToken: 'plain-access-value' }],
  ['a token of a function', 'plain-access-value', { ...VERTEX, accessToken: () => 'plain-access-value' }],
  ['a header', 'plain-header-value', { headers: { 'x-gateway-token': 'plain-header-value' } }],
])('no error contains %s that the service repeats', async (_, secret, options) => {
  await using server = await geminiLiveServer({
    acceptSetup: false,
    onConnection: (connection) => connection.close(1008, `Denied: ${secret}`),
  })
  const error = await failureOf(dial(server, { options }))
  expect(error.message).toContain('Denied: [hidden]')
  expect([error.message, error.stack, String(error.cause)].join()).not.toContain(secret)
})

test('Vertex AI without valid credentials is refused with status 401', async () => {
  await using server = await geminiLiveServer({ apiKey: 'another-token' })
  const error = await failureOf(dial(server, { options: VERTEX }))
  expect(error).toMatchObject({ code: 401, recover: 'nothing' })
  expect(error.message).toContain('Check the credentials, the project and the location')
})

test('an access token that cannot be fetched is an error, and nothing is connected', async () => {
  await using server = await geminiLiveServer()
  const accessToken = (): Promise<string> => Promise.reject(new Error('The vault is sealed.'))
  const error = await failureOf(dial(server, { options: { ...VERTEX, accessToken } }))
  expect(error.recover).toBe('nothing')
  expect(error.message).toContain('could not be connected: The vault is sealed. Check the credentials')
  expect(server.connections).toEqual([])
})

test('a service that never answers the setup is a timeout, and its socket is closed', async () => {
  await using server = await geminiLiveServer({ acceptSetup: false })
  const error = await failureOf(dial(server, { options: { connectTimeoutMs: 50 } }))
  expect(error).toMatchObject({ code: undefined, recover: 'resume' })
  expect(error.message).toContain('did not accept the live connection within 50 ms')
  await expect(server.connections[0]?.next('toolResponse')).rejects.toThrow('ended')
})

test('a service that never answers the handshake is a timeout, and its socket is closed', async () => {
  await using server = await tcpServer()
  const error = await failureOf(dial(server, { options: { connectTimeoutMs: 50 } }))
  expect(error.recover).toBe('resume')
  await server.closed
})

test('an aborted attempt ends at once, and its socket is closed', async () => {
  const controller = new AbortController()
  await using server = await geminiLiveServer({
    acceptSetup: false,
    onConnection: () => controller.abort(new Error('The user hung up.')),
  })
  const error = await failureOf(dial(server, { signal: controller.signal }))
  expect(error.recover).toBe('nothing')
  expect(error.message).toContain('was aborted')
  expect(String(error.cause)).toContain('The user hung up.')
  await expect(server.connections[0]?.next('toolResponse')).rejects.toThrow('ended')
})

test('an attempt that is aborted before it starts connects nothing', async () => {
  await using server = await geminiLiveServer()
  const error = await failureOf(dial(server, { signal: AbortSignal.abort() }))
  expect(error.recover).toBe('nothing')
  expect(server.connections).toEqual([])
})

test('an attempt that is aborted while a token is fetched connects nothing', async () => {
  await using server = await geminiLiveServer()
  const controller = new AbortController()
  const token = Promise.withResolvers<string>()
  const accessToken = (): Promise<string> => {
    controller.abort()
    return token.promise
  }
  const error = await failureOf(dial(server, { options: { ...VERTEX, accessToken }, signal: controller.signal }))
  expect(error.recover).toBe('nothing')
  token.resolve('late-token')
  const connection = await dial(server, { options: VERTEX })
  connection.close()
  expect(server.connections.map(({ headers }) => headers.authorization)).toEqual(['Bearer ya29.secret-token'])
})

test('settings that the client refuses are an error, and the socket is closed', async () => {
  await using server = await geminiLiveServer()
  const error = await failureOf(dial(server, { options: { config: { explicitVadSignal: true } } }))
  expect(error.recover).toBe('nothing')
  expect(error.message).toContain('explicitVadSignal')
  await expect(server.connections[0]?.next('setup')).rejects.toThrow('ended')
})

test('timers and abort listeners of an attempt are removed', async () => {
  const timers = new Set<unknown>()
  const ports = {
    setTimer: (callback: () => void, ms: number): (() => void) => {
      const timer = setTimeout(callback, ms)
      timers.add(timer)
      return () => {
        timers.delete(timer)
        clearTimeout(timer)
      }
    },
  }
  let listeners = 0
  const { signal } = new AbortController()
  const { addEventListener, removeEventListener } = signal
  signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners++
    addEventListener.apply(signal, given)
  }
  signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners--
    removeEventListener.apply(signal, given)
  }
  await using refusing = await geminiLiveServer({ apiKey: 'other' })
  await failureOf(dial(refusing, { options: { ports }, signal }))
  await using server = await geminiLiveServer()
  const connection = await dial(server, { options: { ports }, signal })
  expect([timers.size, listeners]).toEqual([0, 0])
  connection.close()
})

test('a service that accepts before it got a setup does not end the process', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  server.on('connection', (socket) => socket.send('{"setupComplete":{}}'))
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  const connection = await dial({ url: `http://127.0.0.1:${port}` })
  connection.close()
  server.close()
  for (const client of server.clients) client.terminate()
})
