import type { Lease, SessionService } from '../../session/service.ts'
import { deepEqual, equal, ok, rejectsWith } from './assert.ts'
import { entryOf, eventIds, HOME } from './session-fixtures.ts'
import { LEASE_MS, type ServiceTest } from './service-test.ts'

/** Leases: one writer at a time, and a late one is kept out. */
export function leaseTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('a session that is not there cannot be claimed', async (service) => {
    await rejectsWith(service.claim(HOME), 'NOT_FOUND')
  })

  serviceTest('a lease says what it is for, where the log is, and how long it lives', async (service) => {
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

  serviceTest('a session in use is SESSION_BUSY, and free after release', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    await service.append(lease, 0, [entryOf('e1')])
    await service.release(lease)
    await service.claim(HOME)
  })

  serviceTest('of many claims at once exactly one is granted', async (service) => {
    await service.createSession(HOME)
    const claims = await Promise.allSettled(Array.from({ length: 10 }, () => service.claim(HOME)))
    equal(claims.filter((claim) => claim.status === 'fulfilled').length, 1)
  })

  serviceTest('an expired lease may be taken over, and its holder can do nothing any more', async (service, clock) => {
    await service.createSession(HOME)
    const late = await service.claim(HOME)
    await service.append(late, 0, [entryOf('e1')])
    clock.time += LEASE_MS - 1
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    clock.time += 1
    const next = await service.claim(HOME)
    ok(next.epoch > late.epoch, 'the epoch grows with each claim')
    await refusesEverything(service, late, 1)
    await service.release(late)
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    equal(await service.append(next, 1, [entryOf('e2')]), 2, 'the release of a lost lease frees nothing')
    deepEqual(await eventIds(service, HOME), ['e1', 'e2'])
  })

  serviceTest('a late holder that nobody has followed may go on', async (service, clock) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    clock.time += 10 * LEASE_MS
    equal(await service.append(lease, 0, [entryOf('e1')]), 1)
    equal((await service.read(lease)).entries.length, 1)
    equal((await service.renew(lease)).leaseMs, LEASE_MS)
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
  })

  serviceTest('a renewed lease lives longer and is the same right to write', async (service, clock) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    clock.time += LEASE_MS - 1
    const renewed = await service.renew(lease)
    deepEqual(renewed, lease)
    clock.time += LEASE_MS - 1
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    equal(await service.append(lease, 0, [entryOf('e1')]), 1, 'the lease as first given')
    equal(await service.append(renewed, 1, [entryOf('e2')]), 2)
    await service.release(renewed)
    await refusesEverything(service, renewed, 2)
    await refusesEverything(service, lease, 2)
  })

  for (const [direction, hours] of [
    ['back', -1],
    ['forward', 1],
  ] as const) {
    serviceTest(`a clock set ${direction} by an hour neither ends a lease nor makes it longer`, async (service, clock) => {
      await service.createSession(HOME)
      const lease = await service.claim(HOME)
      clock.offset = hours * 3_600_000
      await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
      deepEqual(await service.interrupted(HOME), [], 'its holder lives')
      clock.time += LEASE_MS - 1
      await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
      await service.renew(lease)
      clock.offset = 0
      clock.time += LEASE_MS - 1
      await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
      clock.offset = hours * 3_600_000
      clock.time += 1
      deepEqual(await service.interrupted(HOME), [HOME], 'its holder is dead')
      const next = await service.claim(HOME)
      await refusesEverything(service, lease, 0)
      equal(await service.append(next, 0, [entryOf('e1')]), 1)
    })
  }

  serviceTest('a released lease writes nothing', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.release(lease)
    await service.release(lease)
    await refusesEverything(service, lease, 0)
    deepEqual(await eventIds(service, HOME), [])
  })

  serviceTest('a forged lease opens nothing', async (service) => {
    const other = { ...HOME, sessionId: 's2' }
    await service.createSession(HOME)
    await service.createSession(other)
    const free: Lease = { key: HOME, epoch: 0, seq: 0, leaseMs: LEASE_MS }
    await refusesEverything(service, free, 0)
    const lease = await service.claim(HOME)
    for (const epoch of [0, -1, lease.epoch - 1, lease.epoch + 1, lease.epoch + 0.5, Number.NaN]) {
      await refusesEverything(service, { ...lease, epoch }, 0)
    }
    const thief = await service.claim(other)
    await refusesEverything(service, { ...thief, key: { ...HOME, sessionId: 's3' } }, 0)
    await refusesEverything(service, { ...thief, key: { ...other, userId: 'bob' } }, 0)
    await refusesEverything(service, { ...thief, key: { ...other, appName: 'bank' } }, 0)
    deepEqual(await eventIds(service, HOME), [])
    equal(await service.append(lease, 0, [entryOf('e1')]), 1, 'the honest holder goes on')
  })

  serviceTest('a lease is data: a copy of it is as good', async (service) => {
    await service.createSession(HOME)
    const lease = JSON.parse(JSON.stringify(await service.claim(HOME))) as Lease
    equal(await service.append(lease, 0, [entryOf('e1')]), 1)
    await service.release(lease)
    await service.claim(HOME)
  })

  serviceTest('changing a key or a lease in hand does not move what it stands for', async (service) => {
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

  serviceTest('deleting a session ends its lease, also for a session created in its place', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.deleteSession(HOME)
    await refusesEverything(service, lease, 0)
    await service.release(lease)
    await service.createSession(HOME)
    await refusesEverything(service, lease, 0)
    const next = await service.claim(HOME)
    await refusesEverything(service, lease, 0)
    await service.release(lease)
    equal(await service.append(next, 0, [entryOf('e1')]), 1)
  })
}

async function refusesEverything(service: SessionService, lease: Lease, seq: number): Promise<void> {
  await rejectsWith(service.append(lease, seq, [entryOf('x')]), 'LEASE_LOST')
  await rejectsWith(service.append(lease, seq + 7, [entryOf('x')]), 'LEASE_LOST')
  await rejectsWith(service.read(lease), 'LEASE_LOST')
  await rejectsWith(service.drain(lease), 'LEASE_LOST')
  await rejectsWith(service.renew(lease), 'LEASE_LOST')
}
