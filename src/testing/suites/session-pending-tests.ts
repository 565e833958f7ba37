import type { PendingRequest } from '../../event/pending.ts'
import type { Lease, SessionService } from '../../session/service.ts'
import { codeOf, deepEqual, equal, rejectsWith } from './assert.ts'
import { entryOf, eventIds, HOME, requestOf } from './session-fixtures.ts'
import { HOSTILE_IDS, LEASE_MS, type ServiceTest } from './service-test.ts'

/** What sessions are recorded as waiting for: all of it, nobody else's, and never half an append. */
export function pendingTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('a session waits for nothing until an append says so', async (service) => {
    deepEqual(await service.pending({ appName: 'shop' }), [])
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1')])
    deepEqual(await service.pending({ appName: 'shop' }), [])
    await service.append(lease, 1, [entryOf('e2')], { pending: [requestOf('r1')] })
    deepEqual(await service.pending({ appName: 'shop' }), [requestOf('r1')])
  })

  serviceTest('a request comes back as it was recorded, every field', async (service) => {
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
    deepEqual(await service.pending(HOME), [request], 'also when nobody holds the session')
  })

  serviceTest('an append replaces what is waited for, and one that does not name it leaves it', async (service) => {
    const lease = await waitFor(service, [requestOf('r1'), requestOf('r2')])
    await service.append(lease, 1, [entryOf('e2')])
    deepEqual(await idsOf(service), ['r1', 'r2'])
    await service.append(lease, 2, [entryOf('e3')], { pending: [requestOf('r2'), requestOf('r3')] })
    deepEqual(await idsOf(service), ['r2', 'r3'])
    await service.append(lease, 3, [], { pending: [requestOf('r3')] })
    deepEqual(await idsOf(service), ['r3'], 'also an append of nothing else')
    await service.append(lease, 3, [entryOf('e4')], { pending: [] })
    deepEqual(await idsOf(service), [])
  })

  serviceTest('an append that fails changes nothing that is waited for', async (service, clock) => {
    const late = await waitFor(service, [requestOf('r1')])
    await rejectsWith(service.append(late, 7, [entryOf('x')], { pending: [] }), 'STALE_APPEND')
    await rejectsWith(service.append(late, 0, [], { pending: [requestOf('x')] }), 'STALE_APPEND')
    const forged = { ...late, epoch: late.epoch + 1 }
    await rejectsWith(service.append(forged, 1, [], { pending: [] }), 'LEASE_LOST')
    clock.time += LEASE_MS
    const next = await service.claim(HOME)
    await rejectsWith(service.append(late, 1, [entryOf('x')], { pending: [requestOf('x')] }), 'LEASE_LOST')
    deepEqual(await idsOf(service), ['r1'])
    deepEqual(await eventIds(service, HOME), ['e1'])
    await service.append(next, 1, [entryOf('e2')], { pending: [requestOf('r2')] })
    deepEqual(await idsOf(service), ['r2'], 'the honest holder goes on')
  })

  serviceTest('an append made again records nothing anew', async (service) => {
    const lease = await waitFor(service, [requestOf('r1')])
    await service.append(lease, 1, [entryOf('e2')], { pending: [requestOf('r2')] })
    equal(await service.append(lease, 0, [entryOf('e1')], { pending: [requestOf('r1')] }), 1)
    deepEqual(await idsOf(service), ['r2'])
  })

  serviceTest('requests come in the order they were first recorded, whatever the clock says', async (service, clock) => {
    const other = { ...HOME, userId: 'bob', sessionId: 's2' }
    await service.createSession(other)
    const lease = await service.claim(other)
    const at = (seconds: number) => ({ createdAt: 1_700_000_000 + seconds })
    const home = await waitFor(service, [requestOf('a', at(40)), requestOf('b')])
    clock.offset = -3_600_000
    await service.append(lease, 0, [], { pending: [requestOf('c', at(-3600)), requestOf('d')] })
    deepEqual(await idsOf(service), ['a', 'b', 'c', 'd'])
    const changed = requestOf('b', { hint: 'half done' })
    await service.append(home, 1, [], { pending: [requestOf('e', at(-3600)), changed, requestOf('a', at(40))] })
    deepEqual(await idsOf(service), ['a', 'b', 'c', 'd', 'e'], 'a request that stays keeps its place')
    deepEqual((await service.pending(HOME))[1], changed)
    await service.append(home, 1, [], { pending: [changed] })
    await service.append(home, 1, [], { pending: [requestOf('a', at(40)), changed] })
    deepEqual(await idsOf(service), ['b', 'c', 'd', 'a'], 'one that went and came back is new')
  })

  serviceTest('another app, user or session sees none of it', async (service) => {
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
      await service.append(lease, 0, [], { pending: [requestOf(`r${index}`)] })
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

  serviceTest('what a request says of itself moves it nowhere', async (service) => {
    await waitFor(service, [requestOf('r1', { userId: 'bob', sessionId: 's9' })])
    deepEqual(await service.pending({ appName: 'shop', userId: 'bob' }), [])
    deepEqual(await idsOf(service), ['r1'])
  })

  serviceTest('a deleted session waits for nothing, and one in its place starts anew', async (service) => {
    await waitFor(service, [requestOf('r1')])
    await service.deleteSession(HOME)
    deepEqual(await service.pending({ appName: 'shop' }), [])
    await service.createSession(HOME)
    deepEqual(await service.pending({ appName: 'shop' }), [])
  })

  serviceTest('changing a request in hand does not change the recorded one', async (service) => {
    const args = { rows: ['a'] }
    await waitFor(service, [requestOf('r1', { args })])
    args.rows.push('spoiled')
    const [given] = await service.pending(HOME)
    const rows = given?.args.rows as string[]
    rows.push('spoiled')
    deepEqual(await service.pending(HOME), [requestOf('r1', { args: { rows: ['a'] } })])
  })

  serviceTest('a request that lacks something is INVALID_REQUEST, and nothing of its append is stored', async (service) => {
    const lease = await waitFor(service, [requestOf('r1')])
    for (const bad of [
      { id: 'r2' },
      requestOf('r2', { tool: 7 as never }),
      requestOf('r2', { createdAt: Number.NaN }),
    ]) {
      const pending = [bad as PendingRequest]
      await rejectsWith(service.append(lease, 1, [entryOf('e2')], { pending }), 'INVALID_REQUEST')
    }
    deepEqual(await idsOf(service), ['r1'])
    deepEqual(await eventIds(service, HOME), ['e1'])
  })

  serviceTest('a filter that is no filter is INVALID_REQUEST', async (service) => {
    for (const bad of ['', 'x'.repeat(1001), 7, null, {}] as string[]) {
      await rejectsWith(service.pending({ appName: bad }), 'INVALID_REQUEST')
      await rejectsWith(service.pending({ appName: 'shop', userId: bad }), 'INVALID_REQUEST')
      await rejectsWith(service.pending({ appName: 'shop', sessionId: bad }), 'INVALID_REQUEST')
      await rejectsWith(service.interrupted({ appName: bad }), 'INVALID_REQUEST')
    }
  })
}

/** A new session that waits for these, with its lease. */
async function waitFor(service: SessionService, pending: readonly PendingRequest[]): Promise<Lease> {
  await service.createSession(HOME)
  const lease = await service.claim(HOME)
  await service.append(lease, 0, [entryOf('e1')], { pending })
  return lease
}

/** Hostile ids that name a session now; a store may refuse what it cannot keep apart. */
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
