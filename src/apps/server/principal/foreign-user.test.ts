// Every route, called by a user for the data of another user. New routes are covered when they are added.
import { LlmAgent, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Apps } from '../apps.ts'
import { buildApp } from '../build-app.ts'
import { silent } from '../edge.test-kit.ts'
import type { ServerParts } from '../env.ts'
import { AllowedHosts } from '../guard/allowed-hosts.ts'
import { FramePace } from '../guard/frame-pace.ts'
import { RequestRate } from '../guard/request-rate.ts'
import { RunSlots } from '../guard/run-slots.ts'
import { Metrics } from '../health/metrics.ts'
import { DEFAULT_LIMITS, type ServerOptions } from '../server-options.ts'
import { bearerTokens } from './bearer-tokens.ts'

const SECRET = 'ada-keeps-this-secret'
const charged: number[] = []
const charge = tool({
  name: 'charge',
  description: 'Charges',
  parameters: z.object({ note: z.string() }),
  requiresConfirmation: true,
  run: () => {
    charged.push(1)
    return { note: SECRET }
  },
})
const model = scriptedModel([{ text: SECRET, calls: [{ name: 'charge', args: { note: SECRET } }] }, 'Done.'])
const options: ServerOptions = {
  apps: { shop: new LlmAgent({ name: 'shop', model, tools: [charge] }) },
  authenticate: bearerTokens({ 'token-of-ada-0123456789': 'ada', 'token-of-eve-0123456789': 'eve' }),
  dev: true,
  logger: silent,
}
const parts: ServerParts = {
  apps: new Apps(options),
  options,
  limits: DEFAULT_LIMITS,
  logger: silent,
  hosts: new AllowedHosts(),
  requestRate: new RequestRate(100_000),
  framePace: new FramePace(),
  runSlots: new RunSlots(100),
  metrics: new Metrics(),
  closing: new AbortController().signal,
}
const app = buildApp(parts)

