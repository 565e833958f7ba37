import { expect, test } from 'vitest'
import { createServer } from '../create-server.ts'
import { helloAgent, rawRequest, sendRaw, startServer, statusOf } from '../edge.test-kit.ts'

const ADMIN = 'https://admin.example.com'
const server = createServer({ apps: { hello: helloAgent() }, allowedOrigins: [ADMIN] })
const own = 'http://localhost:8000'

type Sent = Record<string, string>
function send(headers: Sent, { method = 'POST', path = '/apps/hello/users/ada/sessions', body = '{}' } = {}) {
  const hasBody = method !== 'GET' && method !== 'OPTIONS'
  return server.fetch(
    new Request(own + path, {
      method,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json', ...headers },
      ...(hasBody && { body }),
    }),
  )
}

test('accepts its own page, an allowed origin, and programs', async () => {
  expect((await send({})).status).toBe(200)
  expect((await send({ origin: own, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  const allowed = await send({ origin: ADMIN, 'sec-fetch-site': 'cross-site' })
  expect(allowed.status).toBe(200)
  expect(allowed.headers.get('access-control-allow-origin')).toBe(ADMIN)
  expect(allowed.headers.get('vary')).toContain('origin')
  expect(allowed.headers.has('access-control-allow-credentials')).toBe(false)
})

test.each([
  'null',
  'http://evil.test',
  'http://localhost.evil',
  'http://localhost:3000', // another port of this machine
  'http://127.0.0.1:8000', // not the name in this request
  'http://localhost:80000',
  'https://admin.example.com.evil.test',
  'https://admin.example.com:8443',
  'http://admin.example.com',
  'file://',
])('refuses the origin %s, also for reading, and never reflects it', async (origin) => {
  const sent = [
    send({ origin }),
    send({ origin }, { method: 'GET' }),
    send({ origin }, { method: 'GET', path: '/health' }),
  ]
  const preflight = send({ origin, 'access-control-request-method': 'POST' }, { method: 'OPTIONS' })
  for (const response of await Promise.all([...sent, preflight])) {
    expect(response.status).toBe(403)
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
  }
})

test('refuses what pages of other sites can send without an origin or a preflight', async () => {
  for (const site of ['cross-site', 'same-site']) {
    expect((await send({ 'sec-fetch-site': site })).status).toBe(403)
    const form = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect((await send(form)).status).toBe(403)
    const image = { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
    expect((await send(image, { method: 'GET' })).status).toBe(403)
    const frame = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
    expect((await send(frame, { method: 'GET' })).status).toBe(403)
  }
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'text/plain; application/json',
    '',
  ])
    expect((await send({ 'content-type': type })).status, type).toBe(400)
  // a link that a person follows may be anywhere
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  expect((await send(link, { method: 'GET' })).status).toBe(200)
})

test('answers a preflight with fixed lists, also one with 64 kB of header names', async () => {
  const names = 'x-a,'.repeat(16_000)
  const asked = { origin: ADMIN, 'access-control-request-method': 'POST', 'access-control-request-headers': names }
  const response = await send(asked, { method: 'OPTIONS' })
  expect(response.status).toBe(204)
  expect(response.headers.get('access-control-allow-headers')).toBe('authorization, content-type, last-event-id')
})

test('a WebSocket from a foreign or null origin is refused before it opens', async () => {
  const { port, headers } = await startServer()
  const open = async (...extra: string[]): Promise<number> => {
    const lines = [`Host: 127.0.0.1:${port}`, `Authorization: ${headers.authorization}`, 'Upgrade: websocket', ...extra]
    const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
    const text = ['GET /run_live?app_name=none HTTP/1.1', 'Connection: Upgrade', ...lines, ...key, '', ''].join('\r\n')
    return statusOf(await sendRaw(port, text))
  }
  expect(await open('Origin: http://evil.test')).toBe(403)
  expect(await open('Origin: null')).toBe(403)
  expect(await open(`Origin: http://localhost:${port}`)).toBe(403)
  expect(await open(`Origin: http://127.0.0.1:${port}`)).not.toBe(403)
  expect(statusOf(await sendRaw(port, rawRequest('GET /health HTTP/1.1', [`Host: 127.0.0.1:${port}`])))).toBe(200)
})

test('refuses patterns and paths in `allowedOrigins`', () => {
  const apps = { hello: helloAgent() }
  for (const origin of ['*', 'https://*.example.com', 'https://a.example.com/', 'admin.example.com', 'null'])
    expect(() => createServer({ apps, allowedOrigins: [origin] }), origin).toThrow('Write each origin in full')
})
