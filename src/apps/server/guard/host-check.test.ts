import { beforeAll, expect, test } from 'vitest'
import { createServer } from '../create-server.ts'
import { helloAgent, rawRequest, sendRaw, statusOf } from '../edge.test-kit.ts'
import { AllowedHosts } from './allowed-hosts.ts'

const server = createServer({ apps: { hello: helloAgent() }, allowedHosts: ['agents.example.com'] })
let port = 0
beforeAll(async () => {
  ;({ port } = await server.listen({ port: 0 }))
  return () => server.close()
})

const auth = `Authorization: Bearer ${server.token}`
const get = (path: string, ...headers: string[]): Promise<string> =>
  sendRaw(port, rawRequest(`GET ${path} HTTP/1.1`, [auth, ...headers]))

test('answers under its own names', async () => {
  for (const host of [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LocalHost:${port}`,
    `[::1]:${port}`,
    'agents.example.com',
  ])
    expect(statusOf(await get('/list-apps', `Host: ${host}`)), host).toBe(200)
})

test.each([
  'evil.test',
  'evil.test:8000',
  'localhost', // another port
  'localhost.evil.test',
  'localhost.',
  '127.0.0.1.evil.test',
  'agents.example.com:8080',
  'agents.example.com.evil.test',
  '127.1',
  '2130706433',
  '[::ffff:127.0.0.1]',
  '0.0.0.0',
  '127.0.0.1@evil.test',
  '',
])('refuses the host "%s" on every kind of request, before authentication', async (name) => {
  const withPort = name.includes(':') || name === '' || name === 'localhost' ? name : `${name}:${port}`
  const host = `Host: ${withPort}`
  const upgrade = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: x']
  const answers = await Promise.all([
    get('/health', host),
    get('/list-apps', host),
    get('/', host),
    sendRaw(port, rawRequest('POST /run_sse HTTP/1.1', [host, 'Content-Length: 2'], '{}')),
    sendRaw(port, [`GET /run_live HTTP/1.1`, host, auth, ...upgrade, '', ''].join('\r\n')),
  ])
  for (const answer of answers) expect([400, 403]).toContain(statusOf(answer))
  expect(answers.join()).not.toContain('hello')
})

test('refuses a second host, in a header, in the request line, or from a proxy', async () => {
  const own = `Host: 127.0.0.1:${port}`
  const evil = 'Host: evil.test'
  expect(statusOf(await get('/list-apps', own, evil))).toBe(403)
  expect(statusOf(await get('/list-apps', evil, own))).toBe(403)
  expect(statusOf(await get(`http://evil.test:${port}/list-apps`, own))).toBe(403)
  expect(statusOf(await get(`http://127.0.0.1:${port}/list-apps`, evil))).toBe(403)
  expect(statusOf(await sendRaw(port, rawRequest('GET /list-apps HTTP/1.0', [auth])))).toBe(400)
  expect(statusOf(await sendRaw(port, rawRequest('GET /list-apps HTTP/1.1', [auth])))).toBe(400)
  // a header that any client can send changes nothing
  expect(statusOf(await get('/list-apps', evil, `X-Forwarded-Host: 127.0.0.1:${port}`))).toBe(403)
  expect(statusOf(await get('/list-apps', own, 'X-Forwarded-Host: evil.test'))).toBe(200)
})

test('behind fetch(), accepts loopback names and `allowedHosts`', async () => {
  const behind = createServer({ apps: { hello: helloAgent() }, allowedHosts: ['agents.example.com'] })
  const status = async (url: string): Promise<number> => (await behind.fetch(new Request(`${url}/health`))).status
  expect(await status('http://localhost:3000')).toBe(200)
  expect(await status('https://agents.example.com')).toBe(200)
  expect(await status('https://evil.test')).toBe(403)
})

test('refuses patterns and addresses with a scheme in `allowedHosts`', () => {
  for (const host of ['*', '*.example.com', 'https://agents.example.com', 'agents.example.com/', ''])
    expect(() => createServer({ apps: { hello: helloAgent() }, allowedHosts: [host] }), host).toThrow('in full')
})

test('on all addresses, accepts addresses and no other names', () => {
  const hosts = new AllowedHosts()
  hosts.bind('0.0.0.0', 80)
  expect(['10.0.0.7', '10.0.0.7:80', 'localhost', '[fe80::1]:80'].filter((host) => !hosts.has(host))).toEqual([])
  expect(['10.0.0.7:81', 'evil.test', '10.0.0.7.evil.test:80'].filter((host) => hosts.has(host))).toEqual([])
})
