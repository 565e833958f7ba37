// How long a lease lives, on a monotonic clock and across schema versions.
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { entryOf, HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import type { Lease } from '../../services/session/service.ts'
import { startProcess } from './other-process.test-kit.ts'
import { openVersion1 } from './schema-version-1.test-kit.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

const NOW = 1_700_000_000_000
const HOUR = 3_600_000
const busy = { code: 'SESSION_BUSY' }

test('a SQLite lease from before a restart of the machine has ended', async () => {
  const file = temporaryFile()
  const clock = { sinceBoot: 5 * HOUR }
  using services = sqlite(file, { monotonicNow: () => clock.sinceBoot })
  const { sessionService } = services
  await sessionService.createSession(HOME)
  const lease = await sessionService.claim(HOME)
  clock.sinceBoot = 20_000
  expect(await sessionService.interrupted(HOME)).toEqual([HOME])
  const next = await sessionService.claim(HOME)
  await expect(sessionService.append(lease, 0, [entryOf('e1')])).rejects.toMatchObject({ code: 'LEASE_LOST' })
  await expect(sessionService.claim(HOME)).rejects.toMatchObject(busy)
  expect(await sessionService.append(next, 0, [entryOf('e1')])).toBe(1)
})

test('processes on one SQLite file share a lease clock, and each lease lasts for the leaseMs of the process that claimed it', async () => {
  const file = temporaryFile()
  using services = sqlite(file, { leaseMs: 60_000 })
  await services.sessionService.createSession(HOME)
  const other = await startProcess(file) // leases of 15 s
  const lease = await services.sessionService.claim(HOME)
  expect(lease.leaseMs).toBe(60_000)
  await expect(other.do('call', 'claim', HOME)).rejects.toMatchObject(busy)
  expect(await other.do('call', 'interrupted', HOME)).toEqual([])
  await services.sessionService.release(lease)
  expect(await other.do<Lease>('call', 'claim', HOME)).toMatchObject({ leaseMs: 15_000 })
  await expect(services.sessionService.claim(HOME)).rejects.toMatchObject(busy)
}, 60_000)

test('a claim that has read the clock before the lease was made is refused: it has waited for the lease', async () => {
  const file = temporaryFile()
  using holder = sqlite(file, { monotonicNow: () => 5 * HOUR })
  using late = sqlite(file, { monotonicNow: () => 5 * HOUR - 10 })
  await holder.sessionService.createSession(HOME)
  const lease = await holder.sessionService.claim(HOME)
  await expect(late.sessionService.claim(HOME)).rejects.toMatchObject(busy)
  expect(await late.sessionService.interrupted(HOME)).toEqual([])
  expect(await holder.sessionService.append(lease, 0, [entryOf('e1')])).toBe(1)
})

test('a lease whose session was appended to before writes to no other session', async () => {
  using services = sqlite(temporaryFile())
  const { sessionService } = services
  const other = { ...HOME, sessionId: 'other' }
  await sessionService.createSession(HOME)
  await sessionService.createSession(other)
  const lease = await sessionService.claim(HOME)
  expect(await sessionService.append(lease, 0, [entryOf('e1')])).toBe(1)
  expect(await sessionService.append(lease, 1, [entryOf('e2')])).toBe(2) // its row is known now
  const forged = { ...lease, key: other }
  await expect(sessionService.append(forged, 2, [entryOf('e3')])).rejects.toMatchObject({ code: 'LEASE_LOST' })
  await expect(sessionService.append(lease, 1, [entryOf('e3')])).rejects.toMatchObject({ code: 'STALE_APPEND' })
  await sessionService.release(lease)
  await expect(sessionService.append(lease, 2, [entryOf('e3')])).rejects.toMatchObject({ code: 'LEASE_LOST' })
  const next = await sessionService.claim(HOME)
  expect(await sessionService.append(next, 2, [entryOf('e3')])).toBe(3)
  expect((await sessionService.getSession(other))?.events).toEqual([])
})

test('a damaged SQLite lease does not block its session forever', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.sessionService.createSession(HOME)
  await services.sessionService.claim(HOME)
  run(file, 'UPDATE toolwright_sessions SET lease_until = 1e300, lease_ms = 1e300')
  expect(await services.sessionService.interrupted(HOME)).toEqual([HOME])
  expect(await services.sessionService.claim(HOME)).toMatchObject({ key: HOME })
})

