import type { FoundSession, SessionFilter, SessionService } from '../../../services/session/service.ts'
import { deepEqual, equal, ok, rejectsWith } from './assert.ts'
import type { ServiceTest } from './service-test.ts'
import { entryOf, HOME, requestOf, write } from './session-fixtures.ts'

/** Tests of finding sessions. The method is optional: a store without it passes them. */
export function findTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('finds the sessions of all users or of one, the newest first, with their states', async (service) => {
    if (!service.findSessions) return
    for (const [userId, sessionId] of [
      ['ada', 'idle'],
      ['bob', 'waiting'],
      ['ada', 'posted'],
      ['ada', 'running'],
      ['bob', 'interrupted'],
    ] as const)
      await service.createSession({ ...HOME, userId, sessionId })
    await service.createSession({ ...HOME, appName: 'other', sessionId: 'elsewhere' })
    await write(service, { ...HOME, sessionId: 'idle' }, entryOf('e1'), entryOf('e2'))
    const waiting = await service.claim({ ...HOME, userId: 'bob', sessionId: 'waiting' })
    await service.append(waiting, 0, [], { pending: { opened: [requestOf('r1')], closed: [] } })
    await service.release(waiting)
    await service.post({ ...HOME, sessionId: 'posted' }, { id: 'i1', type: 'cancel' })
    await service.claim({ ...HOME, sessionId: 'running' })
    const died = await service.claim({ ...HOME, userId: 'bob', sessionId: 'interrupted' })
    await service.release(died, { interrupted: true })
    const all = ['bob interrupted', 'ada running', 'ada posted', 'bob waiting', 'ada idle']
    deepEqual(await found(service, { appName: 'shop' }), all)
    deepEqual(await found(service, { appName: 'shop', userId: 'bob' }), ['bob interrupted', 'bob waiting'])
    deepEqual(await found(service, { appName: 'shop', userId: 'eve' }), [])
    const { items } = await service.findSessions({ appName: 'shop', limit: 9 })
    for (const { sessionId, state } of items) equal(state, sessionId)
    equal(items.find(({ sessionId }) => sessionId === 'idle')?.lastSeq, 2)
  })

  serviceTest('finds the sessions that have changed since a time, in pages', async (service) => {
    if (!service.findSessions) return
    for (const sessionId of ['a', 'b', 'c', 'd']) await service.createSession({ ...HOME, sessionId })
    const first = await service.findSessions({ appName: 'shop', limit: 2 })
    deepEqual(first.items.map(keyText), ['ada d', 'ada c'])
    await service.createSession({ ...HOME, sessionId: 'e' })
    await service.deleteSession({ ...HOME, sessionId: 'c' })
    const second = await service.findSessions({ appName: 'shop', limit: 2, after: first.next })
    deepEqual([second.items.map(keyText), second.next], [['ada b', 'ada a'], undefined])
    const updatedAt = first.items[0]?.updatedAt ?? 0
    ok(updatedAt > 0, 'the time of a change')
    deepEqual(await found(service, { appName: 'shop', updatedSince: updatedAt + 1e9 }), [])
    equal((await found(service, { appName: 'shop', updatedSince: 1 }))?.length, 4)
    await rejectsWith(service.findSessions({ appName: 'shop', limit: 0 }), 'INVALID_REQUEST')
    await rejectsWith(service.findSessions({ appName: 'shop', limit: 1, after: 'x' }), 'INVALID_REQUEST')
  })
}

async function found(service: SessionService, filter: SessionFilter): Promise<string[] | undefined> {
  return (await service.findSessions?.({ ...filter, limit: 100 }))?.items.map(keyText)
}

function keyText({ userId, sessionId }: FoundSession): string {
  return `${userId} ${sessionId}`
}
