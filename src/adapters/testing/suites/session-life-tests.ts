import type { Lease, PruneFilter, SessionKey, SessionService } from '../../../services/session/service.ts'
import { deepEqual, equal, ok, rejectsWith } from './assert.ts'
import { LEASE_MS, type ServiceTest } from './service-test.ts'
import { entryOf, HOME, requestOf, stateOf } from './session-fixtures.ts'

type LifeMethod = 'deleteUser' | 'userState' | 'findPrunable' | 'claimIdle'
type LivingService = SessionService & Required<Pick<SessionService, LifeMethod>>

/** Tests of the end of data: users that are deleted, and sessions that retention deletes. */
export function lifeTests(serviceTest: ServiceTest<SessionService>): void {
  const lifeTest = (name: string, run: (service: LivingService, clock: { time: number }) => Promise<void>): void =>
    serviceTest(name, async (service, clock) => {
      const { deleteUser, userState, findPrunable, claimIdle } = service
      if (deleteUser && userState && findPrunable && claimIdle) await run(service as LivingService, clock)
    })

  lifeTest('deleteUser deletes sessions, copies, requests and user: state, and nothing of others', async (service) => {
    const others = [
      { ...HOME, userId: 'bob' },
      { ...HOME, appName: 'bank' },
    ]
    for (const key of [HOME, { ...HOME, sessionId: 's2' }, ...others])
      await service.createSession({ ...key, state: { color: 'red', 'user:name': key.userId, 'app:motd': 'hi' } })
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1')], { pending: { opened: [requestOf('r1')], closed: [] } })
    const copy = await service.createCopy?.({ ...HOME, sessionId: 'copy' })
    deepEqual(await service.userState(HOME), { 'user:name': 'ada' })

    await service.deleteUser(HOME)
    await service.deleteUser(HOME)
    deepEqual(await service.listSessions(HOME), [])
    deepEqual(await service.userState(HOME), {})
    deepEqual(await service.pending({ appName: 'shop' }), [])
    await rejectsWith(service.append(lease, 1, [entryOf('e2')]), 'SESSION_GONE')
    await rejectsWith(service.post(HOME, { id: 'i1', type: 'cancel' }), 'NOT_FOUND')
    if (copy) await rejectsWith(service.append(copy, 0, [], { completesCopy: true }), 'SESSION_GONE')
    for (const key of others) equal((await stateOf(service, key))?.['user:name'], key.userId)
    await service.createSession(HOME)
    deepEqual(await stateOf(service, HOME), { 'app:motd': 'hi' })
    for (const userId of ['', undefined as unknown as string])
      await rejectsWith(service.deleteUser({ ...HOME, userId }), 'INVALID_REQUEST')
  })

  lifeTest('a deleted user has no items that wait for a worker', async (service) => {
    if (!service.withInbox) return
    await service.createSession(HOME)
    await service.createSession({ ...HOME, userId: 'bob' })
    for (const userId of ['ada', 'bob']) await service.post({ ...HOME, userId }, { id: 'i1', type: 'cancel' })
    await service.deleteUser(HOME)
    deepEqual(await service.withInbox({ appName: 'shop', limit: 10 }), [{ ...HOME, userId: 'bob' }])
  })

  lifeTest('sessions that have not changed for long are prunable, in pages', async (service, clock) => {
    for (const sessionId of ['s1', 's2', 's3']) await service.createSession({ ...HOME, sessionId })
    await service.createSession({ ...HOME, appName: 'bank' })
    const old = clock.time
    clock.time += 1000
    await service.createSession({ ...HOME, sessionId: 's4' })
    await append(service, { ...HOME, sessionId: 's2' })
    const filter = { appName: 'shop', unchangedSince: old, withPending: false }
    deepEqual(await prunable(service, filter), ['s1', 's3'])
    const first = await service.findPrunable({ ...filter, limit: 1 })
    deepEqual(first.items, [{ ...HOME, updatedAt: old }])
    const second = await service.findPrunable({ ...filter, limit: 5, after: first.next })
    deepEqual([second.items.map(({ sessionId }) => sessionId), second.next], [['s3'], undefined])
    deepEqual(await prunable(service, { appName: 'shop', withPending: false }), [])
  })

  lifeTest('sessions of a user beyond a number are prunable, the longest unchanged ones', async (service, clock) => {
    for (const sessionId of ['s1', 's2', 's3']) {
      await service.createSession({ ...HOME, sessionId })
      clock.time += 1000
    }
    await service.createSession({ ...HOME, userId: 'bob' })
    await append(service, { ...HOME, sessionId: 's1' })
    deepEqual(await prunable(service, { appName: 'shop', maxSessionsPerUser: 2, withPending: false }), ['s2'])
    deepEqual(await prunable(service, { appName: 'shop', maxSessionsPerUser: 0, withPending: false }), [
      's1',
      's2',
      's3',
      's1',
    ])
  })

  lifeTest('a session that is being deleted takes no inbox items, until its lease ends', async (service, clock) => {
    await service.createSession(HOME)
    const conditions = { unchangedSince: clock.time, withPending: false }
    const lease = await service.claimIdle(HOME, conditions)
    await rejectsWith(service.post(HOME, { id: 'i1', type: 'cancel' }), 'NOT_FOUND')
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    if (lease) await service.release(lease)
    equal(await service.post(HOME, { id: 'i1', type: 'cancel' }), 0, 'it was not deleted')

    const other = { ...HOME, sessionId: 'other' }
    await service.createSession(other)
    await service.claimIdle(other, conditions)
    clock.time += LEASE_MS
    equal(await service.post(other, { id: 'i2', type: 'cancel' }), 0, 'the process that deletes has died')
    equal((await service.inbox(await service.claim(other))).length, 1)
  })

  lifeTest('sessions with a lease, a dead holder, inbox items or requests are in use', async (service, clock) => {
    const keys = ['held', 'dead', 'posted', 'pending', 'free'].map((sessionId) => ({ ...HOME, sessionId }))
    for (const key of keys) await service.createSession(key)
    const [held, dead, posted, pending, free] = keys as [SessionKey, SessionKey, SessionKey, SessionKey, SessionKey]
    await service.claim(dead)
    clock.time += LEASE_MS
    const lease = await service.claim(held)
    await service.post(posted, { id: 'i1', type: 'cancel' })
    await append(service, pending, { pending: { opened: [requestOf('r1')], closed: [] } })
    const filter = { appName: 'shop', unchangedSince: clock.time, withPending: false }
    deepEqual(await prunable(service, filter), ['free'])
    deepEqual(await prunable(service, { ...filter, withPending: true }), ['pending', 'free'])
    for (const key of [held, dead, posted, pending])
      equal(await service.claimIdle(key, filter), undefined, `${key.sessionId} must not be claimed`)
    ok((await service.claimIdle(pending, { ...filter, withPending: true })) !== undefined, 'requests may be allowed')
    const idle = (await service.claimIdle(free, filter)) as Lease
    deepEqual(idle.key, free)
    await rejectsWith(service.claim(free), 'SESSION_BUSY')
    equal(await service.claimIdle(free, filter), undefined, 'only one process claims it')
    await service.renew(idle)
    await service.release(lease)
    equal(await service.claimIdle({ ...HOME, sessionId: 'missing' }, filter), undefined)
  })

  lifeTest('a session that was set aside has unfinished work', async (service, clock) => {
    if (!service.setAside) return
    await service.createSession(HOME)
    await service.release(await service.claim(HOME), { setAside: 'It dies.', interrupted: true })
    const filter = { appName: 'shop', unchangedSince: clock.time, withPending: true }
    deepEqual(await prunable(service, filter), [])
    equal(await service.claimIdle(HOME, filter), undefined)
  })

  lifeTest('a session that has changed since it was listed is not claimed', async (service, clock) => {
    await service.createSession(HOME)
    const before = clock.time
    clock.time += 1000
    await append(service, HOME)
    equal(await service.claimIdle(HOME, { unchangedSince: before, withPending: false }), undefined)
    ok((await service.claimIdle(HOME, { unchangedSince: clock.time, withPending: false })) !== undefined, 'unchanged')
  })
}

async function prunable(service: LivingService, filter: PruneFilter): Promise<string[]> {
  return (await service.findPrunable({ ...filter, limit: 100 })).items.map(({ sessionId }) => sessionId)
}

async function append(
  service: SessionService,
  key: SessionKey,
  options?: Parameters<SessionService['append']>[3],
): Promise<void> {
  const lease = await service.claim(key)
  await service.append(lease, lease.seq, [entryOf('e1')], options)
  await service.release(lease)
}
