import type { Lease, SessionService } from '../../../services/session/service.ts'
import { deepEqual, equal, rejectsWith } from './assert.ts'
import { LEASE_MS, type ServiceTest } from './service-test.ts'
import { entryOf, eventIds, HOME, requestOf, stateOf } from './session-fixtures.ts'

/** A store that can copy sessions. */
type CopyingService = SessionService & Required<Pick<SessionService, 'createCopy' | 'claimUnfinishedCopies'>>

/** Tests of copies of sessions: no caller sees a copy before it is complete, and an unfinished one can be removed. */
export function copyTests(serviceTest: ServiceTest<SessionService>): void {
  const copyTest: ServiceTest<CopyingService> = (name, run) =>
    serviceTest(name, (service, clock) => run(withCopies(service), clock))

  copyTest('an unfinished copy does not exist, except for its holder', async (service, clock) => {
    const lease = await service.createCopy({ ...HOME, state: { color: 'red' } })
    deepEqual([lease.key, lease.seq], [HOME, 0])
    equal(
      await service.append(lease, 0, [entryOf('e1', { size: 1 })], {
        pending: { opened: [requestOf('r1')], closed: 'all' },
      }),
      1,
    )
    for (let waited = 0; waited < 2; waited++) {
      await expectNoSession(service)
      clock.time += LEASE_MS // the copy of a dead process stays invisible, too
    }
    await service.deleteSession(HOME)
    equal(await service.append(lease, 1, [entryOf('e2')]), 2)
    const { entries, state } = await service.read(lease)
    deepEqual([entries.length, state.get('color'), state.get('size')], [2, 'red', 1])
  })

  copyTest('the key of an unfinished copy is taken', async (service) => {
    await service.createCopy(HOME)
    await rejectsWith(service.createSession(HOME), 'ALREADY_EXISTS')
    await rejectsWith(service.createCopy(HOME), 'ALREADY_EXISTS')
    const other = { ...HOME, sessionId: 's2' }
    await service.createSession(other)
    await rejectsWith(service.createCopy(other), 'ALREADY_EXISTS')
    await service.createCopy({ ...HOME, userId: 'bob' })
    await rejectsWith(service.createCopy({ ...HOME, sessionId: '' }), 'INVALID_REQUEST')
  })

  copyTest('the append that completes a copy makes it a session', async (service, clock) => {
    const lease = await service.createCopy({ ...HOME, state: { color: 'red' } })
    await service.append(lease, 0, [entryOf('e1', { size: 1 })], {
      pending: { opened: [requestOf('r1')], closed: 'all' },
    })
    await rejectsWith(service.append(lease, 0, [entryOf('e9')], { completesCopy: true }), 'STALE_APPEND')
    await expectNoSession(service)
    equal(await service.append(lease, 1, [entryOf('e2')], { completesCopy: true }), 2)
    deepEqual(await eventIds(service, HOME), ['e1', 'e2'])
    deepEqual(await stateOf(service, HOME), { color: 'red', size: 1 })
    equal((await service.pending({ appName: 'shop' })).length, 1)
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    clock.time += LEASE_MS
    deepEqual(await service.interrupted({ appName: 'shop' }), [HOME])
    deepEqual(await service.claimUnfinishedCopies({ appName: 'shop' }), [])
    await service.release(lease)
    deepEqual(await service.interrupted({ appName: 'shop' }), [])
    deepEqual(await eventIds(service, HOME), ['e1', 'e2'], 'releasing a complete copy keeps it')
  })

  copyTest('an append without entries completes a copy, and a repeated one changes nothing', async (service) => {
    const lease = await service.createCopy(HOME)
    await service.append(lease, 0, [entryOf('e1')])
    equal(await service.append(lease, 1, [], { completesCopy: true }), 1)
    equal(await service.append(lease, 1, [], { completesCopy: true }), 1)
    await service.release(lease)
    deepEqual(await eventIds(service, HOME), ['e1'])
    const again = await service.claim(HOME)
    equal(await service.append(again, 1, [entryOf('e2')], { completesCopy: true }), 2)
  })

  copyTest('unfinished copies can be claimed when their lease has ended, by one process', async (service, clock) => {
    const copies = [HOME, { ...HOME, userId: 'bob' }, { ...HOME, appName: 'bank' }]
    const leases = await Promise.all(copies.map((key) => service.createCopy(key)))
    const late = leases[0] as Lease
    clock.time += LEASE_MS - 1
    deepEqual(await service.claimUnfinishedCopies({ appName: 'shop' }), [], 'the leases are alive')
    await service.renew(leases[1] as Lease)
    clock.time += 1
    const [claimed, ...others] = await service.claimUnfinishedCopies({ appName: 'shop' })
    deepEqual([claimed?.key, others], [HOME, []], 'bob has renewed, and bank is another app')
    deepEqual(await service.claimUnfinishedCopies({ appName: 'shop' }), [], 'claimed')
    await rejectsWith(service.append(late, 0, [], { completesCopy: true }), 'LEASE_LOST')
    await rejectsWith(service.renew(late), 'LEASE_LOST')
    await service.release(late)
    await rejectsWith(service.createSession(HOME), 'ALREADY_EXISTS')
    clock.time += LEASE_MS
    const again = await service.claimUnfinishedCopies({ appName: 'shop' })
    equal(again.length, 2, 'the process that claimed the copy died, too')
  })

  copyTest('releasing the lease of an unfinished copy deletes it', async (service) => {
    for (const options of [undefined, { interrupted: true }]) {
      const lease = await service.createCopy({ ...HOME, state: { color: 'red' } })
      await service.append(lease, 0, [entryOf('e1')])
      await service.release(lease, options)
      await rejectsWith(service.append(lease, 1, [], { completesCopy: true }), 'SESSION_GONE')
      deepEqual(await service.interrupted({ appName: 'shop' }), [])
    }
    await service.createSession(HOME)
    deepEqual(await stateOf(service, HOME), {})
    deepEqual(await eventIds(service, HOME), [])
  })
}

/** Throws if the session of the tests exists for a caller without its lease. */
async function expectNoSession(service: CopyingService): Promise<void> {
  equal(await service.getSession(HOME), undefined)
  deepEqual(await service.listSessions(HOME), [])
  equal(await service.readLog?.(HOME), undefined)
  deepEqual(await service.pending({ appName: 'shop' }), [])
  deepEqual(await service.pending(HOME), [])
  deepEqual(await service.interrupted({ appName: 'shop' }), [])
  await rejectsWith(service.claim(HOME), 'NOT_FOUND')
  await rejectsWith(service.post(HOME, { id: 'i1', type: 'cancel' }), 'NOT_FOUND')
}

function withCopies(service: SessionService): CopyingService {
  if (service.createCopy && service.claimUnfinishedCopies) return service as CopyingService
  throw new Error('Implement createCopy and claimUnfinishedCopies. Without them, runner.fork() is refused.')
}
