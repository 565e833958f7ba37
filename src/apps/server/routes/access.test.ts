// Every route, for a client without a token and for a client of another user.
import { Hono } from 'hono'
import { tool } from 'toolwright'
import { expect, test } from 'vitest'
import { Apps } from '../apps.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { createTestServer, type TestClient } from '../server.test-kit.ts'
import { DEFAULT_LIMITS } from '../server-options.ts'
import { apiRoutes } from './api-routes.ts'
import { devRoutes } from './dev/dev-routes.ts'

/** Routes that show nothing of a user. */
const WITHOUT_USER = [
  'GET /list-apps',
  'GET /version',
  'GET /openapi.json',
  'GET /apps/:app/app-info',
  'GET /dev/info',
  'GET /dev/changes',
  'GET /dev/apps/:app/build_graph',
  'GET /dev/apps/:app/build_graph_image',
  'GET /dev/apps/:app/graph',
  'GET /dev/apps/:app/metrics-info',
  'GET /apps/:app/metrics-info',
  'GET /dev/apps/:app/tests',
  'GET /dev/apps/:app/builder',
  'GET /config/telemetry',
]

/** Routes that find their session by its id: another user gets what there would be without it. */
const WITHOUT_USER_ID = ['GET /dev/apps/:app/debug/trace/session/:session', 'GET /dev/apps/:app/debug/trace/:event']

const routes = registeredRoutes()
const ofUsers = routes.filter((route) => !WITHOUT_USER.includes(route) && !WITHOUT_USER_ID.includes(route))

function registeredRoutes(): string[] {
  const app = new Hono<ServerEnv>()
  const options = { apps: {}, dev: true }
  // registering routes needs no more
  const parts = { apps: new Apps(options), options, limits: DEFAULT_LIMITS } as unknown as ServerParts
  apiRoutes(app, parts)
  devRoutes(app, parts)
  return [...new Set(app.routes.map(({ method, path }) => `${method} ${path}`))]
}

/** A server on which ben has a session with an event and an artifact. A token is the name of its user. */
async function serverOfBen(): Promise<TestClient & { readonly eventId: string }> {
  const look = tool({ name: 'look', description: 'Looks', run: () => ({ secret: 'of ben' }) })
  const steps = [{ calls: [{ id: 'c1', name: 'look' }] }, ...Array(50).fill('Done.')]
  const authenticate = (request: Request) => {
    const user = /^Bearer (ada|ben)$/.exec(request.headers.get('authorization') ?? '')?.[1]
    return user === undefined ? undefined : { userId: user }
  }
  const client = createTestServer({ dev: true, tools: [look], steps, authenticate })
  const as = { as: 'ben' }
  await client.send('POST /apps/desk/users/ben/sessions', { sessionId: 's1' }, as)
  const [, event] = (await client.send('POST /run', bodyOf('POST /run'), as)).json()
  await client.send(
    'POST /apps/desk/users/ben/sessions/s1/artifacts',
    { filename: 'x', artifact: { text: 'of ben' } },
    as,
  )
  return { ...client, eventId: event.id }
}

function bodyOf(route: string): object | undefined {
  if (route.startsWith('GET')) return undefined
  const newMessage = { role: 'user', parts: [{ text: 'Hi' }] }
  const members = { stateDelta: { a: 1 }, filename: 'x', artifact: { text: 'y' }, invocationId: undefined }
  return { appName: 'desk', userId: 'ben', sessionId: 's1', newMessage, ...members, args: {} }
}

function fill(route: string, eventId: string): string {
  const path = route
    .replace(':app', 'desk')
    .replace(':user', 'ben')
    .replace(':session', 's1')
    .replace(':agent', 'clerk')
    .replace(':tool', 'look')
    .replace(':event', eventId)
    .replace('*', 'x')
  if (path.endsWith('/tools')) return `${path}?userId=ben`
  return route === 'GET /dev/apps/:app/sessions' ? `${path}?user=ben` : path
}

test('refuses every route to a client without a token', async () => {
  const { send, eventId } = await serverOfBen()
  expect(routes.length).toBeGreaterThan(40)
  for (const route of routes) {
    expect((await send(fill(route, eventId), bodyOf(route), { as: null })).status, route).toBe(401)
  }
})

test('refuses every route of another user, whether or not what it names exists', async () => {
  const { send, eventId } = await serverOfBen()
  expect(ofUsers.length).toBeGreaterThan(20)
  for (const route of ofUsers) {
    const answer = await send(fill(route, eventId), bodyOf(route), { as: 'ada' })
    expect([route, answer.status, answer.text.includes('of ben')]).toEqual([route, 403, false])
    const missing = await send(fill(route, 'no').replace('s1', 'other'), bodyOf(route), { as: 'ada' })
    expect([route, missing.status]).toEqual([route, 403])
  }
})

test('shows no span of another user', async () => {
  const { send, eventId } = await serverOfBen()
  const [bySession = '', byEvent = ''] = WITHOUT_USER_ID
  expect((await send(fill(bySession, eventId), undefined, { as: 'ada' })).json()).toEqual([])
  expect((await send(fill(byEvent, eventId), undefined, { as: 'ada' })).status).toBe(404)
  expect((await send(fill(bySession, eventId), undefined, { as: 'ben' })).json()).not.toEqual([])
  expect((await send(fill(byEvent, eventId), undefined, { as: 'ben' })).text).toContain('of ben')
})

test('allows every route to the user it belongs to', async () => {
  const { send, eventId } = await serverOfBen()
  const isDelete = (route: string): number => (route.startsWith('DELETE') ? 1 : 0)
  // for principals that may act as any user
  const isForOperators = (route: string): boolean =>
    /\/apps\/:app\/(pending|fleet)|\/dev\/apps\/:app\/(agents|users$)|\/eval[-_](sets|results)|\/stacks$|\/notes$|\/model-calls\//.test(
      route,
    )
  const isTested = (route: string): boolean => route.endsWith('/changes') // the stream does not end: changes.test.ts reads it
  const others = routes.filter((route) => !isForOperators(route) && !isTested(route))
  for (const route of others.toSorted((a, b) => isDelete(a) - isDelete(b))) {
    const { status } = await send(fill(route, eventId), bodyOf(route), { as: 'ben' })
    expect([route, [401, 403].includes(status)]).toEqual([route, false])
  }
})

test('has no routes for developers without the option', async () => {
  const { send } = createTestServer()
  for (const route of routes.filter((one) => /^\w+ \/(dev|config)\//.test(one))) {
    expect((await send(fill(route, 'e1'), bodyOf(route))).status, route).toBe(404)
  }
})
