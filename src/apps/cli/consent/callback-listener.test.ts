import { once } from 'node:events'
import { request as send } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type LoopbackAddress, loopbackAddress } from '../../../services/auth/consent/authorization-link.ts'
import { type CallbackListener, listenForCallback } from './callback-listener.ts'
import { freePort } from './free-port.test-kit.ts'

/** An address whose port is free. */
async function freeAddress(host = '127.0.0.1'): Promise<LoopbackAddress> {
  return loopbackAddress(`http://${host}:${await freePort()}/callback`) as LoopbackAddress
}

async function start(host?: string): Promise<{ listener: CallbackListener; base: string; address: LoopbackAddress }> {
  const address = await freeAddress(host)
  const listener = await listenForCallback(address, 's1')
  onTestFinished(() => listener.close())
  return { listener, base: address.url.href, address }
}

/** Sends a request whose target is written as given. */
async function sendRaw({ port }: LoopbackAddress, path: string, headers = {}): Promise<number | undefined> {
  const sent = send({ host: '127.0.0.1', port, path, headers }).end()
  const [response] = await once(sent, 'response')
  response.resume()
  return response.statusCode
}

test('listenForCallback() returns the callback URL and shows a page that reflects nothing', async () => {
  const { listener, base } = await start()
  const callback = `${base}?code=c%3Cb%3E&state=s1&iss=http%3A%2F%2F127.0.0.1`
  const response = await fetch(callback)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-security-policy')).toBe("default-src 'none'")
  const page = await response.text()
  expect(page).toContain('You can close this window')
  expect(page).not.toMatch(/s1|<b>|%3Cb/)
  expect(await listener.callback).toBe(callback)
})

test('listenForCallback() accepts the error of a user who declined at the provider', async () => {
  const { listener, base } = await start()
  await fetch(`${base}?error=access_denied&state=s1`)
  expect(await listener.callback).toBe(`${base}?error=access_denied&state=s1`)
})

test.each([
  ['another state', '?code=c1&state=s2', 'GET', 400],
  ['a part of the state', '?code=c1&state=s', 'GET', 400],
  ['no state', '?code=c1', 'GET', 400],
  ['two states', '?code=c1&state=s1&state=s1', 'GET', 400],
  ['no code', '?state=s1', 'GET', 400],
  ['two codes', '?code=c1&code=c2&state=s1', 'GET', 400],
  ['POST', '?code=c1&state=s1', 'POST', 404],
  ['another path', '/more?code=c1&state=s1', 'GET', 404],
])('listenForCallback() refuses a request with %s and keeps listening', async (_, rest, method, status) => {
  const { listener, base } = await start()
  const response = await fetch(`${base}${rest}`, { method })
  expect(response.status).toBe(status)
  expect(await response.text()).not.toContain('c1')
  await fetch(`${base}?code=good&state=s1`)
  expect(await listener.callback).toContain('code=good')
})

test('listenForCallback() refuses a request for another host', async () => {
  const { address } = await start()
  const target = '/callback?code=c1&state=s1'
  expect(await sendRaw(address, target, { host: `attacker.example:${address.port}` })).toBe(404)
  expect(await sendRaw(address, `http://attacker.example${target}`)).toBe(404)
  expect(await sendRaw(address, `//attacker.example${target}`)).toBe(404)
  expect(await sendRaw(address, 'http://[')).toBe(400)
  expect(await sendRaw(address, target)).toBe(200)
})

// other systems have no 127.0.0.2
test.skipIf(process.platform !== 'linux')('listenForCallback() binds only the host of the redirect URI', async () => {
  const { address } = await start()
  const [other] = await once(connect({ host: '127.0.0.2', port: address.port }), 'error')
  expect(other).toMatchObject({ code: 'ECONNREFUSED' })
})

test('listenForCallback() listens for localhost too', async () => {
  const { listener, address } = await start('localhost')
  expect(await sendRaw(address, '/callback?code=c1&state=s1', { host: address.url.host })).toBe(200)
  expect(await listener.callback).toBe(`${address.url.href}?code=c1&state=s1`)
})

test('listenForCallback() rejects for a port in use', async () => {
  const { address } = await start()
  await expect(listenForCallback(address, 's2')).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('close() frees the port, also while a browser is connected', async () => {
  const { listener, address } = await start()
  const idle = connect({ host: '127.0.0.1', port: address.port })
  await once(idle, 'connect')
  idle.on('error', () => {})
  await listener.close()
  await listener.close()
  const again = await listenForCallback(address, 's1')
  await again.close()
})
