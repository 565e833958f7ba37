import { request } from 'node:http'
import { expect, test } from 'vitest'
import { helloAgent, type StartedServer, startServer } from '../edge.test-kit.ts'
import type { ServerOptions } from '../server-options.ts'
import { bearerTokens } from './bearer-tokens.ts'
import { networkOf } from './client-address.ts'

const ADA = 'ada-token-0123456789'
const BEN = 'ben-token-0123456789'
const OPS = 'ops-token-0123456789'
const authenticate = bearerTokens({ [ADA]: 'ada', [BEN]: 'ben', [OPS]: { userId: 'ops', mayActAsAnyUser: true } })
const limits = { failedAuthenticationsPerMinute: 5 }

/** A server that keeps its log. */
async function loggingServer(
  options: Partial<ServerOptions> = {},
): Promise<StartedServer & { readonly lines: string[] }> {
  const lines: string[] = []
  const logger = { warn: (line: string) => void lines.push(line), error: () => {} }
  return { ...(await startServer({ authenticate, limits, logger, ...options })), lines }
}

/** Requests the apps with a token, from an address of this machine. Resolves with the status and the headers. */
function list(port: number, token: string, from = '127.0.0.1', headers: object = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', localAddress: from, path: '/list-apps', agent: false as const }
    const sent = request({ ...options, headers: { authorization: `Bearer ${token}`, ...headers } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject).end()
  })
}

async function guess(port: number, count: number, headers: (n: number) => object = () => ({})): Promise<number[]> {
  const statuses: number[] = []
  for (let n = 0; n < count; n++) statuses.push(await list(port, `guess-${n}-0123456789`, '127.0.0.1', headers(n)))
  return statuses
}

test('failed authentications are counted, logged with their address and throttled', async () => {
  const { port, url, lines } = await loggingServer()
  expect(await guess(port, 8)).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
  expect(lines).toHaveLength(5)
  for (const line of lines)
    expect(line).toMatch(/^Authentication failed: address 127\.0\.0\.1, request [\da-f-]{36}\.$/)
  expect(lines.join()).not.toContain('guess')
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${OPS}` } })
  expect(await metrics.text()).toContain('toolwright_failed_authentications_total 8')
})

test.skipIf(process.platform !== 'linux')('other addresses are served while one is throttled', async () => {
  const { port } = await loggingServer()
  expect((await guess(port, 7)).at(-1)).toBe(429)
  expect(await list(port, ADA, '127.0.0.2')).toBe(200)
  expect(await list(port, 'guess-of-another', '127.0.0.2')).toBe(401)
})

test('a valid token of a throttled address is accepted, also in the middle of many guesses', async () => {
  const { port } = await loggingServer()
  expect(await list(port, ADA)).toBe(200)
  expect((await guess(port, 6)).at(-1)).toBe(429)
  expect(await list(port, BEN)).toBe(200) // it waits for its turn
  const flood = Array.from({ length: 20 }, (_, n) => list(port, `flood-${n}-0123456789`))
  expect(await list(port, ADA)).toBe(200) // it was valid before the guesses
  expect(new Set(await Promise.all(flood))).toEqual(new Set([429]))
})

test('a forged X-Forwarded-For neither escapes the throttle nor blames another address', async () => {
  const { port, lines } = await loggingServer()
  const forged = await guess(port, 7, (n) => ({ 'x-forwarded-for': `203.0.113.${n}` }))
  expect(forged.slice(-2)).toEqual([429, 429])
  expect(lines.join()).not.toContain('203.0.113')
})

test('with `trustProxy` the address that the proxy adds counts, and clients of other addresses are served', async () => {
  const { port, lines } = await loggingServer({ trustProxy: true })
  const behind = (address: string) => (n: number) => ({ 'x-forwarded-for': `203.0.113.${n}, ${address}` })
  expect((await guess(port, 7, behind('198.51.100.7'))).slice(-2)).toEqual([429, 429])
  expect(lines[0]).toContain('address 198.51.100.7,')
  expect(await guess(port, 1, behind('198.51.100.8'))).toEqual([401])
  expect((await guess(port, 6, behind('<script>'))).at(-1)).toBe(429) // no address: that of the connection
  expect(lines.join()).not.toContain('script')
})

test('addresses that one client can choose from count as one', () => {
  expect(networkOf('198.51.100.7')).toBe('198.51.100.7')
  expect(networkOf('2001:db8:0:1::7')).toBe(networkOf('2001:db8:0:1:2:3:4:5'))
  expect(networkOf('2001:db8::7')).toBe('2001:db8:0:0::/64')
  expect(networkOf('::1')).not.toBe(networkOf('2001:db8::1'))
})

const cookieOf = async (server: StartedServer, headers: Record<string, string>): Promise<string> => {
  const init = { headers, redirect: 'manual' as const }
  return (await fetch(`${server.url}/?token=${server.server.token}`, init)).headers.get('set-cookie') ?? ''
}

test('behind a proxy with TLS that is trusted, the token cookie is Secure and works', async () => {
  const server = await startServer({ apps: { hello: helloAgent() }, trustProxy: true })
  const https = { 'x-forwarded-proto': 'https' }
  const cookie = await cookieOf(server, https)
  expect(cookie).toMatch(/^__Host-toolwright-token=.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/)
  const list = await fetch(`${server.url}/list-apps`, { headers: { ...https, cookie: cookie.split(';')[0] ?? '' } })
  expect(list.status).toBe(200)
  expect(await cookieOf(server, { 'x-forwarded-proto': 'http' })).not.toContain('Secure')
  expect(await cookieOf(server, { 'x-forwarded-proto': 'https, http' })).not.toContain('Secure') // the first entry is a client's
})

test('without `trustProxy` forwarded headers change no cookie', async () => {
  const cookie = await cookieOf(await startServer(), { 'x-forwarded-proto': 'https' })
  expect(cookie).toMatch(/^toolwright-token-\d+=/)
  expect(cookie).not.toContain('Secure')
})

test('a token form that does not arrive does not keep others of its address waiting', async () => {
  const { port } = await startServer({ limits, token: ADA })
  await guess(port, 7)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 50 }
  const form = request({ port, host: '127.0.0.1', path: '/', method: 'POST', headers })
  form.on('error', () => {})
  await new Promise((resolve) => form.write('token=', resolve))
  await new Promise((resolve) => setImmediate(resolve))
  const waiting = list(port, ADA)
  expect(await waiting).toBe(200)
  form.destroy()
})
