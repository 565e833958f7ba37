import { InMemorySessionService, tool } from 'toolwright'
import { expect, test } from 'vitest'
import { createTestServer, runBody, SESSIONS } from '../../server.test-kit.ts'

const STATS = `GET /dev${SESSIONS.replace(/sessions$/, 'stats')}`
const find = tool({ name: 'find', description: 'Finds', run: () => ({ found: 3 }) })
const call = { calls: [{ name: 'find' }] }

test('tells how the tools of a user were used, by tool or by agent', async () => {
  const { send } = createTestServer({ dev: true, tools: [find], steps: [call, 'One.', call, 'Two.'] })
  for (const sessionId of ['s1', 's2']) {
    await send(`POST ${SESSIONS}`, { sessionId })
    await send('POST /run', runBody('Go', { sessionId }))
  }
  const byTool = (await send(STATS)).json()
  expect(byTool).toMatchObject({ figures: [{ name: 'find', calls: 2, failures: {} }], sessions: 2, hasMore: false })
  expect((await send(`${STATS}?by=agent`)).json().figures).toMatchObject([{ name: 'clerk', calls: 2 }])
  const later = Math.floor(Date.now() / 1000) + 3600
  expect((await send(`${STATS}?since=${later}`)).json()).toMatchObject({ figures: [], sessions: 0 })
})

test('refuses unknown groups and times, and is not there without dev', async () => {
  const { send } = createTestServer({ dev: true })
  for (const query of ['by=user', 'by=constructor', 'since=-1', 'since=x'])
    expect((await send(`${STATS}?${query}`)).status).toBe(400)
  expect((await createTestServer({}).send(STATS)).status).toBe(404)
})

test('reads the sessions that were created last, and says that there are more', async () => {
  const sessionService = new InMemorySessionService()
  const user = { appName: 'desk', userId: 'ada' }
  for (let at = 0; at < 502; at++) await sessionService.createSession({ ...user, sessionId: `s${at}` })
  const { send } = createTestServer({ dev: true, services: { sessionService } })
  expect((await send(STATS)).json()).toEqual({ figures: [], sessions: 500, hasMore: true })
})

test('reads the events of a store that shows no log', async () => {
  const sessionService = new InMemorySessionService()
  const { send } = createTestServer({ dev: true, tools: [find], steps: [call, 'One.'], services: { sessionService } })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  await send('POST /run', runBody('Go'))
  Object.assign(sessionService, { readLog: undefined })
  expect((await send(STATS)).json()).toMatchObject({ figures: [{ name: 'find', calls: 1 }], sessions: 1 })
})

test('ends at a store that returns no more entries although its log goes on', async () => {
  const sessionService = new InMemorySessionService()
  const { send } = createTestServer({ dev: true, services: { sessionService } })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  sessionService.readLog = async () => ({ entries: [], lastSeq: 9 })
  expect((await send(STATS)).json()).toEqual({ figures: [], sessions: 1, hasMore: false })
})

test('stops at a log that is too long to read', async () => {
  const sessionService = new InMemorySessionService()
  const long = Array.from({ length: 200 }, (_, at) => ({ seq: at + 1, event: {} }))
  let pieces = 0
  sessionService.readLog = async ({ fromSeq = 1 }) => {
    pieces++
    return { entries: long.map((entry) => ({ ...entry, seq: entry.seq + fromSeq - 1 })) as never, lastSeq: 1e9 }
  }
  const { send } = createTestServer({ dev: true, services: { sessionService } })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  expect((await send(STATS)).json()).toEqual({ figures: [], sessions: 0, hasMore: true })
  expect(pieces).toBe(501)
})
