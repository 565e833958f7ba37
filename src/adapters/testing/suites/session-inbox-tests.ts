import type { InboxItem, SessionService } from '../../../services/session/service.ts'
import type { WaitingLimits } from '../../../services/session/waiting-limits.ts'
import { deepEqual, rejectsWith } from './assert.ts'
import type { ServiceTest } from './service-test.ts'
import { entryOf, HOME } from './session-fixtures.ts'

/** Tests of the inbox: no item is lost or delivered twice. */
export function inboxTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('posting to a missing session is NOT_FOUND', async (service) => {
    await rejectsWith(service.post(HOME, cancel('x')), 'NOT_FOUND')
    await service.createSession(HOME)
    await rejectsWith(service.post({ ...HOME, userId: 'bob' }, cancel('x')), 'NOT_FOUND')
  })

  serviceTest('the holder receives items of every type unchanged and in order', async (service) => {
    await service.createSession(HOME)
    const items: InboxItem[] = [
      { id: 'z', type: 'answer', content: { role: 'user', parts: [{ text: 'yes' }] } },
      { id: 'a', type: 'result', callId: 'c1', response: { total: 3 } },
      { id: 'm', type: 'cancel', invocationId: 'i1' },
      { id: '1', type: 'state', stateDelta: { color: null } },
    ]
    await service.post(HOME, items[0] as InboxItem)
    const lease = await service.claim(HOME)
    for (const item of items.slice(1)) await service.post(HOME, item)
    deepEqual(
      await service.inbox(lease),
      items.map((item) => ({ ...item, seq: 0 })),
    )
  })

  serviceTest(
    'messages that wait are counted by app and user, and one that is posted again is not refused',
    async (service) => {
      if (!service.withInbox) return
      const post = (userId: string, id: string, maxWaiting: WaitingLimits, appName = HOME.appName): Promise<number> =>
        service.post({ ...HOME, appName, userId }, messageOf(id), { maxWaiting })
      await service.createSession(HOME)
      await service.createSession({ ...HOME, userId: 'bob' })
      await service.createSession({ ...HOME, appName: 'bank' })
      await post(HOME.userId, 'one', { perUser: 2 })
      await service.post(HOME, cancel('c')) // no message
      await post(HOME.userId, 'two', { perUser: 2 })
      await rejectsWith(post(HOME.userId, 'three', { perUser: 2 }), 'RATE_LIMITED')
      await rejectsWith(post('eve', 'one', { perApp: 2 }), 'RATE_LIMITED') // before it is NOT_FOUND
      await post(HOME.userId, 'one', { perUser: 2, perApp: 1 })
      await post('bob', 'one', { perUser: 1, perApp: 3 })
      await rejectsWith(post('bob', 'two', { perApp: 3 }), 'RATE_LIMITED')
      await post(HOME.userId, 'one', { perUser: 1, perApp: 1 }, 'bank')
      const lease = await service.claim(HOME)
      deepEqual((await service.inbox(lease)).length, 3, 'nothing that was refused is there')
      await service.append(lease, 0, [], { drained: [messageOf('one').id] })
      await post(HOME.userId, 'three', { perUser: 2, perApp: 3 })
    },
  )

  serviceTest(
    'a posted item has the sequence number of the log at that time, not one that the caller sets',
    async (service) => {
      await service.createSession(HOME)
      const lease = await service.claim(HOME)
      deepEqual(await service.post(HOME, cancel('a')), 0)
      await service.append(lease, 0, [entryOf('e1'), entryOf('e2')])
      const forged = { ...cancel('b'), seq: 7 }
      deepEqual(await service.post(HOME, forged), 2)
      await service.append(lease, 2, [entryOf('e3')])
      const posted = await service.inbox(lease)
      deepEqual(
        posted.map(({ id, seq }) => [id, seq]),
        [
          ['a', 0],
          ['b', 2],
        ],
      )
    },
  )

  serviceTest('an item stays in the inbox until an append drains it', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    for (const id of ['a', 'b', 'c']) await service.post(HOME, cancel(id))
    await service.inbox(lease)
    deepEqual(await idsIn(service.inbox(lease)), ['a', 'b', 'c'], 'reading the inbox removes nothing')
    await service.append(lease, 0, [entryOf('e1')])
    await service.append(lease, 1, [entryOf('e2')], { drained: ['b', 'unknown'] })
    deepEqual(await idsIn(service.inbox(lease)), ['a', 'c'])
    await service.append(lease, 2, [], { drained: ['a'] })
    deepEqual(await idsIn(service.inbox(lease)), ['c'], 'an append without entries also drains')
  })

  serviceTest('a failed append drains nothing', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.post(HOME, cancel('a'))
    await rejectsWith(service.append(lease, 7, [entryOf('e1')], { drained: ['a'] }), 'STALE_APPEND')
    await rejectsWith(service.append(lease, 7, [], { drained: ['a'] }), 'STALE_APPEND')
    const forged = { ...lease, epoch: lease.epoch + 1 }
    await rejectsWith(service.append(forged, 0, [entryOf('e1')], { drained: ['a'] }), 'LEASE_LOST')
    deepEqual(await idsIn(service.inbox(lease)), ['a'])
  })

  serviceTest('the next holder receives undrained items', async (service) => {
    await service.createSession(HOME)
    const first = await service.claim(HOME)
    await service.post(HOME, cancel('a'))
    await service.inbox(first)
    await service.release(first)
    deepEqual(await idsIn(service.inbox(await service.claim(HOME))), ['a'])
  })

  serviceTest('an item posted twice is delivered once, also after it was drained', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.post(HOME, cancel('a', 'i1'))
    await service.post(HOME, cancel('a', 'i2'))
    deepEqual(await service.inbox(lease), [{ ...cancel('a', 'i1'), seq: 0 }])
    await service.append(lease, 0, [entryOf('e1')], { drained: ['a'] })
    await service.post(HOME, cancel('a', 'i1'))
    deepEqual(await service.inbox(lease), [])
  })

  serviceTest('changing an inbox item object does not change the stored item', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    const response = { rows: ['a'] }
    await service.post(HOME, { id: 'a', type: 'result', callId: 'c1', response })
    response.rows.push('spoiled')
    const [drained] = await service.inbox(lease)
    if (drained?.type === 'result') drained.response.rows = ['spoiled']
    deepEqual(await service.inbox(lease), [
      { id: 'a', type: 'result', callId: 'c1', response: { rows: ['a'] }, seq: 0 },
    ])
  })

  serviceTest('hostile item ids are plain data', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    const ids = ['__proto__', 'constructor', 'toString']
    for (const id of ids) await service.post(HOME, cancel(id))
    deepEqual(await idsIn(service.inbox(lease)), ids)
    await rejectsWith(service.post(HOME, cancel('')), 'INVALID_REQUEST')
  })
}

function cancel(id: string, invocationId?: string): InboxItem {
  return invocationId === undefined ? { id, type: 'cancel' } : { id, type: 'cancel', invocationId }
}

async function idsIn(items: Promise<readonly InboxItem[]>): Promise<string[]> {
  return (await items).map(({ id }) => id)
}

function messageOf(name: string): InboxItem {
  const content = { role: 'user', parts: [{ text: 'Go.' }] } as const
  return { id: `message-${name}`, type: 'message', invocationId: name, content }
}
