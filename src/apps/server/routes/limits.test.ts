// What one user may store and read, within the limits of the server.
import { InMemorySessionService, type JsonObject, type SessionService } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { expect, test } from 'vitest'
import { createTestServer, runBody, SESSIONS, type TestClient } from '../server.test-kit.ts'

const stores: [string, () => SessionService][] = [
  ['in memory', () => new InMemorySessionService()],
  ['on SQLite', () => sqlite(':memory:').sessionService],
  ['in a store without pages and figures', () => withoutPages(new InMemorySessionService())],
]

/** A store with none of the optional methods. */
function withoutPages(service: SessionService): SessionService {
  const left = ['listSessionPage', 'usage', 'pendingPage', 'pendingSummary', 'readLog']
  return new Proxy(service, {
    get: (target, name) => {
      const value: unknown = left.includes(String(name)) ? undefined : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const LIMITS = { stateKeys: 5, stateBytes: 1_000, sessionsPerUser: 3 }
const keys = (count: number, prefix = ''): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}k${n}`, n]))

function serverOn(sessionService: SessionService, limits: object = LIMITS): TestClient {
  return createTestServer({ services: { sessionService }, limits, steps: Array(20).fill('Hello.') })
}

const S1 = `${SESSIONS}/s1`

test.each(stores)(
  'a client cannot store more state than the limits in a session %s, and nothing is recorded',
  async (_, open) => {
    const { send } = serverOn(open())
    await send(`POST ${SESSIONS}`, { sessionId: 's1', state: { kept: 1 } })
    const tries: [string, object][] = [
      [`PATCH ${S1}`, { stateDelta: keys(5) }],
      [`PATCH ${S1}`, { stateDelta: { big: 'x'.repeat(1_000) } }],
      [`PATCH ${S1}`, { stateDelta: keys(6, 'user:') }],
      ['POST /run', runBody('Hi', { stateDelta: keys(5) })],
      ['POST /run_sse', runBody('Hi', { stateDelta: { 'user:big': 'x'.repeat(1_000) } })],
      [`POST ${SESSIONS}`, { sessionId: 's2', state: keys(6) }],
      [`POST ${SESSIONS}/s2`, { big: 'x'.repeat(1_000) }],
      [`POST ${SESSIONS}`, { sessionId: 's2', events: [4, 3].map((count, n) => eventWith(keys(count, `${n}`))) }],
    ]
    for (const [line, body] of tries) {
      const refused = await send(line, body)
      expect([line, refused.status, refused.text]).toEqual([line, 413, expect.stringContaining('TOO_LARGE')])
    }
    expect((await send(`GET ${SESSIONS}`)).json()).toEqual([expect.objectContaining({ id: 's1', state: { kept: 1 } })])
    expect((await send(`GET ${S1}`)).json().events).toEqual([])
  },
)

function eventWith(stateDelta: JsonObject): object {
  return { author: 'user', timestamp: 1, actions: { stateDelta } }
}

test.each(stores)('a client changes, replaces and deletes state within the limits %s', async (_, open) => {
  const { send } = serverOn(open())
  await send(`POST ${SESSIONS}`, { sessionId: 's1', state: { ...keys(5), 'user:name': 'Ada', big: null } })
  const patch = async (stateDelta: JsonObject): Promise<number> => (await send(`PATCH ${S1}`, { stateDelta })).status
  expect(await patch({ k0: 'x'.repeat(900) })).toBe(200)
  expect(await patch({ k0: 'y'.repeat(900), ...keys(4, 'user:') })).toBe(200) // replaced, and the user's keys count apart
  expect(await patch({ k5: 1 })).toBe(413)
  expect(await patch({ k0: null, k5: 1 })).toBe(200)
  expect(await patch({ 'temp:a': 'x'.repeat(5_000) })).toBe(200) // never stored
  expect((await send('POST /run', runBody('Hi', { stateDelta: { k1: 2 } }))).status).toBe(200)
  const { state } = (await send(`GET ${S1}`)).json()
  expect(Object.keys(state).sort()).toEqual(
    ['k1', 'k2', 'k3', 'k4', 'k5', 'user:k0', 'user:k1', 'user:k2', 'user:k3', 'user:name'].sort(),
  )
})

test.each(stores)('state that the app stored does not lock its clients out %s', async (_, open) => {
  const sessionService = open()
  await sessionService.createSession({
    appName: 'desk',
    userId: 'ada',
    sessionId: 's1',
    state: { ...keys(9), name: 'one' },
  })
  const { send } = serverOn(sessionService)
  const patch = async (stateDelta: JsonObject): Promise<number> => (await send(`PATCH ${S1}`, { stateDelta })).status
  expect(await patch({ another: 1 })).toBe(413)
  expect(await patch({ name: 'two' })).toBe(200)
  expect(await patch({ k0: null })).toBe(200)
})

test.each(stores)('a client above a limit replaces a value by one of the same size %s', async (_, open) => {
  const sessionService = open()
  const state = { full: 'x'.repeat(2_000), number: 1, text: '"\n"' }
  await sessionService.createSession({ appName: 'desk', userId: 'ada', sessionId: 's1', state })
  const { send } = serverOn(sessionService)
  const patch = async (stateDelta: JsonObject): Promise<number> => (await send(`PATCH ${S1}`, { stateDelta })).status
  expect(await patch({ number: 2 })).toBe(200)
  expect(await patch({ number: 22 })).toBe(413)
  expect(await patch({ text: '\n""' })).toBe(200)
  expect(await patch({ text: '\u0001' })).toBe(200)
  expect(await patch({ text: '\u0001\u0001' })).toBe(413)
})

test.each(stores)('many writes at the same time do not exceed a limit together %s', async (_, open) => {
  const { send } = serverOn(open())
  const created = await Promise.all(
    Array.from({ length: 9 }, (_, n) => send(`POST ${SESSIONS}`, { sessionId: `s${n}` })),
  )
  expect(created.filter(({ status }) => status === 200)).toHaveLength(3)
  expect((await send(`GET ${SESSIONS}`)).json()).toHaveLength(3)
  const id = (await send(`GET ${SESSIONS}`)).json()[0].id
  const patch = (key: string): Promise<{ status: number }> =>
    send(`PATCH ${SESSIONS}/${id}`, { stateDelta: { [key]: 'x'.repeat(400) } })
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(patch))
  expect(Object.keys((await send(`GET ${SESSIONS}/${id}`)).json().state).length).toBeLessThanOrEqual(2)
  expect((await send(`POST ${SESSIONS}`)).status).toBe(413)
  expect((await send(`POST ${SESSIONS}`)).json()).toMatchObject({ error: expect.stringContaining('3 sessions') })
  await send(`DELETE ${SESSIONS}/${id}`)
  expect((await send(`POST ${SESSIONS}`)).status).toBe(200)
  expect((await send('POST /apps/desk/users/bob/sessions')).status).toBe(200)
})

test.each(stores.slice(0, 2))('user state that outlives its sessions counts %s', async (_, open) => {
  const { send } = serverOn(open())
  const statuses: number[] = []
  for (const n of [1, 2, 3]) {
    const state = { [`user:k${n}`]: 'x'.repeat(400) }
    statuses.push((await send(`POST ${SESSIONS}`, { sessionId: 's1', state })).status)
    await send(`DELETE ${S1}`)
  }
  expect(statuses).toEqual([200, 200, 413])
})
