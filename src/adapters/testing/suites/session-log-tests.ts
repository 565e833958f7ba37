import type { Lease, SessionService } from '../../../services/session/service.ts'
import { codeOf, deepEqual, equal, ok, rejectsWith } from './assert.ts'
import type { ServiceTest } from './service-test.ts'
import { entryOf, eventIds, eventOf, HOME, intentOf, stateOf, write } from './session-fixtures.ts'

/** Tests of `append` and `read`: a gapless log without lost or repeated entries. */
export function logTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('events and records are numbered from 1 without gaps', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    equal(lease.seq, 0)
    equal(await service.append(lease, 0, [entryOf('e1'), intentOf('c1')]), 2)
    equal(await service.append(lease, 2, [entryOf('e2')]), 3)
    const { entries } = await service.read(lease)
    deepEqual(entries, [
      { seq: 1, ...entryOf('e1') },
      { seq: 2, ...intentOf('c1') },
      { seq: 3, ...entryOf('e2') },
    ])
  })

  serviceTest(
    'readLog returns a part of the log without a lease, also while another holder has it',
    async (service) => {
      if (!service.readLog) return
      await service.createSession(HOME)
      const lease = await service.claim(HOME)
      await service.append(lease, 0, [entryOf('e1'), intentOf('c1'), entryOf('e2')])
      const second = { seq: 2, ...intentOf('c1') }
      deepEqual(await service.readLog({ ...HOME, fromSeq: 2, limit: 1 }), { entries: [second], lastSeq: 3 })
      deepEqual((await service.readLog(HOME))?.entries.length, 3)
      deepEqual(await service.readLog({ ...HOME, fromSeq: 4 }), { entries: [], lastSeq: 3 })
      equal(await service.readLog({ ...HOME, sessionId: 'other' }), undefined)
    },
  )

  serviceTest('readLog from a number that no entry can have is INVALID_REQUEST', async (service) => {
    if (!service.readLog) return
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1'), entryOf('e2')])
    for (const fromSeq of [0, -1, 1.5, Number.NaN, 1e300])
      await rejectsWith(service.readLog({ ...HOME, fromSeq }), 'INVALID_REQUEST')
    for (const limit of [-1, 0.5, Number.NaN]) await rejectsWith(service.readLog({ ...HOME, limit }), 'INVALID_REQUEST')
    deepEqual((await service.readLog({ ...HOME, fromSeq: 1, limit: 2 }))?.entries.length, 2)
  })

  serviceTest('an append with an outdated sequence number is STALE_APPEND and adds nothing', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1', { color: 'red' }), entryOf('e2')])
    for (const expected of [0, 1, 3, -1]) {
      const message = await rejectsWith(
        service.append(lease, expected, [entryOf('x', { color: 'blue' })]),
        'STALE_APPEND',
      )
      ok(message.includes(String(expected)) && message.includes('2'), `both numbers in: ${message}`)
    }
    deepEqual(await eventIds(service, HOME), ['e1', 'e2'])
    deepEqual(await stateOf(service, HOME), { color: 'red' })
  })

  serviceTest('a repeated append adds nothing and returns the same sequence number', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    equal(await service.append(lease, 0, [entryOf('e1', { count: 1 }), entryOf('e2')]), 2)
    equal(await service.append(lease, 0, [entryOf('e1', { count: 1 }), entryOf('e2')]), 2)
    equal(await service.append(lease, 2, [entryOf('e3', { count: 2 })]), 3)
    equal(await service.append(lease, 0, [entryOf('e1', { count: 1 }), entryOf('e2')]), 2, 'also after later appends')
    equal(await service.append(lease, 3, [entryOf('e1', { count: 1 })]), 1, 'also with the current sequence number')
    deepEqual(await eventIds(service, HOME), ['e1', 'e2', 'e3'])
    deepEqual(await stateOf(service, HOME), { count: 2 })
  })

  serviceTest('a repeated append with records is detected by its position', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    equal(await service.append(lease, 0, [entryOf('e1'), intentOf('c1')]), 2)
    equal(await service.append(lease, 0, [entryOf('e1'), intentOf('c1')]), 2)
    await rejectsWith(service.append(lease, 0, [entryOf('e1'), intentOf('c2')]), 'STALE_APPEND')
    equal((await service.read(lease)).entries.length, 2)
  })

  serviceTest('an event id is stored once, within one append and across appends', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    equal(await service.append(lease, 0, [entryOf('e1'), entryOf('e1')]), 1)
    equal(await service.append(lease, 1, [entryOf('e1'), entryOf('e2')]), 2, 'the new event is added')
    await rejectsWith(service.append(lease, 0, [entryOf('e1'), entryOf('e3')]), 'STALE_APPEND')
    deepEqual(await eventIds(service, HOME), ['e1', 'e2'])
  })

  serviceTest('an append that cannot be stored changes nothing', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    const broken = { event: null } as unknown as ReturnType<typeof entryOf>
    const failed = await service.append(lease, 0, [entryOf('e1', { 'user:x': 1 }), broken]).then(
      () => false,
      () => true,
    )
    ok(failed, 'an invalid entry must be rejected')
    deepEqual(await eventIds(service, HOME), [])
    deepEqual(await stateOf(service, HOME), {})
    equal(await service.append(lease, 0, [entryOf('e1')]), 1)
  })

  serviceTest('a partial event is not stored', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    const partial = eventOf('p1', { partial: true, actions: { stateDelta: { color: 'red' } } })
    equal(await service.append(lease, 0, [{ event: partial }, entryOf('e1')]), 1)
    deepEqual(await eventIds(service, HOME), ['e1'])
    deepEqual(await stateOf(service, HOME), {})
  })

  serviceTest('an event is returned with every field as it was appended', async (service) => {
    const event = eventOf('e1', {
      nodeInfo: { path: 'clerk/helper@1' },
      branch: 'a.b',
      isolationScope: 'clerk/x@c1',
      content: {
        role: 'model',
        parts: [{ text: 'naïve 🍎 \u0000 日本語' }, { functionCall: { id: 'c1', name: 'f', args: {} } }],
      },
      longRunningToolIds: ['c1'],
      usageMetadata: { totalTokenCount: 7 },
      customMetadata: JSON.parse('{"__proto__": {"x": 1}, "deep": [[{"y": null}]]}'),
      actions: { skipSummarization: true, artifactDelta: { 'a.txt': 0 }, stateDelta: { x: 1.5 } },
    })
    await service.createSession(HOME)
    await write(service, HOME, { event })
    deepEqual((await service.getSession(HOME))?.events[0], event)
    deepEqual((await service.read(await service.claim(HOME))).entries, [{ seq: 1, event }])
  })

  serviceTest('eight writers with 200 appends each leave a gapless log in order', async (service, clock) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    const last = { seq: 0 }
    await Promise.all(Array.from({ length: 8 }, (_, writer) => writeMany(writer)))
    const { entries } = await service.read(lease)
    deepEqual(
      entries.map(({ seq }) => seq),
      Array.from({ length: 1600 }, (_, index) => index + 1),
    )
    for (let writer = 0; writer < 8; writer++) {
      const own = entries.flatMap(({ event }) => (event?.author === `writer${writer}` ? [event.id] : []))
      deepEqual(
        own,
        Array.from({ length: 200 }, (_, n) => `${writer}-${n}`),
        `order of writer ${writer}`,
      )
    }

    async function writeMany(writer: number): Promise<void> {
      for (let n = 0; n < 200; n++) {
        clock.time -= 1
        await appendUntilDone(service, lease, last, eventOf(`${writer}-${n}`, { author: `writer${writer}` }))
      }
    }
  })
}

async function appendUntilDone(
  service: SessionService,
  lease: Lease,
  last: { seq: number },
  event: ReturnType<typeof eventOf>,
): Promise<void> {
  for (;;) {
    try {
      last.seq = Math.max(last.seq, await service.append(lease, last.seq, [{ event }]))
      return
    } catch (error) {
      if (codeOf(error) !== 'STALE_APPEND') throw error
    }
  }
}
