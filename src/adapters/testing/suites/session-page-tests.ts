import type { PageOptions, SessionService } from '../../../services/session/service.ts'
import { deepEqual, equal, ok, rejectsWith } from './assert.ts'
import type { ServiceTest } from './service-test.ts'
import { entryOf, HOME, intentOf, requestOf, write } from './session-fixtures.ts'

/** Tests of reading lists in parts. The methods are optional: a store without one passes its tests. */
export function pageTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('pages of sessions are the whole list in order, and from the newest on', async (service) => {
    if (!service.listSessionPage) return
    for (const id of ['c', 'a', 'd', 'b', 'e']) await service.createSession({ ...HOME, sessionId: id, state: { id } })
    await service.createSession({ ...HOME, userId: 'bob' })
    const list = async (options: { newestFirst?: boolean; limit: number }): Promise<string[][]> =>
      pagesOf((page) => service.listSessionPage?.({ ...HOME, ...options, ...page }) ?? never()).then((pages) =>
        pages.map((items) => items.map(({ id, state, events }) => `${id}${String(state.id)}${events.length}`)),
      )
    deepEqual(await list({ limit: 2 }), [['cc0', 'aa0'], ['dd0', 'bb0'], ['ee0']])
    deepEqual(await list({ limit: 5 }), [['cc0', 'aa0', 'dd0', 'bb0', 'ee0']])
    deepEqual(await list({ limit: 4, newestFirst: true }), [['ee0', 'bb0', 'dd0', 'aa0'], ['cc0']])
    deepEqual((await service.listSessionPage({ ...HOME, userId: 'nobody', limit: 1 })).items, [])
  })

  serviceTest('a page of sessions neither repeats nor hides one when others come and go', async (service) => {
    if (!service.listSessionPage) return
    for (const id of ['a', 'b', 'c', 'd']) await service.createSession({ ...HOME, sessionId: id })
    const first = await service.listSessionPage({ ...HOME, limit: 2 })
    await service.deleteSession({ ...HOME, sessionId: 'b' }) // the page ended with it
    await service.deleteSession({ ...HOME, sessionId: 'a' })
    await service.createSession({ ...HOME, sessionId: 'a2' })
    const second = await service.listSessionPage({ ...HOME, limit: 5, after: first.next })
    deepEqual(
      second.items.map(({ id }) => id),
      ['c', 'd', 'a2'],
    )
  })

  serviceTest('a page ends with the item that reaches maxBytes', async (service) => {
    const big = 'x'.repeat(10_000)
    for (const id of ['a', 'b', 'c']) await service.createSession({ ...HOME, sessionId: id, state: { big } })
    const sessions = await service.listSessionPage?.({ ...HOME, limit: 9, maxBytes: 15_000 })
    if (sessions) deepEqual([sessions.items.length, sessions.next !== undefined], [2, true])
    const key = { ...HOME, sessionId: 'a' }
    await write(service, key, entryOf('e1', { big }), intentOf('c1'), entryOf('e2', { big }), entryOf('e3', { big }))
    const log = await service.readLog?.({ ...key, fromSeq: 1, maxBytes: 15_000 })
    if (log) deepEqual([log.entries.map(({ seq }) => seq), log.lastSeq], [[1, 2, 3], 4])
    const none = await service.readLog?.({ ...key, limit: 0 })
    if (none) deepEqual(none, { entries: [], lastSeq: 4 })
    const lease = await service.claim(key)
    const pending = ['r1', 'r2', 'r3'].map((id) => requestOf(id, { sessionId: 'a', args: { big } }))
    await service.append(lease, 4, [], { pending: { opened: pending, closed: [] } })
    const requests = await service.pendingPage?.({ ...HOME, sessionId: 'a', limit: 9, maxBytes: 15_000 })
    if (requests) deepEqual([requests.items.length, requests.next !== undefined], [2, true])
  })

  serviceTest('pages of pending requests are the whole list, and a summary counts them', async (service) => {
    if (!service.pendingPage || !service.pendingSummary) return
    for (const id of ['a', 'b', 'c']) {
      await service.createSession({ ...HOME, sessionId: id })
      const lease = await service.claim({ ...HOME, sessionId: id })
      await service.append(lease, 0, [], {
        pending: { opened: [requestOf(`${id}1`, { sessionId: id }), requestOf(`${id}2`)], closed: 'all' },
      })
    }
    const filter = { appName: 'shop', userId: 'ada' }
    const pages = await pagesOf((page) => service.pendingPage?.({ ...filter, limit: 4, ...page }) ?? never())
    deepEqual(
      pages.map((items) => items.map(({ id }) => id)),
      [
        ['a1', 'a2', 'b1', 'b2'],
        ['c1', 'c2'],
      ],
    )
    deepEqual(pages.flat(), await service.pending(filter))
    const before = await service.pendingSummary(filter)
    equal(before.count, 6)
    equal((await service.pendingSummary({ ...filter, sessionId: 'b' })).count, 2)
    equal((await service.pendingSummary({ ...filter, userId: 'bob' })).count, 0)
    await service.createSession({ ...HOME, sessionId: 'd' })
    const lease = await service.claim({ ...HOME, sessionId: 'd' })
    await service.append(lease, 0, [], { pending: { opened: [requestOf('d1', { sessionId: 'd' })], closed: 'all' } })
    ok((await service.pendingSummary(filter)).newest > before.newest, 'a new request has a larger number')
  })

  serviceTest('sessions with an expired request are found, each once, and no others', async (service) => {
    if (!service.overdue) return
    const expiring = { a: [20, 10], b: [30], c: [undefined], d: [10] }
    for (const [sessionId, times] of Object.entries(expiring)) {
      await service.createSession({ ...HOME, sessionId })
      const lease = await service.claim({ ...HOME, sessionId })
      const opened = times.map((expiresAt, at) =>
        requestOf(`${sessionId}${at}`, { sessionId, ...(expiresAt && { expiresAt }) }),
      )
      await service.append(lease, 0, [], { pending: { opened, closed: 'all' } })
    }
    const find = async (now: number, limit = 9): Promise<string[]> =>
      ((await service.overdue?.({ appName: HOME.appName, now, limit })) ?? never())
        .map(({ sessionId }) => sessionId)
        .sort()
    deepEqual([await find(9_999), await find(10_000), await find(20_000)], [[], ['a', 'd'], ['a', 'd']])
    deepEqual([await find(1e12), (await find(1e12, 2)).length], [['a', 'b', 'd'], 2])
    deepEqual(await service.overdue({ appName: 'other', now: 1e12, limit: 9 }), [])
    await service.deleteSession({ ...HOME, sessionId: 'a' })
    deepEqual(await find(10_000), ['d'])
  })

  serviceTest('a page with a limit or a position that is not valid is INVALID_REQUEST', async (service) => {
    for (const bad of [{ limit: 0 }, { limit: 1.5 }, { limit: Number.NaN }, { limit: '5' }] as PageOptions[]) {
      if (service.listSessionPage) await rejectsWith(service.listSessionPage({ ...HOME, ...bad }), 'INVALID_REQUEST')
      if (service.pendingPage) await rejectsWith(service.pendingPage({ ...HOME, ...bad }), 'INVALID_REQUEST')
    }
    for (const after of ['', 'x', '-1', '1; DROP TABLE x', '9'.repeat(40), 7, {}] as string[]) {
      const page = { ...HOME, limit: 1, after }
      if (service.listSessionPage) await rejectsWith(service.listSessionPage(page), 'INVALID_REQUEST')
      if (service.pendingPage) await rejectsWith(service.pendingPage(page), 'INVALID_REQUEST')
    }
  })

  serviceTest('usage counts sessions, and the keys and bytes of session and user state', async (service) => {
    if (!service.usage) return
    const empty = { keys: 0, bytes: 0 }
    deepEqual(await service.usage(HOME), { sessions: 0, userState: empty, sessionState: empty })
    const state = { a: 'x'.repeat(1000), b: [1], 'user:c': 'y'.repeat(500), 'app:d': 'z' }
    await service.createSession({ ...HOME, state })
    await service.createSession({ ...HOME, sessionId: 's2' })
    await service.createSession({ ...HOME, userId: 'bob' })
    const { sessions, userState, sessionState } = await service.usage(HOME)
    deepEqual([sessions, userState.keys, sessionState.keys], [2, 1, 2])
    deepEqual([userState.bytes, sessionState.bytes], [6 + 502, 1 + 1002 + 1 + 3])
    const rest = await service.usage({ ...HOME, without: ['a', 'a', 'user:c', 'missing', 'app:d'] })
    deepEqual([rest.userState, rest.sessionState.keys], [empty, 1])
    equal(rest.sessionState.bytes, 1 + 3) // the keys that are left out are not counted
    const { appName, userId } = HOME
    deepEqual((await service.usage({ appName, userId })).sessionState, empty)
    await service.deleteSession(HOME)
    equal((await service.usage({ appName, userId })).userState.keys, 1) // user state outlives a session
  })

  serviceTest('usage counts the characters of JSON', async (service) => {
    if (!service.usage) return
    const values: [key: string, value: unknown, bytes: number][] = [
      ['n', 12.5, 1 + 4],
      ['yes', true, 3 + 4],
      ['o', { a: [1, null, { b: 'c' }] }, 1 + 24],
      ['"\n', 'line\n"quoted"', 4 + 18],
      ['ключ', 'текст', 4 + 7],
      ['\u{1f600}', 'a\u{1f600}', 1 + 4],
      ['\u0000', '\ud800', 6 + 8],
    ]
    for (const [at, [key, value, bytes]] of values.entries()) {
      const session = { ...HOME, sessionId: `s${at}` }
      await service.createSession({ ...session, state: { [key]: value } })
      deepEqual([key, (await service.usage(session)).sessionState], [key, { keys: 1, bytes }])
    }
  })
}

/** Reads all pages. */
async function pagesOf<T>(
  read: (page: { after?: string | undefined }) => Promise<{ items: readonly T[]; next?: string }>,
): Promise<(readonly T[])[]> {
  const pages: (readonly T[])[] = []
  let after: string | undefined
  do {
    const page = await read({ after })
    pages.push(page.items)
    after = page.next
  } while (after !== undefined)
  return pages
}

function never(): never {
  throw new Error('The method was there.')
}
