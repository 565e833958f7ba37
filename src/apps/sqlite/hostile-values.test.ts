// Hostile text is stored and returned unchanged.
import { expect, test } from 'vitest'
import { HOSTILE_IDS } from '../../adapters/testing/suites/hostile-ids.ts'
import { eventOf, HOME, write } from '../../adapters/testing/suites/session-fixtures.ts'
import type { JsonObject } from '../../core/base/json.ts'
import type { Event } from '../../core/event/event.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

const HOSTILE = [
  ...HOSTILE_IDS,
  '',
  'a\\b',
  '\\u0000',
  '\u0000',
  "'); DELETE FROM toolwright_sessions; --",
  '?1',
  '\u2028\u2029\ufeff',
  '\udc00\ud800',
  '👩‍👩‍👧',
  'x'.repeat(1_000_000),
]

test('hostile state keys and values in SQLite survive a restart in every scope', async () => {
  const file = temporaryFile()
  const state: JsonObject = {}
  for (const text of HOSTILE) {
    for (const key of [`k${text}`, `user:${text}`, `app:${text}`]) {
      Object.defineProperty(state, key, { value: { [text]: [text] }, enumerable: true })
    }
  }
  const first = sqlite(file)
  await first.sessionService.createSession(HOME)
  await write(first.sessionService, HOME, { event: eventOf('e1', { actions: { stateDelta: state } }) })
  first.close()

  using second = sqlite(file)
  const session = await second.sessionService.getSession(HOME)
  expect(new Map(Object.entries(session?.state ?? {}))).toEqual(new Map(Object.entries(state)))
  const held = await second.sessionService.read(await second.sessionService.claim(HOME))
  for (const key of Object.keys(state)) expect(held.state.get(key), key.slice(0, 50)).toEqual(state[key])
  expect([...held.state.keys()].sort()).toEqual(Object.keys(state).sort())
})

test('hostile ids and texts of events, inbox items and artifacts in SQLite are returned unchanged', async () => {
  const file = temporaryFile()
  const texts = HOSTILE.filter((text) => text !== '')
  const events = texts.map(
    // ids have a limit, other texts have none
    (text, at): Event =>
      eventOf(text.length <= 1000 ? text : `long-${at}`, {
        author: text,
        content: { role: 'model', parts: [{ text }] },
        errorMessage: text,
      }),
  )
  const items = texts
    .filter((text) => text.length <= 1000)
    .map((id) => ({ id, type: 'result', callId: id, response: { [id]: id } }) as const)
  const first = sqlite(file)
  await first.sessionService.createSession(HOME)
  await write(first.sessionService, HOME, ...events.map((event) => ({ event })))
  await write(first.sessionService, HOME, ...events.map((event) => ({ event })))
  for (const item of items) await first.sessionService.post(HOME, item)
  const filenames = texts.filter((text) => text.length <= 1000)
  for (const text of filenames) {
    const customMetadata = { [text]: text }
    expect(
      await first.artifactService.saveArtifact({ ...HOME, filename: text, artifact: { text }, customMetadata }),
    ).toBe(0)
  }
  first.close()

  using second = sqlite(file)
  expect((await second.sessionService.getSession(HOME))?.events).toEqual(events)
  const lease = await second.sessionService.claim(HOME)
  expect((await second.sessionService.read(lease)).entries.map(({ event }) => event)).toEqual(events)
  const posted = items.map((item) => ({ ...item, seq: events.length }))
  expect(await second.sessionService.inbox(lease)).toEqual(posted)
  expect(await second.artifactService.listArtifactKeys(HOME)).toEqual([...filenames].sort())
  for (const text of filenames) {
    expect(await second.artifactService.loadArtifact({ ...HOME, filename: text })).toEqual({ text })
    const version = await second.artifactService.getArtifactVersion({ ...HOME, filename: text })
    expect(version?.customMetadata).toEqual({ [text]: text })
  }
})

test.each([
  ['bytes', Buffer.from([0, 255, 128, 7]).toString('base64')],
  ['no bytes', ''],
  ['base64 without padding', 'AP+ABw'],
  ['base64url', 'AP-ABw=='],
  ['text that is not base64', 'hello, \u0000 world'],
  ['a megabyte', Buffer.alloc(1_000_000, 7).toString('base64')],
])('artifact data in SQLite is returned unchanged: %s', async (_what, data) => {
  using services = sqlite(temporaryFile())
  const artifact = { inlineData: { mimeType: 'a/b', data, displayName: 'x' }, thought: true }
  await services.artifactService.saveArtifact({ ...HOME, filename: 'f', artifact })
  expect(await services.artifactService.loadArtifact({ ...HOME, filename: 'f' })).toEqual(artifact)
})

test('sqlite() rejects values that JSON cannot hold, and stores nothing', async () => {
  using services = sqlite(temporaryFile())
  const { sessionService, artifactService } = services
  await sessionService.createSession(HOME)
  const lease = await sessionService.claim(HOME)
  const refused = { code: 'INVALID_REQUEST', message: expect.stringContaining('cannot be stored') }
  for (const value of [1n, () => {}, Symbol('x')]) {
    const event = eventOf('e1', { actions: { stateDelta: { a: 1, value } } })
    await expect(sessionService.append(lease, 0, [{ event }])).rejects.toMatchObject(refused)
  }
  await expect(sessionService.append(lease, 0, [{ event: null as never }])).rejects.toMatchObject(refused)
  await expect(
    sessionService.createSession({ ...HOME, sessionId: 's2', state: { 'app:a': 1, n: 1n } }),
  ).rejects.toMatchObject(refused)
  const artifact = { text: 'x', partMetadata: { n: 1n } }
  await expect(artifactService.saveArtifact({ ...HOME, filename: 'f', artifact })).rejects.toMatchObject(refused)
  expect(await sessionService.getSession(HOME)).toMatchObject({ state: {}, events: [] })
  expect(await sessionService.getSession({ ...HOME, sessionId: 's2' })).toBeUndefined()
  expect(await artifactService.listArtifactKeys(HOME)).toEqual([])
})
