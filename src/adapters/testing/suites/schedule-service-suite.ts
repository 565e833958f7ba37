import type { ScheduleService, StoredSchedule } from '../../../services/schedule/service.ts'
import { deepEqual, equal, rejectsWith } from './assert.ts'
import { HOSTILE_IDS } from './hostile-ids.ts'
import { createServiceTest, type MakeService, type SuiteTest } from './service-test.ts'

/**
 * Tests the contract of `ScheduleService`: a change is stored once, due schedules are found, and nothing of another app or user is.
 *
 * @example
 * scheduleServiceSuite(test, () => new InMemoryScheduleService())
 */
export function scheduleServiceSuite(test: SuiteTest, make: MakeService<ScheduleService>): void {
  const serviceTest = createServiceTest(test, make)

  serviceTest('a schedule is stored and read unchanged', async (service) => {
    const schedules = [
      scheduleOf('a', { timing: { type: 'at', at: 5 } }),
      scheduleOf('b', { timing: { type: 'cron', cron: '0 8 * * *', timeZone: 'Europe/Oslo' }, sessionId: 's1' }),
      scheduleOf('c', { state: { type: 'ended', reason: 'completed' }, last: { tick: 4, sessionId: 's2' } }),
      scheduleOf('d', { state: { type: 'delayed', tick: 4, attempt: 2, failures: 1, reason: 'in "use"\u0000' } }),
    ]
    for (const schedule of schedules) equal(await service.saveSchedule(schedule, null), true)
    for (const schedule of schedules) deepEqual(await service.getSchedule(schedule), schedule)
    deepEqual((await service.listSchedules({ appName: 'shop', limit: 10 })).items, schedules)
    equal(await service.getSchedule({ appName: 'shop', id: 'none' }), undefined)
  })

  serviceTest('a schedule is only changed or deleted at the expected revision', async (service) => {
    const first = scheduleOf('a', { revision: 'r1' })
    equal(await service.saveSchedule(first, 'r0'), false, 'there is none')
    equal(await service.saveSchedule(first, null), true)
    equal(await service.saveSchedule({ ...first, revision: 'r2' }, null), false, 'there is one')
    equal(await service.saveSchedule({ ...first, revision: 'r2', wakeAt: 7 }, 'r1'), true)
    equal(await service.saveSchedule({ ...first, revision: 'r3' }, 'r1'), false, 'it has changed')
    equal((await service.getSchedule(first))?.wakeAt, 7)
    equal(await service.deleteSchedule(first, 'r1'), false)
    equal(await service.deleteSchedule(first, 'r2'), true)
    equal(await service.deleteSchedule(first, 'r2'), false)
    equal(await service.getSchedule(first), undefined)
  })

  serviceTest('of many changes at the same revision, one is stored', async (service) => {
    const first = scheduleOf('a', { revision: 'r1' })
    await service.saveSchedule(first, null)
    const saves = Array.from({ length: 10 }, (_, at) => service.saveSchedule({ ...first, revision: `n${at}` }, 'r1'))
    equal((await Promise.all(saves)).filter(Boolean).length, 1)
  })

  serviceTest('due schedules come earliest first, and only those of the app', async (service) => {
    const times = [300, 100, 200, 400]
    for (const [at, wakeAt] of times.entries()) await service.saveSchedule(scheduleOf(`s${at}`, { wakeAt }), null)
    await service.saveSchedule(scheduleOf('other', { wakeAt: 1, appName: 'bank' }), null)
    const due = async (now: number, limit = 10): Promise<number[]> =>
      (await service.dueSchedules({ appName: 'shop', now, limit })).map(({ wakeAt }) => wakeAt)
    deepEqual(await due(99), [])
    deepEqual(await due(300), [100, 200, 300])
    deepEqual(await due(1_000, 2), [100, 200])
    const [first] = await service.dueSchedules({ appName: 'shop', now: 100, limit: 1 })
    await service.saveSchedule(
      { ...(first as StoredSchedule), wakeAt: 500, revision: 'moved' },
      first?.revision ?? null,
    )
    deepEqual(await due(300), [200, 300], 'a change moves it')
  })

  serviceTest('a list has pages and filters, in the order of creation, also after changes', async (service) => {
    for (const id of ['c', 'a', 'b']) await service.saveSchedule(scheduleOf(id), null)
    await service.saveSchedule(scheduleOf('d', { userId: 'bob' }), null)
    await service.saveSchedule(scheduleOf('e', { sessionId: 's1' }), null)
    const changed = scheduleOf('c', { revision: 'r2' })
    await service.saveSchedule(changed, scheduleOf('c').revision)
    const ids = async (filter: Partial<Parameters<ScheduleService['listSchedules']>[0]> = {}): Promise<string> =>
      (await service.listSchedules({ appName: 'shop', limit: 10, ...filter })).items.map(({ id }) => id).join('')
    equal(await ids(), 'cabde')
    equal(await ids({ userId: 'bob' }), 'd')
    equal(await ids({ userId: 'ada', sessionId: 's1' }), 'e')
    const first = await service.listSchedules({ appName: 'shop', limit: 2 })
    equal(await ids({ limit: 9, after: first.next }), 'bde')
    equal(await ids({ appName: 'bank' }), '')
    await rejectsWith(service.listSchedules({ appName: 'shop', limit: 0 }), 'INVALID_REQUEST')
  })

  serviceTest('deleting a session or a user deletes their schedules and no others', async (service) => {
    await service.saveSchedule(scheduleOf('a', { sessionId: 's1' }), null)
    await service.saveSchedule(scheduleOf('b', { sessionId: 's1', userId: 'bob' }), null)
    await service.saveSchedule(scheduleOf('c', { sessionId: 's1', appName: 'bank' }), null)
    await service.saveSchedule(scheduleOf('d'), null)
    const left = async (appName = 'shop'): Promise<string> =>
      (await service.listSchedules({ appName, limit: 10 })).items.map(({ id }) => id).join('')
    await service.deleteSession({ appName: 'shop', userId: 'ada', sessionId: 's1' })
    equal(await left(), 'bd')
    await service.deleteUser({ appName: 'shop', userId: 'ada' })
    equal(await left(), 'b')
    equal(await left('bank'), 'c')
  })

  serviceTest('ids with any characters are kept apart', async (service) => {
    for (const id of HOSTILE_IDS) equal(await service.saveSchedule(scheduleOf(id, { revision: id }), null), true, id)
    for (const id of HOSTILE_IDS) equal((await service.getSchedule({ appName: 'shop', id }))?.revision, id)
  })

  serviceTest('a schedule that is not valid is refused', async (service) => {
    const broken: Partial<StoredSchedule>[] = [
      { id: '' },
      { userId: '' },
      { wakeAt: Number.NaN },
      { missed: 'never' as never },
      { state: { type: 'waiting', tick: Number.NaN } },
      { timing: { type: 'every', everyMs: 0, from: 0 } },
      { message: {} as never },
    ]
    for (const part of broken) await rejectsWith(service.saveSchedule(scheduleOf('a', part), null), 'INVALID_REQUEST')
  })
}

function scheduleOf(id: string, part: Partial<StoredSchedule> = {}): StoredSchedule {
  return {
    appName: 'shop',
    id,
    userId: 'ada',
    uid: `uid-${id}`,
    message: { role: 'user', parts: [{ text: 'Report.' }] },
    timing: { type: 'every', everyMs: 1_000, from: 0 },
    missed: 'once',
    createdAt: 0,
    state: { type: 'waiting', tick: 1_000 },
    wakeAt: 1_000,
    revision: 'r1',
    ...part,
  }
}
