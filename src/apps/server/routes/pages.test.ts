// Lists in pages, and responses that are not larger than the server allows.
import { InMemoryArtifactService, InMemorySessionService, type SessionService, tool } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { expect, test } from 'vitest'
import {
  type Answer,
  createTestServer,
  runBody,
  SESSIONS,
  type TestClient,
  type TestServerOptions,
} from '../server.test-kit.ts'

const memory = (): { sessionService: SessionService; artifactService: InMemoryArtifactService } => ({
  sessionService: new InMemorySessionService(),
  artifactService: new InMemoryArtifactService(),
})
const stores: [string, () => NonNullable<TestServerOptions['services']>][] = [
  ['in memory', memory],
  ['on SQLite', () => sqlite(':memory:')],
  ['in a store without pages', () => ({ ...memory(), ...withoutPages() })],
]

function withoutPages(): { sessionService: SessionService } {
  const sessionService: SessionService = new InMemorySessionService()
  for (const name of ['listSessionPage', 'usage', 'pendingPage', 'pendingSummary', 'readLog'] as const)
    Object.defineProperty(sessionService, name, { value: undefined })
  return { sessionService }
}

/** The pages of a list, read with the cursor of each. `items` finds the list in a response. */
async function pagesOf(
  { send }: TestClient,
  path: string,
  items = (answer: Answer): unknown[] => answer.json(),
): Promise<unknown[][]> {
  const pages: unknown[][] = []
  for (let cursor: string | null = ''; cursor !== null && pages.length < 100; ) {
    const answer = await send(`GET ${path}${cursor && `&cursor=${cursor}`}`)
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
    pages.push(items(answer))
    cursor = answer.headers.get('x-next-cursor')
  }
  return pages
}

const refund = tool({ name: 'refund', description: 'Pays', requiresConfirmation: true, run: () => ({ ok: true }) })

async function filledServer(
  services: NonNullable<TestServerOptions['services']>,
  options: TestServerOptions = {},
): Promise<TestClient> {
  const calls = Array.from({ length: 5 }, () => ({ name: 'refund' }))
  const client = createTestServer({
    services,
    tools: [refund],
    steps: ['One.', 'Two.', 'Three.', { calls }],
    ...options,
  })
  const { send } = client
  for (const id of ['s3', 's1', 's2', 's5', 's4']) await send(`POST ${SESSIONS}`, { sessionId: id, state: { id } })
  for (const text of ['a', 'b', 'c']) await send('POST /run', runBody(text))
  for (const name of ['b.txt', 'a.txt', 'c.txt', 'user:d.txt', 'e.txt'])
    await send(`POST ${SESSIONS}/s1/artifacts`, { filename: name, artifact: { text: name } })
  await send('POST /run', runBody('refund'))
  return client
}

test.each(stores)('the pages of a list are the whole list %s', async (_, open) => {
  const client = await filledServer(open())
  const sessions = await pagesOf(client, `${SESSIONS}?limit=2`)
  expect(sessions.map((page) => page.length)).toEqual([2, 2, 1])
  expect(sessions.flat()).toEqual((await client.send(`GET ${SESSIONS}`)).json())
  const newest = await pagesOf(client, `${SESSIONS}?newestFirst=true&limit=3`)
  expect(newest.flat()).toEqual(sessions.flat().reverse())
  const events = (answer: Answer): unknown[] => answer.json().events
  const whole = (await client.send(`GET ${SESSIONS}/s1`)).json()
  expect(whole.events.length).toBeGreaterThan(6)
  const inSession = await pagesOf(client, `${SESSIONS}/s1?limit=3`, events)
  expect(inSession.length).toBeGreaterThan(2)
  expect(inSession.flat()).toEqual(whole.events)
  expect((await client.send(`GET ${SESSIONS}/s1?limit=1`)).json()).toMatchObject({ id: 's1', state: { id: 's1' } })
  expect((await pagesOf(client, `${SESSIONS}/s1/events?limit=2`)).flat()).toEqual(whole.events)
  expect((await client.send(`GET ${SESSIONS}/s1/events`)).json()).toEqual(whole.events)
  const pending = await pagesOf(client, '/apps/desk/users/ada/pending?limit=2')
  expect(pending.map((page) => page.length)).toEqual([2, 2, 1])
  expect(pending.flat()).toEqual((await client.send('GET /apps/desk/users/ada/pending')).json())
  const artifacts = await pagesOf(client, `${SESSIONS}/s1/artifacts?limit=2`)
  expect(artifacts).toEqual([['a.txt', 'b.txt'], ['c.txt', 'e.txt'], ['user:d.txt']])
})

