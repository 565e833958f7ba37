import { InMemorySessionService, type SessionService, tool } from 'toolwright'
import { bearerTokens } from 'toolwright/server'
import { sqlite } from 'toolwright/sqlite'
import { expect, test } from 'vitest'
import { createTestServer, runBody, SESSIONS, type TestClient } from '../../server.test-kit.ts'

interface Found {
  readonly id: string
  readonly userId: string
  readonly state: string
  readonly match?: string
}

const SEARCH = '/dev/apps/desk/sessions'
const ADA = 'token-of-ada-0123456789'
const OPS = 'token-of-ops-0123456789'
const authenticate = bearerTokens({ [ADA]: 'ada', [OPS]: { userId: 'ops', mayActAsAnyUser: true } })

const refund = tool({ name: 'refund', description: 'Pays', requiresConfirmation: true, run: () => ({ ok: true }) })

const stores: [string, () => SessionService][] = [
  ['in memory', () => new InMemorySessionService()],
  ['on SQLite', () => sqlite(':memory:').sessionService],
  ['in a store that cannot find sessions', withoutFinding],
]

function withoutFinding(): SessionService {
  return Object.defineProperty(new InMemorySessionService(), 'findSessions', { value: undefined })
}

/** Sessions of ada and bob: one refund waits, one run has failed, one was asked about Oslo. */
async function filled(sessionService: SessionService): Promise<TestClient> {
  const steps = [{ calls: [{ name: 'refund' }] }, 'It rains in Oslo.', { error: 'down' }, 'Hi Bob.'] as const
  const client = createTestServer({ dev: true, tools: [refund], steps: steps as never, services: { sessionService } })
  const { send } = client
  const say = async (userId: string, sessionId: string, text: string) => {
    await send(`POST /apps/desk/users/${userId}/sessions`, { sessionId })
    await send('POST /run', runBody(text, { userId, sessionId }))
  }
  await say('ada', 'waits', 'Refund order A-7')
  await say('ada', 'done', 'What is the weather?')
  await say('ada', 'broken', 'Break')
  await say('bob', 'other', 'Hello from Bob')
  await send(`POST ${SESSIONS}`, { sessionId: 'empty', state: { __session_metadata__: { displayName: 'My draft' } } })
  return client
}

test.each(stores)('finds sessions by text, tool, state of the run, and date, %s', async (_, make) => {
  const { send } = await filled(make())
  const find = async (query: string): Promise<string[]> => {
    const { sessions } = (await send(`GET ${SEARCH}?user=ada${query}`)).json()
    return sessions.map(({ id }: Found) => id).sort()
  }
  expect(await find('')).toEqual(['broken', 'done', 'empty', 'waits'])
  expect(await find('&text=a-7')).toEqual(['waits'])
  expect(await find('&text=oslo')).toEqual(['done'])
  expect(await find('&text=my+draft')).toEqual(['empty'])
  expect(await find('&tool=REFUND')).toEqual(['waits'])
  expect(await find('&tool=refund&text=oslo')).toEqual([])
  expect(await find('&state=waiting')).toEqual(['waits'])
  expect(await find('&state=failed')).toEqual(['broken'])
  expect(await find('&state=completed')).toEqual(['done'])
  expect(await find('&state=new')).toEqual(['empty'])
  expect(await find('&session=done')).toEqual(['done'])
  expect(await find('&session=other')).toEqual([])
  const tomorrow = Math.ceil(Date.now() / 1000) + 86_400
  expect(await find(`&since=${tomorrow}`)).toEqual([])
  expect(await find(`&before=${tomorrow}`)).toHaveLength(4)
  const { sessions } = (await send(`GET ${SEARCH}?user=ada&text=oslo`)).json()
  expect(sessions[0]).toMatchObject({ firstMessage: 'What is the weather?', match: 'It rains in Oslo.' })
  expect((await send(`GET ${SEARCH}?user=ada&state=odd`)).status).toBe(400)
  expect((await send(`GET ${SEARCH}?user=ada&cursor=odd`)).status).toBe(400)
})

test('an operator searches over all users and lists them, and a user sees nothing of another one', async () => {
  const sessionService = new InMemorySessionService()
  await filled(sessionService)
  const { send } = createTestServer({ dev: true, authenticate, services: { sessionService } })
  const status = async (path: string, as: string) => (await send(`GET ${path}`, undefined, { as })).status
  const owners = async (query: string, as: string): Promise<string[]> => {
    const { sessions } = (await send(`GET ${SEARCH}?${query}`, undefined, { as })).json()
    return sessions.map(({ userId }: Found) => userId)
  }
  expect(new Set(await owners('', OPS))).toEqual(new Set(['ada', 'bob']))
  expect(await owners('text=bob', OPS)).toEqual(['bob'])
  const { users } = (await send('GET /dev/apps/desk/users', undefined, { as: OPS })).json()
  expect(users).toMatchObject([{ userId: expect.any(String) }, { userId: expect.any(String) }])
  for (const path of [SEARCH, `${SEARCH}?user=bob`, `${SEARCH}?text=bob`, '/dev/apps/desk/users'])
    expect(await status(path, ADA), path).toBe(403)
  expect(new Set(await owners('user=ada', ADA))).toEqual(new Set(['ada']))
  expect(await owners('user=ada&text=bob', ADA)).toEqual([])
  expect(await owners('user=ada&session=other', ADA)).toEqual([])
  for (const as of [ADA, OPS])
    expect((await send('GET /dev/info', undefined, { as })).json()).toMatchObject({ mayActAsAnyUser: as === OPS })
})

test('a search of thousands of sessions reads a bounded part of them per request', async () => {
  const sessionService = new InMemorySessionService()
  const user = { appName: 'desk', userId: 'ada' }
  for (let at = 0; at < 5_000; at++) await sessionService.createSession({ ...user, sessionId: `s${at}` })
  const content = { role: 'user', parts: [{ text: 'The needle' }] } as const
  const event = { id: 'e1', invocationId: 'i1', author: 'user', timestamp: 1, content, actions: {} }
  await sessionService.createSession({ ...user, sessionId: 'old', events: [event] })
  for (let at = 0; at < 2_500; at++) await sessionService.createSession({ ...user, sessionId: `t${at}` })
  const { send } = createTestServer({ dev: true, services: { sessionService } })
  const found: string[] = []
  let next: string | undefined = ''
  let requests = 0
  for (; next !== undefined; requests++) {
    const part = (await send(`GET ${SEARCH}?state=completed&text=needle${next && `&cursor=${next}`}`)).json()
    expect(part.searched).toBeLessThanOrEqual(2_000)
    found.push(...part.sessions.map(({ id }: Found) => id))
    next = part.next
  }
  expect(found).toEqual(['old'])
  expect(requests).toBeGreaterThanOrEqual(4)
  const first = (await send(`GET ${SEARCH}?limit=50`)).json()
  expect([first.sessions.length, first.searched]).toEqual([50, 50])
})
