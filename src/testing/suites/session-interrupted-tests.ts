import type { SessionService } from '../../session/service.ts'
import { deepEqual } from './assert.ts'
import { entryOf, HOME } from './session-fixtures.ts'
import { LEASE_MS, type ServiceTest } from './service-test.ts'

/** Sessions whose holder died, for whoever goes on with them. */
export function interruptedTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('a session is interrupted from when its lease expires unreleased, and not before', async (service, clock) => {
    await service.createSession(HOME)
    deepEqual(await interrupted(service), [], 'never held')
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1')])
    clock.time += LEASE_MS - 1
    deepEqual(await interrupted(service), [], 'still alive')
    clock.time += 1
    deepEqual(await interrupted(service), [HOME])
  })

  serviceTest('a released session is not interrupted, however long ago it was', async (service, clock) => {
    await service.createSession(HOME)
    await service.release(await service.claim(HOME))
    clock.time += 100 * LEASE_MS
    deepEqual(await interrupted(service), [])
  })

  serviceTest(
    'a session released as interrupted is free at once, and listed until somebody goes on with it',
    async (service) => {
      await service.createSession(HOME)
      const lease = await service.claim(HOME)
      await service.release(lease, { interrupted: true })
      deepEqual(await interrupted(service), [HOME])
      const next = await service.claim(HOME)
      deepEqual(await interrupted(service), [])
      await service.release(lease, { interrupted: true })
      deepEqual(await interrupted(service), [], 'a lost lease says nothing')
      await service.release(next)
      deepEqual(await interrupted(service), [])
    },
  )

  serviceTest('a renewed lease counts from its renewal', async (service, clock) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    clock.time += LEASE_MS - 1
    await service.renew(lease)
    clock.time += LEASE_MS - 1
    deepEqual(await interrupted(service), [])
    clock.time += 1
    deepEqual(await interrupted(service), [HOME])
    await service.renew(lease)
    deepEqual(await interrupted(service), [], 'a late holder that nobody has followed lives again')
  })

  serviceTest('whoever claims it again takes it off the list, until it dies too', async (service, clock) => {
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

  serviceTest('only the app’s own are listed, whoever’s they are, and no deleted ones', async (service, clock) => {
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
  })
}

/** In the order the stories make them. */
async function interrupted(service: SessionService) {
  const found = await service.interrupted({ appName: 'shop' })
  return found.sort((a, b) => (a.userId + a.sessionId < b.userId + b.sessionId ? -1 : 1))
}
