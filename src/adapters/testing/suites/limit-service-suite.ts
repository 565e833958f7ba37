import type { LimitService, SlotAnswer, SlotRequest } from '../../../services/limit/service.ts'
import { deepEqual, equal, ok, rejectsWith } from './assert.ts'
import { HOSTILE_IDS } from './hostile-ids.ts'
import { createServiceTest, type MakeService, type SuiteTest } from './service-test.ts'

const LEASE_MS = 10_000
const WAIT_MS = 3_000
const LIMIT = { appName: 'shop', name: 'search' }

/**
 * Tests the contract of `LimitService`: never more slots than allowed, slots come back, and no user waits for all work of another one.
 *
 * @example
 * limitServiceSuite(test, ({ monotonicNow }) => new InMemoryLimitService({ monotonicNow }))
 */
export function limitServiceSuite(test: SuiteTest, make: MakeService<LimitService>): void {
  const serviceTest = createServiceTest(test, make)

  serviceTest('no more slots are taken than there are, and a released one is free', async (service) => {
    equal(await takes(service, 'a'), true)
    equal(await takes(service, 'b'), true)
    equal(await takes(service, 'c'), false)
    await service.release({ ...LIMIT, slotId: 'a' })
    equal(await takes(service, 'c'), true)
    equal(await takes(service, 'd'), false)
  })

  serviceTest('of many that ask at the same time, as many take a slot as there are', async (service) => {
    const asked = Array.from({ length: 12 }, (_, at) => takes(service, `s${at}`, { max: 5, userId: `u${at % 3}` }))
    equal((await Promise.all(asked)).filter(Boolean).length, 5)
  })

  serviceTest('a slot that is asked for again is the same slot', async (service) => {
    equal(await takes(service, 'a'), true)
    equal(await takes(service, 'a'), true)
    equal(await takes(service, 'b'), true)
    equal(await takes(service, 'b'), true)
    await service.release({ ...LIMIT, slotId: 'a' })
    equal(await takes(service, 'c'), true)
  })

  serviceTest(
    'a slot that nothing renews is free when its lease ends, and retryAfterMs says when',
    async (service, clock) => {
      await takes(service, 'a', { max: 1 })
      clock.time += 4_000
      const answer = await service.take(slotOf('b', { max: 1 }))
      ok(answer.type === 'full' && Math.abs(answer.retryAfterMs - 6_000) < 2, `got ${JSON.stringify(answer)}`)
      clock.time += 5_999
      equal(await takes(service, 'b', { max: 1 }), false)
      clock.time += 2
      equal(await takes(service, 'b', { max: 1 }), true)
    },
  )

  serviceTest('a renewal keeps all slots of its holder, and those of no other', async (service, clock) => {
    await takes(service, 'a', { holder: 'one' })
    await takes(service, 'b', { holder: 'other' })
    await takes(service, 'c', { holder: 'one', name: 'second', max: 1 })
    clock.time += 6_000
    await service.renew({ holder: 'one', leaseMs: LEASE_MS })
    clock.time += 6_000
    equal(await takes(service, 'd'), true, 'the slot of the other holder')
    equal(await takes(service, 'e'), false)
    equal(await takes(service, 'f', { name: 'second', max: 1 }), false)
  })

  serviceTest('slots that nothing renews or releases count starts in any period', async (service, clock) => {
    const start = (id: string): Promise<boolean> => takes(service, id, { max: 2, leaseMs: 1_000, holder: '' })
    equal(await start('a'), true)
    clock.time += 600
    equal(await start('b'), true)
    equal(await start('c'), false)
    clock.time += 401
    equal(await start('c'), true)
    equal(await start('d'), false)
    clock.time += 600
    equal(await start('d'), true)
  })

  serviceTest('those who wait are served in the order in which they came', async (service) => {
    await takes(service, 'busy', { max: 1, userId: 'eve' })
    for (const id of ['a', 'b', 'c']) equal(await waits(service, id, { max: 1, userId: id }), true)
    await service.release({ ...LIMIT, slotId: 'busy' })
    equal(await takes(service, 'new', { max: 1, userId: 'new' }), false, 'not before those who wait')
    equal(await waits(service, 'b', { max: 1, userId: 'b' }), true)
    equal(await waits(service, 'a', { max: 1, userId: 'a' }), false)
    await service.release({ ...LIMIT, slotId: 'a' })
    equal(await waits(service, 'c', { max: 1, userId: 'c' }), true)
    equal(await waits(service, 'b', { max: 1, userId: 'b' }), false)
  })

  serviceTest('a user with one call does not wait for all calls of another user', async (service) => {
    for (const id of ['a1', 'a2', 'a3']) equal(await takes(service, id, { max: 3, userId: 'ada' }), true)
    for (let at = 4; at < 20; at++) equal(await waits(service, `a${at}`, { max: 3, userId: 'ada' }), true)
    equal(await waits(service, 'b1', { max: 3, userId: 'bob' }), true)
    await service.release({ ...LIMIT, slotId: 'a1' })
    equal(await waits(service, 'a4', { max: 3, userId: 'ada' }), true)
    equal(await waits(service, 'b1', { max: 3, userId: 'bob' }), false)
    equal(await waits(service, 'b2', { max: 3, userId: 'bob' }), true)
    await service.release({ ...LIMIT, slotId: 'a2' })
    equal(await waits(service, 'b2', { max: 3, userId: 'bob' }), true, 'both have one slot, and bob came later')
    equal(await waits(service, 'a4', { max: 3, userId: 'ada' }), false)
  })

  serviceTest('a place is lost when nothing asks for it, or when it is given up', async (service, clock) => {
    await takes(service, 'busy', { max: 1 })
    await waits(service, 'a', { max: 1, userId: 'ada' })
    await waits(service, 'b', { max: 1, userId: 'bob' })
    await waits(service, 'c', { max: 1, userId: 'cyd' })
    clock.time += 2_000
    await waits(service, 'b', { max: 1, userId: 'bob' })
    await waits(service, 'c', { max: 1, userId: 'cyd' })
    await service.release({ ...LIMIT, slotId: 'busy' })
    equal(await takes(service, 'new', { max: 1 }), false)
    clock.time += 1_001 // ada is gone
    await service.leave({ ...LIMIT, userId: 'bob', ticket: 'b' })
    equal(await waits(service, 'c', { max: 1, userId: 'cyd' }), false)
  })

  serviceTest('notifies the process that is next of a free slot', async (service) => {
    if (!service.watch) return
    const told: (string | undefined)[] = []
    const stop = service.watch((freed) => told.push(freed?.ticket))
    await takes(service, 'busy', { max: 1 })
    await waits(service, 'a', { max: 1, userId: 'ada' })
    await waits(service, 'b', { max: 1, userId: 'bob' })
    told.length = 0
    await service.release({ ...LIMIT, slotId: 'busy' })
    for (let at = 0; at < 100 && told.length === 0; at++) await new Promise((resolve) => setTimeout(resolve, 20))
    stop()
    ok(told.length > 0, 'nothing was told')
    ok(told[0] === 'a' || told[0] === undefined, `told ${told[0]}`)
  })

  serviceTest('limits, apps and slots with any names are kept apart', async (service) => {
    for (const [at, id] of HOSTILE_IDS.entries()) {
      const limit = { name: id, appName: id, max: 1, userId: id }
      equal(await takes(service, `${at} one`, limit), true, id)
      equal(await takes(service, `${at} two`, limit), false, id)
      equal(await waits(service, id, limit), true, id)
      await service.release({ name: id, appName: id, slotId: `${at} one` })
      equal(await waits(service, id, limit), false, id)
    }
    equal(await takes(service, 'a', { appName: 'bank', max: 1 }), true)
    equal(await takes(service, 'b', { appName: 'shop', max: 1 }), true)
  })

  serviceTest('deleting a user deletes their slots and places, and those of no one else', async (service) => {
    await takes(service, 'a', { max: 2, userId: 'ada' })
    await takes(service, 'b', { max: 2, userId: 'bob' })
    await takes(service, 'c', { max: 1, appName: 'bank', userId: 'ada' })
    await waits(service, 'd', { max: 2, userId: 'ada' })
    await service.deleteUser({ appName: 'shop', userId: 'ada' })
    equal(await takes(service, 'e', { max: 2, userId: 'eve' }), true)
    equal(await takes(service, 'f', { max: 2, userId: 'eve' }), false)
    equal(await takes(service, 'g', { max: 1, appName: 'bank', userId: 'ada' }), false)
    await service.release({ ...LIMIT, slotId: 'a' }) // the run that had it ends
  })

  serviceTest('a slot that cannot be asked for is refused', async (service) => {
    const broken: Partial<SlotRequest>[] = [
      { max: 0 },
      { max: 1.5 },
      { max: Number.POSITIVE_INFINITY },
      { leaseMs: 0 },
      { leaseMs: Number.NaN },
      { userId: '' },
      { name: '' },
      { name: 'n'.repeat(1_101) },
      { name: '\u6f22'.repeat(1_000) }, // more bytes than a database can index
      { userId: '\u6f22'.repeat(900) },
      { slotId: '' },
      { place: { ticket: '', waitMs: 1 } },
      { place: { ticket: 't', waitMs: -1 } },
    ]
    for (const part of broken) await rejectsWith(service.take(slotOf('a', part)), 'INVALID_REQUEST')
    deepEqual(await service.take(slotOf('a')), { type: 'taken' })
  })
}

function slotOf(slotId: string, part: Partial<SlotRequest> = {}): SlotRequest {
  return { ...LIMIT, max: 2, slotId, holder: 'process', userId: 'ada', leaseMs: LEASE_MS, ...part }
}

async function takes(service: LimitService, slotId: string, part?: Partial<SlotRequest>): Promise<boolean> {
  return (await service.take(slotOf(slotId, part))).type === 'taken'
}

/** Asks with a place in line, whose ticket is the slot. Returns whether it waits. */
async function waits(service: LimitService, slotId: string, part: Partial<SlotRequest>): Promise<boolean> {
  const answer: SlotAnswer = await service.take(slotOf(slotId, { place: { ticket: slotId, waitMs: WAIT_MS }, ...part }))
  return answer.type === 'full'
}
