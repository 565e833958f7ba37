import { tool } from 'toolwright'
import { bearerTokens } from 'toolwright/server'
import { expect, onTestFinished, test } from 'vitest'
import { createTestServer, runBody, SESSIONS, type TestClient } from '../../server.test-kit.ts'

interface Frame {
  readonly pending: string
  readonly lastSeq?: number
  readonly sessions?: string
}

/** Opens a stream. `next` reads one frame; undefined is the end. */
async function follow({ server }: TestClient, path: string) {
  const headers = { authorization: `Bearer ${server.token}` }
  const { body, status } = await server.fetch(new Request(`http://127.0.0.1${path}`, { headers }))
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  onTestFinished(() => reader?.cancel())
  const next = async (): Promise<Frame | undefined> => {
    const { value } = (await reader?.read()) ?? {}
    return value === undefined ? undefined : JSON.parse(value.replace('data: ', ''))
  }
  /** Reads frames until one fits: a frame may show the middle of a run. */
  const until = async (fits: (frame: Frame) => boolean): Promise<void> => {
    for (;;) {
      const frame = await next()
      if (!frame) throw new Error('The stream has ended.')
      if (fits(frame)) return
    }
  }
  return { status, next, until }
}

const ask = tool({ name: 'ask', description: 'Asks', requiresConfirmation: true, run: () => 'done' })

test('streams that another client has written to the session, and that a request waits', async () => {
  const client = createTestServer({ dev: true, tools: [ask], steps: ['Hi.', { calls: [{ name: 'ask' }] }] })
  const { send } = client
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  const { next, until } = await follow(client, `/dev${SESSIONS}/s1/changes`)
  const before = await next()
  expect(before).toEqual({ pending: expect.any(String), lastSeq: 0 })
  await send('POST /run', runBody('Hello'))
  const log = (await send(`GET /dev${SESSIONS}/s1/log`)).json()
  await until(({ pending, lastSeq }) => lastSeq === log.lastSeq && pending === before?.pending)
  await send('POST /run', runBody('Ask'))
  await until(({ pending, lastSeq = 0 }) => lastSeq > log.lastSeq && pending !== before?.pending)
})

test('streams changes of the pending requests without a session', async () => {
  const client = createTestServer({ dev: true, tools: [ask], steps: [{ calls: [{ name: 'ask' }] }] })
  const { next } = await follow(client, '/dev/changes')
  const before = await next()
  expect(before).toEqual({ pending: expect.any(String) })
  await client.send(`POST ${SESSIONS}`, { sessionId: 's1' })
  await client.send('POST /run', runBody('Ask'))
  expect((await next())?.pending).not.toBe(before?.pending)
})

test('streams that another client has created a session, given it a title, and run it', async () => {
  const client = createTestServer({ dev: true, steps: ['Hi.'] })
  const { next } = await follow(client, '/dev/changes?app=desk&user=ada')
  const { next: ofAll } = await follow(client, '/dev/changes?app=desk')
  const { next: ofBob } = await follow(client, '/dev/changes?app=desk&user=bob')
  const [before, all, bob] = [await next(), await ofAll(), await ofBob()]
  expect(before?.sessions).toEqual(expect.any(String))
  await client.send(`POST ${SESSIONS}`, { sessionId: 's1' })
  const created = await next()
  expect(created?.sessions).not.toBe(before?.sessions)
  expect((await ofAll())?.sessions).not.toBe(all?.sessions)
  await client.send('POST /run', runBody('Hello'))
  expect((await next())?.sessions).not.toBe(created?.sessions)
  await client.send('POST /apps/desk/users/bob/sessions', { sessionId: 's2' })
  expect((await ofBob())?.sessions).not.toBe(bob?.sessions)
})

test('ends the streams of changes when the server closes', async () => {
  const client = createTestServer({ dev: true })
  const { next } = await follow(client, '/dev/changes')
  await next()
  const end = next()
  await client.server.close()
  expect(await end).toBeUndefined()
})

test('says nothing about the requests of others to a user who may act as one user only', async () => {
  const authenticate = bearerTokens({ 'token-of-ada-0123456789': 'ada' })
  const { server } = createTestServer({ dev: true, authenticate })
  const client = { server: { fetch: server.fetch.bind(server), token: 'token-of-ada-0123456789' } } as TestClient
  expect(await (await follow(client, '/dev/changes')).next()).toEqual({ pending: '' })
  for (const path of ['users/eve/sessions/s1/changes', 'users/ada/sessions/s1/changes?app=desk'])
    expect((await follow(client, `/dev/apps/desk/${path}`)).status, path).toBe(403)
  for (const query of ['app=desk', 'app=desk&user=eve'])
    expect((await follow(client, `/dev/changes?${query}`)).status, query).toBe(403)
  expect((await follow(client, '/dev/changes?app=desk&user=ada')).status).toBe(200)
  expect(await (await follow(client, `/dev${SESSIONS}/s1/changes`)).next()).toEqual({ pending: '', lastSeq: 0 })
})
