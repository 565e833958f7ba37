import { connect, type Socket } from 'node:net'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createServer } from '../create-server.ts'
import { helloAgent, rawRequest, sendRaw, statusOf } from '../edge.test-kit.ts'

const LIMIT = 10_000
const server = createServer({ apps: { hello: helloAgent() }, limits: { bodyBytes: LIMIT, requestTimeoutMs: 300 } })
const big = createServer({ apps: { hello: helloAgent() } })
let port = 0
beforeAll(async () => {
  ;({ port } = await server.listen({ port: 0 }))
  return () => server.close()
})

const path = '/apps/hello/users/ada/sessions'
const filled = (bytes: number): string => {
  const empty = '{"state":{"text":""}}'
  return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`)
}
const lines = (): string[] => [
  `Host: 127.0.0.1:${port}`,
  `Authorization: Bearer ${server.token}`,
  'Content-Type: application/json',
]
const post = (body: string, ...headers: string[]): Promise<string> =>
  sendRaw(port, rawRequest(`POST ${path} HTTP/1.1`, [...lines(), ...headers], body))
const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

test('accepts a body of exactly the limit, and none at all', async () => {
  expect(statusOf(await post(filled(LIMIT), `Content-Length: ${LIMIT}`))).toBe(200)
  expect(statusOf(await post(chunked(filled(LIMIT)), 'Transfer-Encoding: chunked'))).toBe(200)
  expect(statusOf(await post('', 'Content-Length: 0'))).toBe(200)
  expect(statusOf(await post('0\r\n\r\n', 'Transfer-Encoding: chunked'))).toBe(200)
})

test('refuses one byte more, with or without a length, and before it has arrived', async () => {
  expect(statusOf(await post(filled(LIMIT + 1), `Content-Length: ${LIMIT + 1}`))).toBe(413)
  expect(statusOf(await post(chunked(filled(LIMIT + 1)), 'Transfer-Encoding: chunked'))).toBe(413)
  expect(statusOf(await post('{', 'Content-Length: 999999999999'))).toBe(413)
  // an endless body: the answer comes although it never ends
  const endless = `${(LIMIT * 2).toString(16)}\r\n${'x'.repeat(LIMIT * 2)}\r\n`
  expect(statusOf(await post(endless, 'Transfer-Encoding: chunked'))).toBe(413)
})

test('ends a request whose body is shorter than its length, and one with two lengths', async () => {
  expect(statusOf(await post('{"a":1}', 'Content-Length: 500'))).toBe(408)
  expect(statusOf(await post('{}', 'Content-Length: 2', 'Content-Length: 3'))).toBe(400)
  expect(statusOf(await post('{}', 'Content-Length: -1'))).toBe(400)
  expect(statusOf(await post(chunked('{}'), 'Transfer-Encoding: chunked', 'Content-Length: 4'))).toBe(400)
})

const send = (body: BodyInit, headers: Record<string, string> = {}): Promise<Response> =>
  big.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${big.token}`, 'content-type': 'application/json', ...headers },
      body,
    }),
  )

test('refuses bodies that are small as text and large as objects, compressed, or not UTF-8', async () => {
  const keys = Array.from({ length: 100_001 }, (_, n) => `"k${n}":0`)
  expect((await send(`{"state":{${keys}}}`)).status).toBe(413)
  const members = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"k${n}":0`)}}`
  expect(await (await send(`{"state":${members(10_001)}}`)).text()).toContain('more than 10000 members')
  expect((await send(`{"events":[],"other":[${members(9_999)},${members(9_999)}]}`)).status).toBe(200)
  expect((await send(`{"state":${'['.repeat(1_000)}${']'.repeat(1_000)}}`)).status).toBe(413)
  expect((await send('['.repeat(1_000_000))).status).toBe(413)
  expect((await send('{}', { 'content-encoding': 'gzip' })).status).toBe(400)
  const latin1 = (text: string): Promise<Response> => send(new Uint8Array(Buffer.from(text, 'latin1')))
  expect((await latin1('{"state":{"city":"Orl\u00e9ans"}}')).status).toBe(400)
  expect((await send('{"state":')).status).toBe(400)
  const text = JSON.stringify({ state: { text: '[{,"\\'.repeat(50_000) } })
  expect((await send(text)).status).toBe(200)
})

test('a member called __proto__ stays data', async () => {
  const response = await send('{"state":{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}}')
  expect([200, 400]).toContain(response.status)
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
})

test('limits the bytes of bodies that one client sends at the same time, until they have arrived', async () => {
  const slow = createServer({ apps: { hello: helloAgent() }, limits: { bodyBytes: LIMIT } })
  const { port: at } = await slow.listen({ port: 0 })
  onTestFinished(() => slow.close())
  const head = [`Host: 127.0.0.1:${at}`, `Authorization: Bearer ${slow.token}`, 'Content-Type: application/json']
  const start = (...headers: string[]): Socket => {
    const socket = connect(at, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.write([`POST ${path} HTTP/1.1`, ...head, ...headers, 'Connection: close', '', '{'].join('\r\n'))
    return socket
  }
  const statusFor = async (length: number): Promise<number> =>
    statusOf(
      await sendRaw(at, rawRequest(`POST ${path} HTTP/1.1`, [...head, `Content-Length: ${length}`], filled(length))),
    )
  const half = Array.from({ length: 10 }, () => start(`Content-Length: ${LIMIT}`))
  await expect.poll(() => statusFor(100)).toBe(429)
  for (const socket of half) socket.end(filled(LIMIT).slice(1))
  await expect.poll(() => statusFor(LIMIT)).toBe(200)
})