test.each(stores)('a cursor that the server did not make, or of another list, is refused %s', async (_, open) => {
  const { send } = await filledServer(open())
  const own = (await send(`GET ${SESSIONS}?limit=1`)).headers.get('x-next-cursor') ?? ''
  const forged = [
    '["sessions","1 OR 1"]',
    '["sessions",1]',
    '["sessions","-1"]',
    '["events","9e99"]',
    '[]',
    'null',
    '{"a":1}',
  ]
  const cursors = [
    ...forged.map((text) => Buffer.from(text).toString('base64url')),
    '%00',
    '..',
    'x'.repeat(5_000),
    '',
    "'",
  ]
  for (const cursor of cursors) {
    const answer = await send(`GET ${SESSIONS}?limit=1&cursor=${encodeURIComponent(cursor)}`)
    expect([cursor, answer.status]).toEqual([cursor, 400])
  }
  expect((await send(`GET ${SESSIONS}/s1?limit=1&cursor=${own}`)).status).toBe(400)
  const lists = [
    ['events', `${SESSIONS}/s1`],
    ['events', `${SESSIONS}/s1/events`],
    ['pending', '/apps/desk/users/ada/pending'],
  ]
  for (const [list, path] of lists) {
    expect([path, (await send(`GET ${path}?limit=1`)).status]).toEqual([path, 200])
    for (const position of ['-1', '-9', '0.5', '9e99', 'NaN', 'x', '']) {
      const cursor = Buffer.from(JSON.stringify([list, position])).toString('base64url')
      const answer = await send(`GET ${path}?limit=1&cursor=${cursor}`)
      expect([list, position, answer.status]).toEqual([list, position, 400])
    }
  }
  for (const limit of ['0', '-1', '1.5', 'x', '', '1e3'])
    expect((await send(`GET ${SESSIONS}?limit=${limit}`)).status).toBe(400)
  expect((await send(`GET ${SESSIONS}?limit=999999`)).status).toBe(200)
  expect((await send(`GET ${SESSIONS}?cursor=${own}`)).json()).toHaveLength(4)
})

test.each(stores)('a list that is too large is refused as a whole, and read in pages %s', async (_, open) => {
  const services = open()
  const { sessionService } = services
  const big = { text: 'x'.repeat(4_000) }
  const client = createTestServer({ services, limits: { responseBytes: 10_000 } })
  for (const sessionId of ['s1', 's2', 's3', 's4', 's5'])
    await sessionService?.createSession({ appName: 'desk', userId: 'ada', sessionId, state: big })
  const refused = await client.send(`GET ${SESSIONS}`)
  expect([refused.status, refused.json()]).toEqual([
    413,
    expect.objectContaining({ errorCode: 'TOO_LARGE', error: expect.stringContaining('limit') }),
  ])
  // fewer than the limit: pages are never too large
  expect((await pagesOf(client, `${SESSIONS}?limit=5`)).flat()).toHaveLength(5)
  const event = (n: number): object => ({ id: `e${n}`, author: 'user', timestamp: n, content: { parts: [big] } })
  const events = Array.from({ length: 7 }, (_, n) => event(n))
  expect((await client.send(`POST ${SESSIONS}`, { sessionId: 'long', events })).status).toBe(200)
  expect((await client.send(`GET ${SESSIONS}/long`)).status).toBe(413)
  const read = await pagesOf(client, `${SESSIONS}/long?limit=100`, (answer) => answer.json().events)
  expect(read.flat()).toHaveLength(7)
  const patched = await client.send(`PATCH ${SESSIONS}/long`, { stateDelta: { a: 1 } })
  expect([patched.status, patched.json().state, patched.headers.has('x-next-cursor')]).toEqual([200, { a: 1 }, true])
  await client.send(`POST ${SESSIONS}/s1/artifacts`, { filename: 'big', artifact: { text: 'x'.repeat(20_000) } })
  expect((await client.send(`GET ${SESSIONS}/s1/artifacts/big`)).status).toBe(413)
})
