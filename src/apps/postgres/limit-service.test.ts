import { expect, test } from 'vitest'
import { emptyStore } from '../../../test/postgres/empty-store.ts'
import { limitServiceSuite } from '../../adapters/testing/suites/limit-service-suite.ts'
import { newSchema, runSql, serverUrl } from './database.test-kit.ts'
import { postgres } from './postgres.ts'

limitServiceSuite(test, (options) => {
  const services = emptyStore(options)
  return { service: services.limitService, close: () => services.close() }
})

const TABLES = ['toolwright_limits', 'toolwright_slots', 'toolwright_slot_places']

/** All rows of the tables, as text. */
async function rowsIn(schema: string): Promise<string> {
  const selects = TABLES.map((table) => `SELECT row_to_json(t)::text AS row FROM "${schema}".${table} AS t`)
  return (await runSql(selects.join(' UNION ALL '))).map(({ row }) => String(row)).join('\n')
}

test('a deleted user is in no row, and another user is', async () => {
  const schema = newSchema()
  await using services = postgres(serverUrl(), { schema })
  const { limitService } = services
  for (const userId of ['canary', 'other']) {
    const slot = { appName: 'shop', userId, name: `work of ${userId}`, max: 1, holder: '', leaseMs: 3_600_000 }
    await limitService.take({ ...slot, slotId: `slot-${userId}` })
    await limitService.take({ ...slot, slotId: 'next', place: { ticket: userId, waitMs: 3_600_000 } })
    await limitService.take({ ...slot, name: 'all', max: 9, slotId: `shared-${userId}` })
  }
  expect(await rowsIn(schema)).toContain('canary')
  await limitService.deleteUser({ appName: 'shop', userId: 'canary' })
  expect(await rowsIn(schema)).not.toContain('canary')
  for (const what of ['work of other', 'slot-other', 'shared-other']) expect(await rowsIn(schema)).toContain(what)
})

test('nothing is left of limits that nothing uses any more, also of a process that has died', async () => {
  const schema = newSchema()
  await using services = postgres(serverUrl(), { schema })
  const { limitService } = services
  const slot = { appName: 'shop', userId: 'ada', max: 1, holder: 'dead', leaseMs: 20 }
  await limitService.take({ ...slot, name: 'one', slotId: 's1', leaseMs: 60_000 })
  await limitService.take({ ...slot, name: 'one', slotId: 's2', place: { ticket: 't', waitMs: 60_000 } })
  await limitService.take({ ...slot, name: 'two', slotId: 's3' })
  await limitService.leave({ appName: 'shop', name: 'one', userId: 'ada', ticket: 't' })
  await limitService.release({ appName: 'shop', name: 'one', slotId: 's1' })
  await expect.poll(async () => (await rowsIn(schema)).includes('"one"')).toBe(false)
  // another process cleans when it first takes a slot
  await expect
    .poll(
      async () => {
        await using other = postgres(serverUrl(), { schema })
        await other.limitService.take({ ...slot, name: 'three', slotId: 's4', leaseMs: 1 })
        return (await rowsIn(schema)).includes('"two"')
      },
      { timeout: 20_000 },
    )
    .toBe(false)
})
