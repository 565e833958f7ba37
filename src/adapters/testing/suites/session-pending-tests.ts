import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Lease, SessionService } from '../../../services/session/service.ts'
import { codeOf, deepEqual, equal, rejectsWith } from './assert.ts'
import { HOSTILE_IDS } from './hostile-ids.ts'
import { LEASE_MS, type ServiceTest } from './service-test.ts'
import { entryOf, eventIds, HOME, requestOf } from './session-fixtures.ts'

/** Tests of pending requests: complete, isolated, and stored in the transaction of their append. */
export function pendingTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('a session has no pending requests before an append stores one', async (service) => {
    deepEqual(await service.pending({ appName: 'shop' }), [])
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1')])
    deepEqual(await service.pending({ appName: 'shop' }), [])
    await service.append(lease, 1, [entryOf('e2')], { pending: { opened: [requestOf('r1')], closed: 'all' } })
    deepEqual(await service.pending({ appName: 'shop' }), [requestOf('r1')])
  })

  serviceTest('a pending request is returned with every field as it was stored', async (service) => {
    const request = requestOf('r1', {
      kind: 'input',
      args: JSON.parse('{"__proto__": {"x": 1}, "text": "naïve \\u0000 日本語 \\ud800", "deep": [[{"y": null}]]}'),
      hint: 'Approve "it"?',
      createdAt: 1_700_000_000.5,
      expiresAt: 1_700_086_400.5,
      key: 'size',
      schema: { type: 'string', enum: ['S', 'M'] },
      payload: { rows: [1, 2] },
      authUri: 'https://auth.example/consent?a=b',
    })
    const lease = await waitFor(service, [request])
    deepEqual(await service.pending(HOME), [request])
    await service.release(lease)
    deepEqual(await service.pending(HOME), [request], 'also without a lease')
  })

  serviceTest('an append with pending replaces the requests, one without keeps them', async (service) => {
    const lease = await waitFor(service, [requestOf('r1'), requestOf('r2')])
    await service.append(lease, 1, [entryOf('e2')])
    deepEqual(await idsOf(service), ['r1', 'r2'])
    await service.append(lease, 2, [entryOf('e3')], {
      pending: { opened: [requestOf('r2'), requestOf('r3')], closed: 'all' },
    })
    deepEqual(await idsOf(service), ['r2', 'r3'])
    await service.append(lease, 3, [], { pending: { opened: [requestOf('r3')], closed: 'all' } })
    deepEqual(await idsOf(service), ['r3'], 'also an append without entries')
    await service.append(lease, 3, [entryOf('e4')], { pending: { opened: [], closed: 'all' } })
    deepEqual(await idsOf(service), [])
  })

  serviceTest('a failed append does not change the pending requests', async (service, clock) => {
    const late = await waitFor(service, [requestOf('r1')])
    await rejectsWith(
      service.append(late, 7, [entryOf('x')], { pending: { opened: [], closed: 'all' } }),
      'STALE_APPEND',
    )
    await rejectsWith(
      service.append(late, 0, [], { pending: { opened: [requestOf('x')], closed: 'all' } }),
      'STALE_APPEND',
    )
    const forged = { ...late, epoch: late.epoch + 1 }
    await rejectsWith(service.append(forged, 1, [], { pending: { opened: [], closed: 'all' } }), 'LEASE_LOST')
    clock.time += LEASE_MS
    const next = await service.claim(HOME)
    await rejectsWith(
      service.append(late, 1, [entryOf('x')], { pending: { opened: [requestOf('x')], closed: 'all' } }),
      'LEASE_LOST',
    )
    deepEqual(await idsOf(service), ['r1'])
    deepEqual(await eventIds(service, HOME), ['e1'])
    await service.append(next, 1, [entryOf('e2')], { pending: { opened: [requestOf('r2')], closed: 'all' } })
    deepEqual(await idsOf(service), ['r2'], 'the holder can still append')
  })

  serviceTest('a repeated append does not change the pending requests', async (service) => {
    const lease = await waitFor(service, [requestOf('r1')])
    await service.append(lease, 1, [entryOf('e2')], { pending: { opened: [requestOf('r2')], closed: 'all' } })
    equal(await service.append(lease, 0, [entryOf('e1')], { pending: { opened: [requestOf('r1')], closed: 'all' } }), 1)
    deepEqual(await idsOf(service), ['r2'])
  })

  serviceTest(
    'pending requests are listed in the order in which they were first stored, whatever the clock',
    async (service, clock) => {
      const other = { ...HOME, userId: 'bob', sessionId: 's2' }
      await service.createSession(other)
      const lease = await service.claim(other)
      const at = (seconds: number) => ({ createdAt: 1_700_000_000 + seconds })
      const home = await waitFor(service, [requestOf('a', at(40)), requestOf('b')])
      clock.offset = -3_600_000
      await service.append(lease, 0, [], {
        pending: { opened: [requestOf('c', at(-3600)), requestOf('d')], closed: 'all' },
      })
      deepEqual(await idsOf(service), ['a', 'b', 'c', 'd'])
      const changed = requestOf('b', { hint: 'half done' })
      await service.append(home, 1, [], {
        pending: { opened: [requestOf('e', at(-3600)), changed, requestOf('a', at(40))], closed: 'all' },
      })
      deepEqual(await idsOf(service), ['a', 'b', 'c', 'd', 'e'], 'a request that stays keeps its position')
      deepEqual((await service.pending(HOME))[1], changed)
      await service.append(home, 1, [], { pending: { opened: [changed], closed: 'all' } })
      await service.append(home, 1, [], { pending: { opened: [requestOf('a', at(40)), changed], closed: 'all' } })
      deepEqual(await idsOf(service), ['b', 'c', 'd', 'a'], 'a request that was removed and stored again is last')
    },
  )

  serviceTest('pending requests of another app, user or session are not returned', async (service) => {
    const places = [
      HOME,
      { ...HOME, sessionId: 's2' },
      { ...HOME, userId: 'bob' },
      { ...HOME, appName: 'bank' },
      ...(await takenIds(service)).map((userId) => ({ ...HOME, userId })),
    ]
    for (const [index, place] of places.entries()) {
      if (!(await service.getSession(place))) await service.createSession(place)
      const lease = await service.claim(place)
      await service.append(lease, 0, [], { pending: { opened: [requestOf(`r${index}`)], closed: 'all' } })
    }
    const all = places.map((place, index) => ({ place, id: `r${index}` }))
    const seen = async (filter: Parameters<SessionService['pending']>[0]) =>
      (await service.pending(filter)).map(({ id }) => id).sort()
    for (const { place, id } of all) {
      deepEqual(await seen(place), [id])
      const { appName, userId, sessionId } = place
      const here = all.filter((other) => other.place.appName === appName)
      const idsWhere = (is: (key: typeof place) => boolean) =>
        here
          .filter((o) => is(o.place))
          .map((o) => o.id)
          .sort()
      deepEqual(
        await seen({ appName, userId }),
        idsWhere((key) => key.userId === userId),
      )
      deepEqual(
        await seen({ appName, sessionId }),
        idsWhere((key) => key.sessionId === sessionId),
      )
      deepEqual(
        await seen({ appName }),
        idsWhere(() => true),
      )
    }
    deepEqual(await service.pending({ appName: 'nowhere' }), [])
    deepEqual(await service.pending({ appName: 'shop', userId: 'nobody' }), [])
  })

  serviceTest('the ids inside a request do not decide which session it belongs to', async (service) => {
    await waitFor(service, [requestOf('r1', { userId: 'bob', sessionId: 's9' })])
    deepEqual(await service.pending({ appName: 'shop', userId: 'bob' }), [])
    deepEqual(await idsOf(service), ['r1'])
  })

  serviceTest(
    'deleting a session deletes its pending requests, also for a new session with the same key',
    async (service) => {
      await waitFor(service, [requestOf('r1')])
      await service.deleteSession(HOME)
      deepEqual(await service.pending({ appName: 'shop' }), [])
      await service.createSession(HOME)
      deepEqual(await service.pending({ appName: 'shop' }), [])
    },
  )

  serviceTest('changing a request object does not change the stored request', async (service) => {
    const args = { rows: ['a'] }
    await waitFor(service, [requestOf('r1', { args })])
    args.rows.push('spoiled')
    const [given] = await service.pending(HOME)
    const rows = given?.args.rows as string[]
    rows.push('spoiled')
    deepEqual(await service.pending(HOME), [requestOf('r1', { args: { rows: ['a'] } })])
  })

  serviceTest(
    'an append opens and closes single requests, and a request that opens again keeps its place',
    async (service) => {
      const lease = await waitFor(service, [requestOf('r1'), requestOf('r2'), requestOf('r3')])
      await service.append(lease, 1, [], { pending: { opened: [requestOf('r4')], closed: ['r2', 'unknown'] } })
      deepEqual(await idsOf(service), ['r1', 'r3', 'r4'])
      await service.append(lease, 1, [], { pending: { opened: [requestOf('r1', { hint: 'Again?' })], closed: [] } })
      deepEqual(await idsOf(service), ['r1', 'r3', 'r4'])
      deepEqual((await service.pending(HOME))[0]?.hint, 'Again?')
      await service.append(lease, 1, [], { pending: { opened: [requestOf('r3')], closed: 'all' } })
      deepEqual(await idsOf(service), ['r3'])
    },
  )

  serviceTest('an incomplete request is INVALID_REQUEST and nothing of its append is stored', async (service) => {
    const lease = await waitFor(service, [requestOf('r1')])
    for (const bad of [
      { id: 'r2' },
      requestOf('r2', { tool: 7 as never }),
      requestOf('r2', { createdAt: Number.NaN }),
    ]) {
      const pending = { opened: [bad as PendingRequest], closed: [] }
      await rejectsWith(service.append(lease, 1, [entryOf('e2')], { pending }), 'INVALID_REQUEST')
    }
    deepEqual(await idsOf(service), ['r1'])
    deepEqual(await eventIds(service, HOME), ['e1'])
  })

  serviceTest('an invalid filter is INVALID_REQUEST', async (service) => {
    for (const bad of ['', 'x'.repeat(1001), 7, null, {}] as string[]) {
      await rejectsWith(service.pending({ appName: bad }), 'INVALID_REQUEST')
      await rejectsWith(service.pending({ appName: 'shop', userId: bad }), 'INVALID_REQUEST')
      await rejectsWith(service.pending({ appName: 'shop', sessionId: bad }), 'INVALID_REQUEST')
      await rejectsWith(service.interrupted({ appName: bad }), 'INVALID_REQUEST')
    }
  })
}

/** Creates a session with pending requests and returns its lease. */
async function waitFor(service: SessionService, opened: readonly PendingRequest[]): Promise<Lease> {
  await service.createSession(HOME)
  const lease = await service.claim(HOME)
  await service.append(lease, 0, [entryOf('e1')], { pending: { opened, closed: [] } })
  return lease
}

/** Creates sessions with hostile ids. A store may reject ids with INVALID_REQUEST. */
async function takenIds(service: SessionService): Promise<string[]> {
  const taken: string[] = []
  for (const userId of HOSTILE_IDS) {
    try {
      await service.createSession({ ...HOME, userId })
      taken.push(userId)
    } catch (error) {
      if (codeOf(error) !== 'INVALID_REQUEST') throw error
    }
  }
  return taken
}

async function idsOf(service: SessionService): Promise<string[]> {
  return (await service.pending({ appName: 'shop' })).map(({ id }) => id)
}
