import { InMemorySessionService, InMemoryWorkerService, LlmAgent } from 'toolwright'
import { createServer, type ToolwrightServer } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'

const HOME = { appName: 'shop', userId: 'ada', sessionId: 's1' }

/** A server for an operator and for Ada, and its stores. */
function start(): {
  readonly sessions: InMemorySessionService
  readonly workers: InMemoryWorkerService
  send(method: string, path: string, options?: { readonly body?: unknown; readonly as?: string }): Promise<Response>
} {
  const [sessions, workers] = [new InMemorySessionService(), new InMemoryWorkerService()]
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel([]) })
  const server: ToolwrightServer = createServer({
    apps: { shop: agent },
    services: { sessionService: sessions, workerService: workers },
    authenticate: (request) => {
      const userId = request.headers.get('x-user') ?? ''
      return { userId, mayActAsAnyUser: userId === 'operator' }
    },
  })
  onTestFinished(() => server.close())
  const send = (
    method: string,
    path: string,
    { body, as = 'operator' }: { readonly body?: unknown; readonly as?: string } = {},
  ): Promise<Response> => {
    const headers = { 'x-user': as, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    return server.fetch(new Request(`http://localhost${path}`, { method, headers, ...sent }))
  }
  return { sessions, workers, send }
}

async function setAside(sessions: InMemorySessionService): Promise<void> {
  await sessions.createSession(HOME)
  await sessions.release(await sessions.claim(HOME), { setAside: 'Five processes died.' })
}

test('an operator sees workers, sessions by state, the oldest request and recovery times', async () => {
  const { sessions, workers, send } = start()
  await setAside(sessions)
  const waiting = { ...HOME, sessionId: 's2' }
  await sessions.createSession(waiting)
  const lease = await sessions.claim(waiting)
  const request = { id: 'r1', kind: 'confirmation', userId: 'ada', sessionId: 's2', invocationId: 'i1' } as const
  const call = { functionCallId: 'c1', tool: 'refund', args: { secret: 'hidden' }, agent: 'desk' }
  const opened = [{ ...request, ...call, createdAt: Date.now() / 1_000 - 60 }]
  await sessions.append(lease, 0, [], { pending: { opened, closed: [] } })
  await sessions.release(lease)
  const counts = { running: 2, continued: 7, crashes: 1, recoveries: [{ upToMs: 6_000, count: 1 }] }
  const about = { engine: 'restate', version: '1.0.0', agents: 'a1', startedAt: 5 } as const
  await workers.report({ appName: 'shop', id: 'w1', label: 'pod 1', ...about, ...counts })
  const response = await send('GET', '/apps/shop/fleet')
  const text = await response.text()
  expect(response.status).toBe(200)
  expect(JSON.parse(text)).toMatchObject({
    appName: 'shop',
    workers: [{ id: 'w1', label: 'pod 1', running: 2, continued: 7, crashes: 1, isLost: false }],
    sessions: { running: 0, interrupted: 0, setAside: 1, posted: 0, waiting: 1, idle: 0 },
    pending: { count: 1, oldest: { id: 'r1', tool: 'refund', userId: 'ada', sessionId: 's2' } },
    recoveries: { count: 1, p50Ms: 6_000, p99Ms: 6_000 },
    setAside: [{ ...HOME, reason: 'Five processes died.' }],
  })
  const age = JSON.parse(text).pending.oldest.ageMs
  expect(age).toBeGreaterThanOrEqual(60_000)
  expect(age).toBeLessThan(120_000)
  expect(text).not.toContain('hidden') // arguments are for approvers
})

test('an operator has workers continue a session that was set aside, once', async () => {
  const { sessions, send } = start()
  await setAside(sessions)
  const body = { userId: 'ada', sessionId: 's1' }
  expect((await send('POST', '/apps/shop/fleet/retry', { body })).status).toBe(200)
  expect(await sessions.interrupted({ appName: 'shop' })).toEqual([HOME])
  expect((await sessions.claim(HOME)).crashes).toBe(0)
  const again = await send('POST', '/apps/shop/fleet/retry', { body })
  expect([again.status, (await again.json()).error]).toEqual([404, expect.stringContaining('is not set aside')])
})

test('a session that is not set aside stays as it is', async () => {
  const { sessions, send } = start()
  await sessions.createSession(HOME)
  const { status } = await send('POST', '/apps/shop/fleet/retry', { body: { userId: 'ada', sessionId: 's1' } })
  expect(status).toBe(404)
  expect(await sessions.interrupted({ appName: 'shop' })).toEqual([])
})

test('a user sees no fleet and retries no session, also not their own', async () => {
  const { sessions, send } = start()
  await setAside(sessions)
  const body = { userId: 'ada', sessionId: 's1' }
  expect((await send('GET', '/apps/shop/fleet', { as: 'ada' })).status).toBe(403)
  expect((await send('POST', '/apps/shop/fleet/retry', { as: 'ada', body })).status).toBe(403)
  expect(await sessions.interrupted({ appName: 'shop' })).toEqual([])
})

test.each([
  [{}, 'userId must be a string'],
  [{ userId: 'ada' }, 'sessionId must be a string'],
  [{ userId: 'ada', sessionId: 7 }, 'sessionId must be a string'],
  [{ userId: '', sessionId: 's1' }, 'userId must be a string of 1 to 1000 characters'],
])('refuses to retry %j', async (body, problem) => {
  const { send } = start()
  const response = await send('POST', '/apps/shop/fleet/retry', { body })
  expect([response.status, (await response.json()).error]).toEqual([400, expect.stringContaining(problem)])
})

test('an app that does not exist has no fleet', async () => {
  const { send } = start()
  expect((await send('GET', '/apps/none/fleet')).status).toBe(404)
})