test('a SQLite lease counter that was set back never issues an epoch twice', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  const { sessionService } = services
  await sessionService.createSession(HOME)
  await sessionService.release(await sessionService.claim(HOME))
  const lease = await sessionService.claim(HOME)
  await sessionService.release(lease, { interrupted: true })
  run(file, "UPDATE toolwright_meta SET value = 0 WHERE name = 'epoch'")
  const next = await sessionService.claim(HOME)
  expect(next.epoch).toBeGreaterThan(lease.epoch)
  await expect(sessionService.append(lease, 0, [entryOf('e1')])).rejects.toMatchObject({ code: 'LEASE_LOST' })
  run(file, "DELETE FROM toolwright_meta WHERE name = 'epoch'")
  await sessionService.release(next)
  await expect(sessionService.claim(HOME)).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('The lease counter is damaged'),
  })
})

test('migrating a SQLite file of schema version 1 respects live leases and interrupts dead ones', async () => {
  const file = temporaryFile()
  const old = openVersion1(file)
  old.createHeld('alive', NOW + 5_000)
  old.createHeld('dead', NOW)
  old.createHeld('clock was set back', NOW + HOUR)
  old.close()
  const clock = { time: NOW }
  using services = sqlite(file, { now: () => clock.time })
  const { sessionService } = services
  const { appName } = HOME
  const interrupted = async () => (await sessionService.interrupted({ appName })).map(({ sessionId }) => sessionId)
  expect(await interrupted()).toEqual(['dead', 'clock was set back'])
  await expect(sessionService.claim({ ...HOME, sessionId: 'alive' })).rejects.toMatchObject(busy)
  const lease = await sessionService.claim({ ...HOME, sessionId: 'dead' })
  expect(await sessionService.append(lease, 0, [entryOf('e1')])).toBe(1)
  clock.time += 5_000
  expect(await interrupted()).toEqual(['alive', 'clock was set back'])
  expect(await sessionService.claim({ ...HOME, sessionId: 'alive' })).toMatchObject({ seq: 0 })
})

test('processes with SQLite schema versions 1 and 2 respect the leases of each other', async () => {
  const file = temporaryFile()
  const old = openVersion1(file)
  const epoch = old.createHeld(HOME.sessionId, NOW + 15_000)
  const clock = { time: NOW }
  using services = sqlite(file, { now: () => clock.time, monotonicNow: () => clock.time - NOW })
  const { sessionService } = services
  await expect(sessionService.claim(HOME)).rejects.toMatchObject(busy)
  expect(old.renew(HOME.sessionId, epoch, NOW + 20_000)).toBe(true)
  clock.time += 15_000
  await expect(sessionService.claim(HOME), 'version 1 has renewed its lease').rejects.toMatchObject(busy)
  clock.time += 5_000
  const lease = await sessionService.claim(HOME)
  expect(old.renew(HOME.sessionId, epoch, NOW + HOUR), 'the lease was taken over').toBe(false)
  expect(old.claim(HOME.sessionId, clock.time + 14_999, 15_000), 'the lease of version 2 is alive').toBeUndefined()
  clock.time += 10_000
  await sessionService.renew(lease)
  expect(old.claim(HOME.sessionId, clock.time + 14_999, 15_000), 'also after a renewal').toBeUndefined()
  expect(old.claim(HOME.sessionId, clock.time + 15_000, 15_000), 'until it ends').toBeGreaterThan(lease.epoch)
  clock.time += 15_000
  await expect(sessionService.append(lease, 0, [entryOf('e1')])).rejects.toMatchObject({ code: 'LEASE_LOST' })
  await expect(sessionService.claim(HOME)).rejects.toMatchObject(busy)
  old.close()
})

function run(file: string, sql: string): void {
  const other = new DatabaseSync(file)
  other.exec(sql)
  other.close()
}
