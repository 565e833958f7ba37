import { expect, onTestFinished, test } from 'vitest'
import { HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { delayedDatabase } from '../../apps/sqlite/delayed-database.test-kit.ts'

test('many sessions are listed with their state in few statements, as a whole and in pages', async () => {
  const { process, close } = delayedDatabase()
  onTestFinished(close)
  const { database, sessionService } = process()
  const { appName, userId } = HOME
  await sessionService.createSession({ ...HOME, userId: 'bob', state: { n: -1, 'user:name': 'Bob', 'app:news': 1 } })
  for (let n = 0; n < 45; n++) await sessionService.createSession({ ...HOME, sessionId: `s${n}`, state: { n } })
  const expected = Array.from({ length: 45 }, (_, n) => [`s${n}`, { 'app:news': 1, n }])
  database.statements.length = 0
  const listed = await sessionService.listSessions({ appName, userId })
  expect(listed.map(({ id, state }) => [id, state])).toEqual(expected)
  expect(database.statements.length).toBeLessThan(6)
  for (const newestFirst of [false, true]) {
    const first = await sessionService.listSessionPage({ appName, userId, newestFirst, limit: 30 })
    const second = await sessionService.listSessionPage({ appName, userId, newestFirst, limit: 30, after: first.next })
    const shown = [...first.items, ...second.items].map(({ id, state }) => [id, state])
    expect([first.items.length, second.next]).toEqual([30, undefined])
    expect(newestFirst ? shown.reverse() : shown).toEqual(expected)
  }
  const small = await sessionService.listSessionPage({ appName, userId, limit: 30, maxBytes: 1 })
  expect(
    small.items.map(({ id }) => id),
    'the page ends early',
  ).toEqual(['s0'])
})
