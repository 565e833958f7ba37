import type { SessionService } from '../../../services/session/service.ts'
import { deepEqual, rejectsWith } from './assert.ts'
import { LEASE_MS, type ServiceTest } from './service-test.ts'
import { entryOf, HOME } from './session-fixtures.ts'

/** Tests of `interrupted`: the list of sessions whose holder died. */
export function interruptedTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest(
    'a session is interrupted when its lease expires without a release, not before',
    async (service, clock) => {
      await service.createSession(HOME)
      deepEqual(await interrupted(service), [], 'never claimed')
      const lease = await service.claim(HOME)
      await service.append(lease, 0, [entryOf('e1')])
      clock.time += LEASE_MS - 1
      deepEqual(await interrupted(service), [], 'the lease is alive')
      clock.time += 1
      deepEqual(await interrupted(service), [HOME])
    },
  )

  serviceTest('a released session is never interrupted', async (service, clock) => {
    await service.createSession(HOME)
    await service.release(await service.claim(HOME))
    clock.time += 100 * LEASE_MS
    deepEqual(await interrupted(service), [])
  })

  serviceTest('a session released as interrupted is free at once and listed until the next claim', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.release(lease, { interrupted: true })
    deepEqual(await interrupted(service), [HOME])
    const next = await service.claim(HOME)
    deepEqual(await interrupted(service), [])
    await service.release(lease, { interrupted: true })
    deepEqual(await interrupted(service), [], 'the release of a lost lease changes nothing')
    await service.release(next)
    deepEqual(await interrupted(service), [])
  })

  serviceTest('a late renewal does not revive a lease that was released as interrupted', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.release(lease, { interrupted: true })
    await rejectsWith(service.renew(lease), 'LEASE_LOST')
    deepEqual(await interrupted(service), [HOME])
    await service.claim(HOME)
  })

  serviceTest('a renewed lease expires later', async (service, clock) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    clock.time += LEASE_MS - 1
    await service.renew(lease)
    clock.time += LEASE_MS - 1
    deepEqual(await interrupted(service), [])
    clock.time += 1
    deepEqual(await interrupted(service), [HOME])
    await service.renew(lease)
    deepEqual(await interrupted(service), [], 'a late renewal without another claim revives the lease')
  })

  serviceTest('a claim removes a session from the list until that lease expires', async (service, clock) => {
    await service.createSession(HOME)
    const dead = await service.claim(HOME)
    clock.time += LEASE_MS
    const next = await service.claim(HOME)
    deepEqual(await interrupted(service), [])
    await service.release(dead)
    clock.time += LEASE_MS
    deepEqual(await interrupted(service), [HOME], 'the release of a lost lease changes nothing')
    await service.release(next)
    deepEqual(await interrupted(service), [])
  })

  serviceTest(
    'interrupted lists the sessions of one app for all users, without deleted ones',
    async (service, clock) => {
      const places = [
        HOME,
        { ...HOME, sessionId: 's2' },
        { ...HOME, userId: 'bob' },
        { ...HOME, appName: 'bank' },
        { ...HOME, sessionId: 'deleted' },
      ]
      for (const place of places) {
        await service.createSession(place)
        await service.claim(place)
      }
      await service.deleteSession({ ...HOME, sessionId: 'deleted' })
      clock.time += LEASE_MS
      deepEqual(await interrupted(service), places.slice(0, 3))
      deepEqual(await service.interrupted({ appName: 'bank' }), [{ ...HOME, appName: 'bank' }])
      deepEqual(await service.interrupted({ appName: 'nowhere' }), [])
      await service.createSession({ ...HOME, sessionId: 'deleted' })
      deepEqual(await interrupted(service), places.slice(0, 3))
    },
  )
}

/** The interrupted sessions of the app, in the order in which the tests create them. */
async function interrupted(service: SessionService) {
  const found = await service.interrupted({ appName: 'shop' })
  return found.sort((a, b) => (a.userId + a.sessionId < b.userId + b.sessionId ? -1 : 1))
}
