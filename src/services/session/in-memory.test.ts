import { expect, test } from 'vitest'
import { entryOf, eventOf, HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { sessionServiceSuite } from '../../adapters/testing/suites/session-service-suite.ts'
import { InMemorySessionService } from './in-memory.ts'

sessionServiceSuite(test, (options) => new InMemorySessionService(options))

test('InMemorySessionService returns the same growing array to each holder that reads the log', async () => {
  const service = new InMemorySessionService()
  await service.createSession(HOME)
  const lease = await service.claim(HOME)
  const { entries, state } = await service.read(lease)
  await service.append(lease, 0, [entryOf('e1', { color: 'red' })])
  expect(entries).toHaveLength(1)
  expect(state.get('color')).toBe('red')
  expect([...state.keys()]).toEqual(['color'])
  expect((await service.read(lease)).entries).toBe(entries)
  await service.release(lease)
  expect((await service.read(await service.claim(HOME))).entries).toBe(entries)
})

test('InMemorySessionService stores an event without a copy, unless it has temp: keys', async () => {
  const service = new InMemorySessionService()
  await service.createSession(HOME)
  const lease = await service.claim(HOME)
  const event = eventOf('e1', { actions: { stateDelta: { color: 'red' } } })
  const other = eventOf('e2', { actions: { escalate: true, stateDelta: { 'temp:x': 1 } } })
  await service.append(lease, 0, [{ event }, { event: other }])
  const { entries } = await service.read(lease)
  expect(entries[0]?.event).toBe(event)
  expect(entries[1]?.event?.actions).toEqual({ escalate: true })
  expect(other.actions.stateDelta).toEqual({ 'temp:x': 1 })
})

test('InMemorySessionService uses the ids and the clock of its options', async () => {
  let n = 0
  const service = new InMemorySessionService({ now: () => 5000, newId: () => `id${++n}`, leaseMs: 7_000 })
  const { id, lastUpdateTime } = await service.createSession({ appName: 'shop', userId: 'ada' })
  expect({ id, lastUpdateTime }).toEqual({ id: 'id1', lastUpdateTime: 5 })
  expect((await service.claim({ appName: 'shop', userId: 'ada', sessionId: id })).leaseMs).toBe(7_000)
})

test.each([Number.NaN, 0, 999, 86_400_001, '5000' as never])(
  'InMemorySessionService refuses a lease of %s ms when the service is built',
  (leaseMs) => {
    expect(() => new InMemorySessionService({ leaseMs })).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining('from 1000 to 86400000') }),
    )
    expect(() => new InMemorySessionService({ leaseMs: 1_000 })).not.toThrow()
  },
)

test('InMemorySessionService accepts a copy of its lease, and no lease of another service', async () => {
  const [service, other] = [new InMemorySessionService(), new InMemorySessionService()]
  for (const each of [service, other]) await each.createSession(HOME)
  const lease = await service.claim(HOME)
  expect(await service.append(JSON.parse(JSON.stringify(lease)), 0, [entryOf('e1')])).toBe(1)
  await expect(other.append(lease, 0, [entryOf('e2')])).rejects.toMatchObject({ code: 'LEASE_LOST' })
  await other.claim(HOME) // it has the same epoch now
  expect(await other.append(lease, 0, [entryOf('e2')])).toBe(1)
  expect((await service.read(lease)).entries).toHaveLength(1)
})

test('InMemorySessionService refuses the lease of a session that was deleted and created again', async () => {
  const service = new InMemorySessionService()
  await service.createSession(HOME)
  const lease = await service.claim(HOME)
  await service.deleteSession(HOME)
  await service.createSession(HOME)
  await expect(service.append(lease, 0, [entryOf('e1')])).rejects.toMatchObject({ code: 'SESSION_GONE' })
  expect((await service.getSession(HOME))?.events).toEqual([])
})

test.each([3, 40])('InMemorySessionService finds a repeated append in a log of %i entries', async (count) => {
  const service = new InMemorySessionService()
  await service.createSession(HOME)
  const lease = await service.claim(HOME)
  for (let at = 0; at < count; at++) await service.append(lease, at, [entryOf(`e${at}`)])
  expect(await service.append(lease, 0, [entryOf('e0')])).toBe(1)
  await expect(service.append(lease, 0, [entryOf('new')])).rejects.toMatchObject({ code: 'STALE_APPEND' })
})
