import type { SessionCounts, SessionKey, SessionService } from '../../../services/session/service.ts'
import { deepEqual, equal } from './assert.ts'
import { LEASE_MS, type ServiceTest } from './service-test.ts'
import { entryOf, HOME, requestOf } from './session-fixtures.ts'

const NONE: SessionCounts = { running: 0, interrupted: 0, setAside: 0, posted: 0, waiting: 0, idle: 0 }

/** Tests of the counts of sessions by state. */
export function countTests(serviceTest: ServiceTest<SessionService>): void {
  const countTest: typeof serviceTest = (title, run) =>
    serviceTest(title, async (service, clock) => {
      if (service.countSessions) await run(service, clock)
    })

  countTest('counts each session of an app in one state', async (service, clock) => {
    await session(service, 'idle')
    const dead = await session(service, 'dead')
    await service.claim(dead)
    clock.time += LEASE_MS
    await service.claim(await session(service, 'running'))
    await service.release(await service.claim(await session(service, 'left')), { interrupted: true })
    await pause(service, await session(service, 'waiting'))
    await pause(service, await session(service, 'waits for two'), ['r1', 'r2'])
    const posted = await session(service, 'posted')
    await pause(service, posted)
    await service.post(posted, { id: 'i1', type: 'cancel' })
    await service.post(posted, { id: 'i2', type: 'cancel' })
    if (service.setAside) {
      const aside = await session(service, 'aside')
      await pause(service, aside)
      await service.post(aside, { id: 'i1', type: 'cancel' })
      await service.release(await service.claim(aside), { setAside: 'It crashes.' })
    }
    await service.createSession({ ...HOME, appName: 'bank' })
    const setAside = service.setAside ? 1 : 0
    deepEqual(await counts(service), { running: 1, interrupted: 2, setAside, posted: 1, waiting: 2, idle: 1 })
    deepEqual(await counts(service, 'bank'), { ...NONE, idle: 1 })
    deepEqual(await counts(service, 'another app'), NONE)
  })

  countTest(
    'a session with items counts as running while a process holds it, and moves on with it',
    async (service) => {
      const key = await session(service, 's1')
      await service.post(key, { id: 'i1', type: 'cancel' })
      deepEqual(await counts(service), { ...NONE, posted: 1 })
      const lease = await service.claim(key)
      deepEqual(await counts(service), { ...NONE, running: 1 })
      await service.append(lease, 0, [entryOf('e1')], {
        drained: ['i1'],
        pending: { opened: [requestOf('r1')], closed: [] },
      })
      await service.release(lease)
      deepEqual(await counts(service), { ...NONE, waiting: 1 })
      const next = await service.claim(key)
      await service.append(next, 1, [entryOf('e2')], { pending: { opened: [], closed: 'all' } })
      await service.release(next)
      deepEqual(await counts(service), { ...NONE, idle: 1 })
      await service.deleteSession(key)
      deepEqual(await counts(service), NONE)
    },
  )

  countTest('an unfinished copy counts nowhere', async (service) => {
    await service.createCopy?.(HOME)
    deepEqual(await counts(service), NONE)
  })

  serviceTest('a lease says how long ago a lost holder gave its last sign of life', async (service, clock) => {
    if (!service.setAside || !service.countSessions) return
    const key = await session(service, 's1')
    const first = await service.claim(key)
    equal(first.lastHeldMs, undefined, 'there was no holder')
    clock.time += 4_000
    await service.renew(first)
    clock.time += LEASE_MS + 1_000
    const second = await service.claim(key, { takeOver: 'fleet' })
    equal(second.lastHeldMs, LEASE_MS + 1_000, 'since the renewal')
    clock.time += 700
    clock.offset = 3_600_000
    const third = await service.claim(key, { takeOver: 'fleet' })
    equal(third.lastHeldMs, 700, 'a lease that is taken over, and a system clock that was set')
    await service.release(third, { interrupted: true })
    const fourth = await service.claim(key)
    equal(fourth.lastHeldMs, undefined, 'left as interrupted')
    await service.release(fourth)
    equal((await service.claim(key)).lastHeldMs, undefined, 'released')
  })
}

async function counts(service: SessionService, appName: string = HOME.appName): Promise<SessionCounts | undefined> {
  return await service.countSessions?.({ appName })
}

async function session(service: SessionService, sessionId: string): Promise<SessionKey> {
  const key = { ...HOME, sessionId }
  await service.createSession(key)
  return key
}

/** Leaves a session with pending requests. */
async function pause(service: SessionService, key: SessionKey, ids: readonly string[] = ['r1']): Promise<void> {
  const lease = await service.claim(key)
  const pending = { opened: ids.map((id) => requestOf(id)), closed: [] }
  await service.append(lease, 0, [entryOf('e1')], { pending })
  await service.release(lease)
}
