import type { Lease, SessionService } from '../../../services/session/service.ts'
import { codeOf, deepEqual, equal, ok, rejectsWith } from './assert.ts'
import { LEASE_MS, type ServiceTest } from './service-test.ts'
import { entryOf, eventIds, HOME } from './session-fixtures.ts'

/** Tests of leases: one holder at a time, and a lost lease cannot write. */
export function leaseTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('claiming a missing session is NOT_FOUND', async (service) => {
    await rejectsWith(service.claim(HOME), 'NOT_FOUND')
  })

  serviceTest('a lease has the session key, the sequence number of the log and its length', async (service) => {
    await service.createSession(HOME)
    const first = await service.claim(HOME)
    deepEqual(first.key, HOME)
    equal(first.seq, 0)
    equal(first.leaseMs, LEASE_MS)
    await service.append(first, 0, [entryOf('e1')])
    await service.release(first)
    const second = await service.claim(HOME)
    equal(second.seq, 1)
    ok(second.epoch > first.epoch, 'the epoch grows with each claim')
  })

  serviceTest('a claimed session is SESSION_BUSY until its release', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    await service.append(lease, 0, [entryOf('e1')])
    await service.release(lease)
    await service.claim(HOME)
  })

  serviceTest('exactly one of many concurrent claims succeeds', async (service) => {
    await service.createSession(HOME)
    const claims = await Promise.allSettled(Array.from({ length: 10 }, () => service.claim(HOME)))
    equal(claims.filter((claim) => claim.status === 'fulfilled').length, 1)
  })

  serviceTest('an expired lease can be taken over, and the old holder can no longer write', async (service, clock) => {
    await service.createSession(HOME)
    const late = await service.claim(HOME)
    await service.append(late, 0, [entryOf('e1')])
    clock.time += LEASE_MS - 1
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    clock.time += 1
    const next = await service.claim(HOME)
    ok(next.epoch > late.epoch, 'the epoch grows with each claim')
    await checkLeaseLost(service, late, 1)
    await service.release(late)
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    equal(await service.append(next, 1, [entryOf('e2')]), 2, 'the release of a lost lease frees nothing')
    deepEqual(await eventIds(service, HOME), ['e1', 'e2'])
  })

  serviceTest('an expired lease stays valid until another claim', async (service, clock) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    clock.time += 10 * LEASE_MS
    equal(await service.append(lease, 0, [entryOf('e1')]), 1)
    equal((await service.read(lease)).entries.length, 1)
    equal((await service.renew(lease)).leaseMs, LEASE_MS)
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
  })

  serviceTest('a renewed lease lives longer, and both lease objects stay valid', async (service, clock) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    clock.time += LEASE_MS - 1
    const renewed = await service.renew(lease)
    deepEqual(renewed, lease)
    clock.time += LEASE_MS - 1
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    equal(await service.append(lease, 0, [entryOf('e1')]), 1, 'the lease object before the renewal')
    equal(await service.append(renewed, 1, [entryOf('e2')]), 2)
    await service.release(renewed)
    await checkLeaseLost(service, renewed, 2)
    await checkLeaseLost(service, lease, 2)
  })

  for (const [direction, hours] of [
    ['back', -1],
    ['forward', 1],
  ] as const) {
    serviceTest(
      `setting the system clock ${direction} by an hour neither ends nor extends a lease`,
      async (service, clock) => {
        await service.createSession(HOME)
        const lease = await service.claim(HOME)
        clock.offset = hours * 3_600_000
        await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
        deepEqual(await service.interrupted(HOME), [], 'the lease is alive')
        clock.time += LEASE_MS - 1
        await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
        await service.renew(lease)
        clock.offset = 0
        clock.time += LEASE_MS - 1
        await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
        clock.offset = hours * 3_600_000
        clock.time += 1
        deepEqual(await service.interrupted(HOME), [HOME], 'the lease has expired')
        const next = await service.claim(HOME)
        await checkLeaseLost(service, lease, 0)
        equal(await service.append(next, 0, [entryOf('e1')]), 1)
      },
    )
  }

  serviceTest('a released lease cannot write', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.release(lease)
    await service.release(lease)
    await checkLeaseLost(service, lease, 0)
    deepEqual(await eventIds(service, HOME), [])
  })

  serviceTest('a forged lease can neither read nor write', async (service) => {
    const other = { ...HOME, sessionId: 's2' }
    await service.createSession(HOME)
    await service.createSession(other)
    const free: Lease = { key: HOME, epoch: 0, seq: 0, leaseMs: LEASE_MS }
    await checkLeaseLost(service, free, 0)
    const lease = await service.claim(HOME)
    for (const epoch of [0, -1, lease.epoch - 1, lease.epoch + 1, lease.epoch + 0.5, Number.NaN]) {
      await checkLeaseLost(service, { ...lease, epoch }, 0)
    }
    const thief = await service.claim(other)
    await checkRefused(service, { ...thief, key: { ...HOME, sessionId: 's3' } })
    await checkRefused(service, { ...thief, key: { ...other, userId: 'bob' } })
    await checkRefused(service, { ...thief, key: { ...other, appName: 'bank' } })
    deepEqual(await eventIds(service, HOME), [])
    equal(await service.append(lease, 0, [entryOf('e1')]), 1, 'the holder can still append')
  })

  serviceTest('a JSON copy of a lease is valid', async (service) => {
    await service.createSession(HOME)
    const lease = JSON.parse(JSON.stringify(await service.claim(HOME))) as Lease
    equal(await service.append(lease, 0, [entryOf('e1')]), 1)
    await service.release(lease)
    await service.claim(HOME)
  })

  serviceTest('changing a key or lease object does not change the stored session', async (service) => {
    const key = { ...HOME }
    await service.createSession(key)
    const lease = await service.claim(key)
    key.userId = 'bob'
    deepEqual(lease.key, HOME)
    const spoiled = (await service.renew(lease)) as { key: { userId: string } }
    spoiled.key.userId = 'bob'
    equal(await service.append(lease, 0, [entryOf('e1')]), 1)
    equal((await service.getSession(HOME))?.userId, 'ada')
  })

  serviceTest('deleting a session ends its lease, also for a new session with the same key', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.deleteSession(HOME)
    await checkRefused(service, lease)
    await service.release(lease)
    await service.createSession(HOME)
    await checkRefused(service, lease, { codes: ['SESSION_GONE', 'LEASE_LOST'] })
    const next = await service.claim(HOME)
    await checkRefused(service, lease, { codes: ['SESSION_GONE', 'LEASE_LOST'] })
    await service.release(lease)
    equal(await service.append(next, 0, [entryOf('e1')]), 1)
  })
}

async function checkLeaseLost(service: SessionService, lease: Lease, seq: number): Promise<void> {
  await checkRefused(service, lease, { seq, codes: ['LEASE_LOST'] })
}

/** A lease that is not held gives one of these errors, whatever it is used for. */
async function checkRefused(
  service: SessionService,
  lease: Lease,
  { seq = 0, codes = ['SESSION_GONE'] }: { seq?: number; codes?: readonly string[] } = {},
): Promise<void> {
  const uses = [
    service.append(lease, seq, [entryOf('x')]),
    service.append(lease, seq + 7, [entryOf('x')]),
    service.read(lease),
    service.inbox(lease),
    service.renew(lease),
  ]
  const ends = await Promise.all(uses.map((use) => use.then(() => 'no error', codeOf)))
  for (const end of ends) ok(codes.includes(String(end)), `${end} instead of ${codes.join(' or ')}`)
}
