import type { InboxItem, SessionService } from '../../session/service.ts'
import { deepEqual, rejectsWith } from './assert.ts'
import { entryOf, HOME } from './session-fixtures.ts'
import type { ServiceTest } from './service-test.ts'

/** The inbox: what others leave for the holder is neither lost nor heard twice. */
export function inboxTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('nothing can be left for a session that is not there', async (service) => {
    await rejectsWith(service.post(HOME, cancel('x')), 'NOT_FOUND')
    await service.createSession(HOME)
    await rejectsWith(service.post({ ...HOME, userId: 'bob' }, cancel('x')), 'NOT_FOUND')
  })

  serviceTest('every kind of item reaches the holder as it was posted, in order', async (service) => {
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
      await service.drain(lease),
      items.map((item) => ({ ...item, seq: 0 })),
    )
  })

  serviceTest('an item says how far the log was when it was posted, whatever its poster says', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    deepEqual(await service.post(HOME, cancel('a')), 0)
    await service.append(lease, 0, [entryOf('e1'), entryOf('e2')])
    const forged = { ...cancel('b'), seq: 7 }
    deepEqual(await service.post(HOME, forged), 2)
    await service.append(lease, 2, [entryOf('e3')])
    const posted = await service.drain(lease)
    deepEqual(
      posted.map(({ id, seq }) => [id, seq]),
      [
        ['a', 0],
        ['b', 2],
      ],
    )
  })

  serviceTest('an item stays until an append names it', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    for (const id of ['a', 'b', 'c']) await service.post(HOME, cancel(id))
    await service.drain(lease)
    deepEqual(await idsIn(service.drain(lease)), ['a', 'b', 'c'], 'draining takes nothing away')
    await service.append(lease, 0, [entryOf('e1')])
    await service.append(lease, 1, [entryOf('e2')], { drained: ['b', 'unknown'] })
    deepEqual(await idsIn(service.drain(lease)), ['a', 'c'])
    await service.append(lease, 2, [], { drained: ['a'] })
    deepEqual(await idsIn(service.drain(lease)), ['c'], 'also by an append of nothing else')
  })

  serviceTest('an append that fails takes nothing out', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.post(HOME, cancel('a'))
    await rejectsWith(service.append(lease, 7, [entryOf('e1')], { drained: ['a'] }), 'STALE_APPEND')
    await rejectsWith(service.append(lease, 7, [], { drained: ['a'] }), 'STALE_APPEND')
    const forged = { ...lease, epoch: lease.epoch + 1 }
    await rejectsWith(service.append(forged, 0, [entryOf('e1')], { drained: ['a'] }), 'LEASE_LOST')
    deepEqual(await idsIn(service.drain(lease)), ['a'])
  })

  serviceTest('what one holder did not handle the next one finds', async (service) => {
    await service.createSession(HOME)
    const first = await service.claim(HOME)
    await service.post(HOME, cancel('a'))
    await service.drain(first)
    await service.release(first)
    deepEqual(await idsIn(service.drain(await service.claim(HOME))), ['a'])
  })

  serviceTest('an item posted twice is one item, also when the first was handled in between', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.post(HOME, cancel('a', 'i1'))
    await service.post(HOME, cancel('a', 'i2'))
    deepEqual(await service.drain(lease), [{ ...cancel('a', 'i1'), seq: 0 }])
    await service.append(lease, 0, [entryOf('e1')], { drained: ['a'] })
    await service.post(HOME, cancel('a', 'i1'))
    deepEqual(await service.drain(lease), [])
  })

  serviceTest('changing an item in hand does not change the one that waits', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    const response = { rows: ['a'] }
    await service.post(HOME, { id: 'a', type: 'result', callId: 'c1', response })
    response.rows.push('spoiled')
    const [drained] = await service.drain(lease)
    if (drained?.type === 'result') drained.response.rows = ['spoiled']
    deepEqual(await service.drain(lease), [
      { id: 'a', type: 'result', callId: 'c1', response: { rows: ['a'] }, seq: 0 },
    ])
  })

  serviceTest('ids of items are data, whatever they are called', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    const ids = ['__proto__', 'constructor', 'toString']
    for (const id of ids) await service.post(HOME, cancel(id))
    deepEqual(await idsIn(service.drain(lease)), ids)
    await rejectsWith(service.post(HOME, cancel('')), 'INVALID_REQUEST')
  })
}

function cancel(id: string, invocationId?: string): InboxItem {
  return invocationId === undefined ? { id, type: 'cancel' } : { id, type: 'cancel', invocationId }
}

async function idsIn(items: Promise<readonly InboxItem[]>): Promise<string[]> {
  return (await items).map(({ id }) => id)
}
