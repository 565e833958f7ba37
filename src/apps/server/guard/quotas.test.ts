import { expect, test } from 'vitest'
import { createSession, helloAgent, runBody, slowAgent, startServer } from '../edge.test-kit.ts'
import { bearerTokens } from '../principal/bearer-tokens.ts'
import { RequestRate } from './request-rate.ts'

const ADA = { authorization: 'Bearer ada-token-0123456789', 'content-type': 'application/json' }
const EVE = { ...ADA, authorization: 'Bearer eve-token-0123456789' }
const authenticate = bearerTokens({ 'ada-token-0123456789': 'ada', 'eve-token-0123456789': 'eve' })

test('limits the requests of one principal, and says when to try again', async () => {
  const { url } = await startServer({ authenticate, limits: { requestsPerMinute: 3 } })
  const list = (headers: Record<string, string>): Promise<Response> => fetch(`${url}/list-apps`, { headers })
  for (let n = 0; n < 3; n++) expect((await list(EVE)).status).toBe(200)
  const refused = await list(EVE)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(await refused.json()).toMatchObject({ errorCode: 'RATE_LIMITED' })
  expect((await list(ADA)).status).toBe(200)
  expect((await fetch(`${url}/health`)).status).toBe(200)
})

test('a bucket fills again steadily, and never above its size', () => {
  let now = 0
  const rate = new RequestRate(60, { monotonicNow: () => now })
  const allowed = (): number => {
    let count = 0
    try {
      for (; count < 1_000; count++) rate.count('ada')
    } catch {}
    return count
  }
  expect(allowed()).toBe(60)
  now += 5_000
  expect(allowed()).toBe(5)
  now += 3_600_000
  expect(allowed()).toBe(60)
})

test('limits the concurrent runs of one principal, and the streams that follow them, until one has ended', async () => {
  const slow = slowAgent()
  const limits = { concurrentRuns: 1 }
  const server = await startServer({ apps: { slow: slow.agent, hello: helloAgent() }, authenticate, limits })
  const session = (path: string, headers: Record<string, string>): Promise<string> =>
    createSession({ ...server, headers: headers as typeof ADA }, path)
  const run = (body: string, headers: Record<string, string>): Promise<Response> =>
    fetch(`${server.url}/run_sse`, { method: 'POST', headers, body })
  const id = await session('slow/users/ada', ADA)
  const first = run(runBody(id, 'slow'), ADA)
  await slow.started
  const follow = (init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.url}/apps/slow/users/ada/sessions/${id}/stream`, { headers: ADA, ...init })
  const [followed, head] = [await follow(), await follow({ method: 'HEAD' })]
  expect([followed.status, head.status]).toEqual([200, 429])
  const second = runBody(await session('hello/users/ada', ADA))
  expect((await run(second, ADA)).status).toBe(429)
  const other = await run(runBody(await session('hello/users/eve', EVE), 'hello', 'eve'), EVE)
  expect(other.status).toBe(200)
  await other.text()
  slow.release()
  await (await first).text()
  expect(await followed.text()).toContain('Done.')
  expect((await follow()).status).toBe(200)
  expect((await run(second, ADA)).status).toBe(200)
})

test('a client with as many runs as allowed reconnects to them with Last-Event-ID, and starts no other run with it', async () => {
  const slow = slowAgent()
  const limits = { concurrentRuns: 1 }
  const server = await startServer({ apps: { slow: slow.agent }, onDisconnect: 'detach', limits })
  const body = runBody(await createSession(server, 'slow/users/ada'), 'slow')
  const post = (path: string, headers: object, signal?: AbortSignal): Promise<Response> => {
    const init = { method: 'POST', body, headers: { ...server.headers, ...headers } }
    return fetch(server.url + path, signal ? { ...init, signal } : init)
  }
  const leaving = new AbortController()
  const lost = await post('/run_sse', {}, leaving.signal)
  const { value } = (await lost.body?.getReader().read()) ?? {}
  const { id } = JSON.parse(new TextDecoder().decode(value).slice('data: '.length))
  await slow.started
  leaving.abort()
  const followed = await post('/run_sse', { 'last-event-id': id })
  expect(followed.status).toBe(200)
  expect((await post('/run', { 'last-event-id': id })).status).toBe(429)
  slow.release()
  expect(await followed.text()).toContain('Done.')
})

test('HEAD of a stream takes no place among the streams that follow a run', async () => {
  const slow = slowAgent()
  const server = await startServer({ apps: { slow: slow.agent }, limits: { concurrentRuns: 1 } })
  const id = await createSession(server, 'slow/users/ada')
  const { url, headers } = server
  const run = fetch(`${url}/run_sse`, { method: 'POST', headers, body: runBody(id, 'slow') })
  await slow.started
  const follow = (method: string): Promise<Response> =>
    fetch(`${url}/apps/slow/users/ada/sessions/${id}/stream`, { method, headers })
  const [first, second, followed] = [await follow('HEAD'), await follow('HEAD'), await follow('GET')]
  expect([first.status, second.status, followed.status]).toEqual([200, 200, 200])
  expect(first.headers.get('content-type')).toBe('text/event-stream')
  slow.release()
  await (await run).text()
  expect(await followed.text()).toContain('Done.')
})
