import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Ingress, urlOf } from './ingress.ts'
import { openCall } from './sealed-call.ts'

const SECRET = 'x'.repeat(32)
const TARGET = { service: 'toolwright-shop', key: '["a/b?","ü"]', handler: 'run' }

/** A server in the place of Restate. Returns its address, and what it was sent. */
async function listen(answer: (response: ServerResponse, request: IncomingMessage) => void) {
  const requests: { readonly url: string; readonly body: unknown }[] = []
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('')
    requests.push({ url: String(request.url), body: body && JSON.parse(body) })
    answer(response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

test('a call is signed, goes to its object, and returns its result', async () => {
  const { url, requests } = await listen((response) => sendJson(response, 200, { sessionId: 's1' }))
  const ingress = new Ingress({ ingress: `${url}/restate`, secret: SECRET })
  expect(await ingress.call(TARGET, { message: 'Pay.' })).toEqual({ sessionId: 's1' })
  await ingress.send({ ...TARGET, handler: 'wake' }, {})
  const path = `/restate/toolwright-shop/${encodeURIComponent(TARGET.key)}`
  expect(requests.map((one) => one.url)).toEqual([`${path}/run`, `${path}/wake/send`])
  expect(openCall(SECRET, TARGET, requests[0]?.body, Date.now()).input).toEqual({ message: 'Pay.' })
})

test('a handler without a result returns nothing', async () => {
  const { url } = await listen((response) => response.end())
  expect(await new Ingress({ ingress: url, secret: SECRET }).call(TARGET, {})).toBeUndefined()
})

test('throws the error of a handler with its code', async () => {
  const body = { error: 'Request "r1" already has a different answer.', errorCode: 'ALREADY_ANSWERED' }
  const { url } = await listen((response) => sendJson(response, 409, { message: JSON.stringify(body) }))
  await expect(new Ingress({ ingress: url, secret: SECRET }).call(TARGET, {})).rejects.toMatchObject({
    code: 'ALREADY_ANSWERED',
    message: body.error,
  })
})

test.each([
  ['a service that no worker has registered', 404, { message: 'service not found' }, 'UNAVAILABLE', /Start a worker/],
  ['a message that is too large', 413, { message: 'length limit exceeded' }, 'TOO_LARGE', /refuses the size/],
  ['a failure of Restate', 500, { message: 'no leader' }, 'UNAVAILABLE', /cannot be called: 500 no leader/],
  ['a proxy that fails', 502, '<html>', 'UNAVAILABLE', /cannot be called: 502/],
  ['an error of a handler that is not ours', 500, { message: '"text"' }, 'UNAVAILABLE', /500 "text"/],
])('says what to do about %s', async (_what, status, body, code, message) => {
  const { url } = await listen((response) => sendJson(response, status, body))
  await expect(new Ingress({ ingress: url, secret: SECRET }).call(TARGET, {})).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  })
})

test('says that an address is not Restate: a page, a closed port, a server that hangs up', async () => {
  const page = await listen((response) => response.end('<html>Welcome</html>'))
  const rude = await listen((_response, request) => request.socket.destroy())
  for (const [url, reason] of [
    [page.url, /not JSON\. Is it the ingress of Restate\?/],
    [rude.url, /cannot be called/],
    ['http://127.0.0.1:9', /cannot be called/],
  ] as const) {
    const ingress = new Ingress({ ingress: url, secret: SECRET })
    const error = expect.objectContaining({ code: 'UNAVAILABLE', message: expect.stringMatching(reason) })
    await expect(ingress.send(TARGET, {})).rejects.toEqual(error)
  }
})

test('follows no redirect: it would take the signed call to another server', async () => {
  const other = await listen((response) => sendJson(response, 200, {}))
  const { url } = await listen((response) => response.writeHead(307, { location: `${other.url}/x` }).end())
  await expect(new Ingress({ ingress: url, secret: SECRET }).call(TARGET, {})).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  })
  expect(other.requests).toEqual([])
})

test('a caller that stops waiting gets an error', async () => {
  const stop = new AbortController()
  const { url } = await listen(() => stop.abort())
  const called = new Ingress({ ingress: url, secret: SECRET }).call(TARGET, {}, stop.signal)
  await expect(called).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

test.each([
  'not an address',
  'ftp://127.0.0.1',
  'http://ada:secret@127.0.0.1',
  'http://127.0.0.1/?token=1',
  'http://127.0.0.1/#x',
  '',
])('refuses the address %j', (ingress) => {
  expect(() => new Ingress({ ingress, secret: SECRET })).toThrow(/`ingress` must be an http or https address/)
})

test('an address may have a path, with or without a slash at its end', () => {
  expect(String(urlOf('ingress', 'https://fleet.test/restate'))).toBe('https://fleet.test/restate/')
  expect(String(urlOf('ingress', new URL('http://127.0.0.1:8080')))).toBe('http://127.0.0.1:8080/')
})