type Body = Record<string, unknown>
async function send(method: string, path: string, { user = '', body = {} as Body } = {}): Promise<[number, string]> {
  const response = await app.request(`http://localhost${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(user && { authorization: `Bearer token-of-${user}-0123456789` }),
    },
    ...(method !== 'GET' && { body: JSON.stringify(body) }),
  })
  return [response.status, path.endsWith('/changes') ? await firstFrame(response) : await response.text()]
}

/** The stream of changes does not end by itself. */
async function firstFrame({ body }: Response): Promise<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  const { value = '' } = (await reader?.read()) ?? {}
  await reader?.cancel()
  return value
}

const found = { session: 's1', event: '', request: '' }
const newMessage = { role: 'user', parts: [{ text: 'Charge.' }] }
beforeAll(async () => {
  const path = '/apps/shop/users/ada/sessions'
  await send('POST', path, { user: 'ada', body: { sessionId: 's1', state: { note: SECRET } } })
  await send('POST', '/run', { user: 'ada', body: { appName: 'shop', userId: 'ada', sessionId: 's1', newMessage } })
  const { runner } = parts.apps.get('shop')
  const [request] = await runner.pending()
  const session = await runner.sessionService.getSession({ appName: 'shop', userId: 'ada', sessionId: 's1' })
  found.request = String(request?.id)
  found.event = String(session?.events[0]?.id)
  const artifact = { filename: 'a.txt', artifact: { inlineData: { mimeType: 'text/plain', data: btoa(SECRET) } } }
  await send('POST', `${path}/s1/artifacts`, { user: 'ada', body: artifact })
})

const ARTIFACT = '/apps/shop/users/ada/sessions/s1/artifacts/a.txt'
/** The name of an artifact may have slashes, so that its routes end with a pattern. */
const artifactRoutes = [
  '',
  '/versions',
  '/versions/0',
  '/versions/latest',
  '/versions/0/metadata',
  '/versions/metadata',
]

/** All routes, with the data of ada in their parameters. */
const routes = (): { method: string; path: string }[] => [
  ...artifactRoutes.map((end) => ({ method: 'GET', path: ARTIFACT + end })),
  { method: 'DELETE', path: ARTIFACT },
  ...namedRoutes(),
]
const namedRoutes = (): { method: string; path: string }[] =>
  app.routes
    .filter(({ path, method }) => !path.includes('*') && method !== 'ALL' && path !== '/health' && path !== '/ready')
    .map(({ method, path }) => ({
      method,
      path: path
        .replace(':app', 'shop')
        .replace(':user', 'ada')
        .replace(':session', 's1')
        .replace(/:event\w*/, found.event)
        .replace(':agent', 'shop')
        .replace(':tool', 'charge')
        .replace(/:name(\{.*?\})?/, 'a.txt')
        .replace(/:version(\{.*?\})?/, '0'),
    }))
/** A body that is valid for most routes, and names the data of ada. */
const body = (): Body => ({
  appName: 'shop',
  userId: 'ada',
  sessionId: 's1',
  newMessage,
  stateDelta: { x: 1 },
  args: { note: '' },
  invocationId: 'e-1',
  filename: 'b',
  artifact: { text: 'x' },
})

test('no route answers without a principal', async () => {
  expect(routes().length).toBeGreaterThan(20)
  for (const { method, path } of routes())
    expect([(await send(method, path, { body: body() }))[0], method, path]).toEqual([401, method, path])
})

test('no route shows or changes the data of another user', async () => {
  const before = await send('GET', '/apps/shop/users/ada/sessions/s1', { user: 'ada' })
  expect(before[1]).toContain(SECRET)
  expect((await send('GET', `${ARTIFACT}/versions/0`, { user: 'ada' }))[1]).toContain(btoa(SECRET))
  for (const { method, path } of routes()) {
    const [status, text] = await send(method, path, { user: 'eve', body: body() })
    expect(text, `${method} ${path}`).not.toContain(SECRET)
    expect(text, `${method} ${path}`).not.toContain(btoa(SECRET))
    if (path.includes('/users/ada')) expect([status, method, path]).toEqual([403, method, path])
  }
  const approval = {
    functionResponse: { id: found.request, name: 'adk_request_confirmation', response: { confirmed: true } },
  }
  const answer = { appName: 'shop', newMessage: { role: 'user', parts: [approval] } }
  for (const path of ['/run', '/run_sse']) {
    expect((await send('POST', path, { user: 'eve', body: { ...answer, userId: 'ada', sessionId: 's1' } }))[0]).toBe(
      403,
    )
    // in a session of her own
    await send('POST', '/apps/shop/users/eve/sessions/e1', { user: 'eve' })
    const [status] = await send('POST', path, { user: 'eve', body: { ...answer, userId: 'eve', sessionId: 'e1' } })
    expect([400, 404]).toContain(status)
    expect((await send('POST', path, { user: 'eve', body: { ...answer, userId: 'eve', sessionId: 's1' } }))[0]).toBe(
      404,
    )
  }
  expect(charged).toEqual([])
  expect(await send('GET', '/apps/shop/users/ada/sessions/s1', { user: 'ada' })).toEqual(before)
})

test('the answer for a session of another user and for one that does not exist is the same', async () => {
  const ask = async (user: string, session: string): Promise<string> => {
    const [status, text] = await send('GET', `/apps/shop/users/${user}/sessions/${session}`, { user: 'eve' })
    return `${status} ${text.replace(/"correlationId":"[^"]+"/, '')}`
  }
  expect(await ask('ada', 's1')).toBe(await ask('ada', 'none'))
  expect(await ask('ada', 's1')).toBe(await ask('someone-else', 's1'))
})

test('a server without `dev` has no route for developers', () => {
  const isDev = ({ path }: { path: string }): boolean => path.startsWith('/dev')
  expect(app.routes.some(isDev)).toBe(true)
  expect(buildApp({ ...parts, options: { ...options, dev: false } }).routes.filter(isDev)).toEqual([])
})
