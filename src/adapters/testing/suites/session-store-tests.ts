import type { JsonObject } from '../../../core/base/json.ts'
import type { SessionService } from '../../../services/session/service.ts'
import { deepEqual, equal, ok, rejectsWith } from './assert.ts'
import type { ServiceTest } from './service-test.ts'
import { entryOf, eventIds, eventOf, HOME, intentOf, stateOf, write } from './session-fixtures.ts'

/** Tests of creating, reading, listing and deleting sessions. */
export function storeTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('a new session is empty and can be read back', async (service) => {
    const created = await service.createSession(HOME)
    const expected = { id: 's1', appName: 'shop', userId: 'ada', state: {}, events: [], lastUpdateTime: 1_700_000_000 }
    deepEqual(created, expected)
    deepEqual(await service.getSession(HOME), expected)
  })

  serviceTest('createSession without an id generates one', async (service) => {
    const { appName, userId } = HOME
    const first = await service.createSession({ appName, userId })
    const second = await service.createSession({ appName, userId })
    ok(first.id !== '' && first.id !== second.id, 'generated ids must differ')
    equal((await service.getSession({ appName, userId, sessionId: first.id }))?.id, first.id)
  })

  serviceTest('creating a session twice is ALREADY_EXISTS and keeps the first', async (service) => {
    await service.createSession({ ...HOME, state: { color: 'red' } })
    await rejectsWith(service.createSession({ ...HOME, state: { color: 'blue', 'user:x': 1 } }), 'ALREADY_EXISTS')
    deepEqual(await stateOf(service, HOME), { color: 'red' })
  })

  serviceTest('a missing session is undefined, and deleting it does nothing', async (service) => {
    equal(await service.getSession(HOME), undefined)
    await service.deleteSession(HOME)
    deepEqual(await service.listSessions(HOME), [])
  })

  serviceTest('ids that are empty, too long or not strings are INVALID_REQUEST', async (service) => {
    for (const bad of ['', 'x'.repeat(1001), 7, null, {}, ['a']] as string[]) {
      for (const name of ['appName', 'userId', 'sessionId']) {
        const key = { ...HOME, [name]: bad }
        await rejectsWith(service.createSession(key), 'INVALID_REQUEST')
        await rejectsWith(service.getSession(key), 'INVALID_REQUEST')
        await rejectsWith(service.deleteSession(key), 'INVALID_REQUEST')
        await rejectsWith(service.claim(key), 'INVALID_REQUEST')
        await rejectsWith(service.post(key, { id: 'x', type: 'cancel' }), 'INVALID_REQUEST')
        if (name !== 'sessionId') await rejectsWith(service.listSessions(key), 'INVALID_REQUEST')
      }
    }
  })

  serviceTest('createSession with events stores them as the log and applies their state deltas', async (service) => {
    const events = [
      eventOf('e1', { actions: { stateDelta: { color: 'red', size: 1, 'user:name': 'Ada' } } }),
      eventOf('e2', { actions: { stateDelta: { size: null } } }),
    ]
    const created = await service.createSession({ ...HOME, state: { color: 'blue', shape: 'round' }, events })
    deepEqual(
      created.events,
      events.map((event) => ({ ...event, imported: true })),
    )
    deepEqual(created.state, { color: 'red', shape: 'round', 'user:name': 'Ada' })
    const lease = await service.claim(HOME)
    equal(lease.seq, 2)
    equal(await service.append(lease, 2, [entryOf('e3')]), 3)
  })

  serviceTest(
    'imported events are finished history: marked, without a scope path, and no message between them is open',
    async (service) => {
      const nodeInfo = { path: 'clerk' }
      const user = eventOf('e2', { author: 'user', invocationId: 'i2', nodeInfo })
      const reply = eventOf('e1', { branch: 'b', nodeInfo })
      const { events } = await service.createSession({ ...HOME, events: [reply, user] })
      const imported = true
      deepEqual(events, [eventOf('e1', { branch: 'b', imported }), eventOf('e2', { author: 'user', imported })])
      const other = { ...HOME, sessionId: 's2' }
      await service.createSession({ ...other, events: [user] })
      const stored = eventOf('e2', { author: 'user', invocationId: 'i2', imported })
      deepEqual((await service.getSession(other))?.events, [stored])
    },
  )

  serviceTest('createSession drops partial events and repeated event ids', async (service) => {
    const events = [eventOf('e1'), eventOf('e1'), eventOf('p', { partial: true }), eventOf('e2')]
    const created = await service.createSession({ ...HOME, events })
    deepEqual(
      created.events.map((event) => event.id),
      ['e1', 'e2'],
    )
  })

  serviceTest('getSession returns events without records', async (service) => {
    await service.createSession(HOME)
    await write(service, HOME, entryOf('e1'), intentOf('c1'), entryOf('e2'))
    deepEqual((await service.getSession(HOME))?.events, [eventOf('e1'), eventOf('e2')])
  })

  serviceTest('numRecentEvents and afterTimestamp limit the returned events', async (service) => {
    await service.createSession({ ...HOME, events: [1, 2, 3, 4].map((n) => eventOf(`e${n}`, { timestamp: n })) })
    const idsWith = async (config: { numRecentEvents?: number; afterTimestamp?: number }) =>
      (await service.getSession({ ...HOME, config }))?.events.map((event) => event.id)
    deepEqual(await idsWith({}), ['e1', 'e2', 'e3', 'e4'])
    deepEqual(await idsWith({ numRecentEvents: 2 }), ['e3', 'e4'])
    deepEqual(await idsWith({ numRecentEvents: 9 }), ['e1', 'e2', 'e3', 'e4'])
    deepEqual(await idsWith({ numRecentEvents: 0 }), [])
    deepEqual(await idsWith({ afterTimestamp: 3 }), ['e3', 'e4'])
    deepEqual(await idsWith({ afterTimestamp: 5 }), [])
    deepEqual(await idsWith({ afterTimestamp: 2, numRecentEvents: 1 }), ['e4'])
  })

  serviceTest('listSessions returns the sessions of a user with state and without events', async (service) => {
    await service.createSession({ ...HOME, state: { color: 'red', 'user:name': 'Ada' }, events: [eventOf('e1')] })
    await service.createSession({ ...HOME, sessionId: 's2' })
    const listed = (await service.listSessions(HOME)).sort((a, b) => (a.id < b.id ? -1 : 1))
    const common = { appName: 'shop', userId: 'ada', events: [], lastUpdateTime: 1_700_000_000 }
    deepEqual(listed, [
      { ...common, id: 's1', state: { color: 'red', 'user:name': 'Ada' } },
      { ...common, id: 's2', state: { 'user:name': 'Ada' } },
    ])
  })

  serviceTest('lastUpdateTime is the time of the last append in seconds', async (service, clock) => {
    await service.createSession(HOME)
    clock.time += 2500
    await write(service, HOME, entryOf('e1'))
    equal((await service.getSession(HOME))?.lastUpdateTime, 1_700_000_002.5)
    equal((await service.listSessions(HOME))[0]?.lastUpdateTime, 1_700_000_002.5)
  })

  serviceTest('deleteSession removes a session, and a new one with the same key is empty', async (service) => {
    await service.createSession({ ...HOME, state: { color: 'red', 'user:name': 'Ada' } })
    await write(service, HOME, entryOf('e1'))
    await service.post(HOME, { id: 'x', type: 'cancel' })
    await service.deleteSession(HOME)
    equal(await service.getSession(HOME), undefined)
    deepEqual(await service.listSessions(HOME), [])
    await rejectsWith(service.claim(HOME), 'NOT_FOUND')

    const again = await service.createSession(HOME)
    deepEqual(again.state, { 'user:name': 'Ada' }, 'user state outlives the session')
    equal(await write(service, HOME, entryOf('e1')), 1, 'the new log accepts the same event id')
    deepEqual(await eventIds(service, HOME), ['e1'])
    deepEqual(await service.inbox(await service.claim(HOME)), [])
  })

  serviceTest('changing a session object does not change the stored session', async (service) => {
    const state = { cart: { items: ['apple'] }, 'user:tags': ['new'], 'app:news': { title: 'open' } }
    const events = [eventOf('e1', { customMetadata: { tags: ['a'] }, actions: { stateDelta: { list: ['a'] } } })]
    const given = await service.createSession({ ...HOME, state, events })
    const expected = JSON.stringify(given)
    const spoil = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const inner of Object.values(value)) spoil(inner)
      if (Array.isArray(value)) value.push('spoiled')
      else (value as JsonObject).spoiled = true
    }
    spoil(state)
    spoil(events)
    spoil(given)
    spoil(await service.getSession(HOME))
    spoil(await service.listSessions(HOME))
    deepEqual(await service.getSession(HOME), JSON.parse(expected))
  })
}
