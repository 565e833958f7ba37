import type { SessionService } from '../../../services/session/service.ts'
import { deepEqual, equal, ok, rejectsWith } from './assert.ts'
import { LEASE_MS, type ServiceTest } from './service-test.ts'
import { entryOf, HOME } from './session-fixtures.ts'

const OTHER_USER = { ...HOME, userId: 'bob' }

/** Tests of schedulers that take sessions over, and of sessions whose holders die again and again. */
export function crashTests(serviceTest: ServiceTest<SessionService>): void {
  const crashTest: typeof serviceTest = (title, run) =>
    serviceTest(title, async (service, clock) => {
      if (service.setAside) await run(service, clock)
    })

  crashTest(
    'a scheduler takes over the living lease of its earlier holder, which can no longer write',
    async (service) => {
      await service.createSession(HOME)
      const dead = await service.claim(HOME, { takeOver: 'fleet' })
      const next = await service.claim(HOME, { takeOver: 'fleet' })
      ok(next.epoch > dead.epoch, 'the epoch grows with each claim')
      await rejectsWith(service.append(dead, 0, [entryOf('e1')]), 'LEASE_LOST')
      await service.append(next, 0, [entryOf('e1')])
      await service.release(dead)
      await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    },
  )

  crashTest('a scheduler takes over no lease of another scheduler, or of a caller', async (service) => {
    await service.createSession(HOME)
    const own = await service.claim(HOME)
    await rejectsWith(service.claim(HOME, { takeOver: 'fleet' }), 'SESSION_BUSY')
    await service.release(own)
    await service.claim(HOME, { takeOver: 'fleet' })
    await rejectsWith(service.claim(HOME), 'SESSION_BUSY')
    await rejectsWith(service.claim(HOME, { takeOver: 'other' }), 'SESSION_BUSY')
    await rejectsWith(service.claim(HOME, { takeOver: '' }), 'SESSION_BUSY')
  })

  crashTest('a renewed lease can still be taken over', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME, { takeOver: 'fleet' })
    await service.renew(lease)
    await service.claim(HOME, { takeOver: 'fleet' })
    await rejectsWith(service.renew(lease), 'LEASE_LOST')
  })

  crashTest('a lease says how many holders in a row have lost the session', async (service, clock) => {
    await service.createSession(HOME)
    equal((await service.claim(HOME, { takeOver: 'fleet' })).crashes, 0)
    equal((await service.claim(HOME, { takeOver: 'fleet' })).crashes, 1, 'taken over')
    clock.time += LEASE_MS
    const third = await service.claim(HOME)
    equal(third.crashes, 2, 'the lease has ended')
    equal((await service.renew(third)).crashes, 2)
    await service.release(third, { interrupted: true })
    const fourth = await service.claim(HOME)
    equal(fourth.crashes, 2, 'a holder that leaves the session as interrupted has not lost it')
    await service.release(fourth)
    equal((await service.claim(HOME)).crashes, 0)
  })

  crashTest(
    'a session that was set aside is not interrupted, and listed until it is claimed',
    async (service, clock) => {
      await service.createSession(HOME)
      await service.createSession(OTHER_USER)
      const lease = await service.claim(HOME)
      await service.post(HOME, { id: 'i1', type: 'state', stateDelta: { a: 1 } })
      await service.release(lease, { interrupted: true, setAside: 'It "crashes" \u0000\ud800.' })
      deepEqual(await setAside(service), [{ ...HOME, reason: 'It "crashes" \u0000\ud800.' }])
      deepEqual(await setAside(service, OTHER_USER.userId), [])
      clock.time += 10 * LEASE_MS
      deepEqual(await service.interrupted({ appName: HOME.appName }), [])
      if (service.withInbox) deepEqual(await service.withInbox({ appName: HOME.appName, limit: 10 }), [])
      const next = await service.claim(HOME)
      deepEqual(await setAside(service), [])
      equal((await service.inbox(next)).length, 1, 'nothing of its inbox is lost')
      await service.release(lease, { setAside: 'A lost lease changes nothing.' })
      deepEqual(await setAside(service), [])
    },
  )

  crashTest('lists sessions that were set aside in pages, each once', async (service) => {
    const keys = [1, 2, 3].map((n) => ({ ...HOME, sessionId: `s${n}` }))
    for (const key of keys) {
      await service.createSession(key)
      await service.release(await service.claim(key), { setAside: key.sessionId })
    }
    const found: string[] = []
    let after: string | undefined
    do {
      const page = await service.setAside?.({ appName: HOME.appName, limit: 2, after })
      found.push(...(page?.items ?? []).map(({ sessionId, reason }) => `${sessionId} ${reason}`))
      after = page?.next
    } while (after !== undefined)
    deepEqual(found, ['s1 s1', 's2 s2', 's3 s3'])
    deepEqual((await service.setAside?.({ appName: 'another app', limit: 2 }))?.items, [])
  })
}

async function setAside(service: SessionService, userId?: string): Promise<unknown> {
  return (await service.setAside?.({ appName: HOME.appName, userId, limit: 10 }))?.items
}
