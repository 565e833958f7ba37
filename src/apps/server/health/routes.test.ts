import { InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { createServer } from '../create-server.ts'
import { helloAgent, silent } from '../edge.test-kit.ts'
import { bearerTokens } from '../principal/bearer-tokens.ts'

const get = (server: { fetch(request: Request): Promise<Response>; token: string | undefined }, path: string) =>
  server.fetch(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${server.token}` } }))

test('/ready fails while the server closes, and when a store fails; /health does not', async () => {
  const closing = createServer({ apps: { hello: helloAgent() }, logger: silent })
  expect((await get(closing, '/ready')).status).toBe(200)
  await closing.close()
  expect((await get(closing, '/ready')).status).toBe(503)
  expect((await get(closing, '/health')).status).toBe(200)

  const sessionService = new InMemorySessionService()
  const logged: unknown[] = []
  const logger = { warn: () => {}, error: (...args: unknown[]) => void logged.push(...args) }
  const runner = new Runner({ appName: 'hello', agent: helloAgent(), sessionService, logger })
  const server = createServer({ apps: { hello: runner }, logger })
  sessionService.getSession = () => Promise.reject(new Error('disk error in /var/lib/secret.db'))
  const ready = await get(server, '/ready')
  expect(ready.status).toBe(503)
  expect(await ready.text()).toBe('{"status":"not ready"}')
  expect(String(logged)).toContain('/var/lib/secret.db')
})

test('any number of clients of /ready read a store once at a time', async () => {
  const sessionService = new InMemorySessionService()
  const answer = Promise.withResolvers<undefined>()
  let reads = 0
  sessionService.getSession = () => {
    reads++
    return answer.promise
  }
  const runner = new Runner({ appName: 'hello', agent: helloAgent(), sessionService, logger: silent })
  const server = createServer({ apps: { hello: runner }, logger: silent })
  const flood = Array.from({ length: 50 }, () => get(server, '/ready'))
  await get(server, '/health')
  answer.resolve(undefined)
  for (const { status } of await Promise.all(flood)) expect(status).toBe(200)
  expect(reads).toBe(1)
  expect((await get(server, '/ready')).status).toBe(200)
  expect(reads).toBe(2)
})

test('/metrics counts requests by route pattern, without data of users', async () => {
  const server = createServer({ apps: { hello: helloAgent() }, logger: silent })
  await get(server, '/apps/hello/users/ada-lovelace/sessions')
  await get(server, '/no/such/route/ada-lovelace')
  await server.fetch(new Request('http://localhost/health', { method: 'ADA-LOVELACE' }))
  const text = await (await get(server, '/metrics')).text()
  expect(text).toContain('_count{method="GET",route="/apps/:app/users/:user/sessions",status="200"} 1')
  expect(text).toContain('method="OTHER"')
  expect(text).toContain('toolwright_active_runs 0')
  expect(text).toContain('toolwright_pending_requests 0')
  expect(text).not.toMatch(/lovelace/i)
  // every line is a comment or a sample
  for (const line of text.trimEnd().split('\n')) expect(line).toMatch(/^(# (HELP|TYPE) |\w+(\{[^{}]*\})? [\d.e+-]+$)/)
})

test('/metrics is refused to users, and counts pending requests without reading them', async () => {
  const tokens = { 'ada-token-0123456789': 'ada', 'ops-token-0123456789': { userId: 'ops', mayActAsAnyUser: true } }
  const refund = tool({ name: 'refund', description: 'Pays', requiresConfirmation: true, run: () => ({ ok: true }) })
  for (const sessionService of [new InMemorySessionService(), sqlite(':memory:').sessionService]) {
    const model = scriptedModel([{ calls: [{ name: 'refund' }, { name: 'refund' }] }])
    const agent = new LlmAgent({ name: 'clerk', model, tools: [refund] })
    const runner = new Runner({ appName: 'desk', agent, sessionService })
    await runner.complete({ userId: 'ada', message: 'Refund twice.' })
    sessionService.pending = () => Promise.reject(new Error('The requests are never read.'))
    const server = createServer({ apps: { desk: runner }, authenticate: bearerTokens(tokens), logger: silent })
    const read = (token: string): Promise<Response> => get({ fetch: (one) => server.fetch(one), token }, '/metrics')
    const refused = await read('ada-token-0123456789')
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('FORBIDDEN')])
    expect(await (await read('ops-token-0123456789')).text()).toContain('toolwright_pending_requests 2')
  }
})
