import type { WorkerReport, WorkerService } from '../../../services/worker/service.ts'
import { deepEqual, equal, rejectsWith } from './assert.ts'
import { HOSTILE_IDS } from './hostile-ids.ts'
import { createServiceTest, type MakeService, type SuiteTest } from './service-test.ts'

/**
 * Tests the contract of `WorkerService`: reports replace one another, and times do not depend on the clocks of workers.
 *
 * @example
 * workerServiceSuite(test, ({ monotonicNow }) => new InMemoryWorkerService({ monotonicNow }))
 */
export function workerServiceSuite(test: SuiteTest, make: MakeService<WorkerService>): void {
  const serviceTest = createServiceTest(test, make)

  serviceTest('a report is stored unchanged, and the next one of the worker replaces it', async (service) => {
    const first = reportOf('w1', { label: 'pod "7"\u0000\ud800', recoveries: [{ upToMs: 50, count: 2 }] })
    await service.report(first)
    deepEqual(await list(service), [{ ...first, unseenMs: 0 }])
    const second = reportOf('w1', { engine: 'restate', running: 3, continued: 9, crashes: 1 })
    await service.report(second)
    deepEqual(await list(service), [{ ...second, unseenMs: 0 }])
  })

  serviceTest('workers are listed by their latest reports, and only those of the app', async (service, clock) => {
    for (const id of ['w1', 'w2', 'w3']) {
      await service.report(reportOf(id))
      clock.time += 1_000
    }
    await service.report(reportOf('w1'))
    await service.report(reportOf('other', { appName: 'bank' }))
    const seen = (await list(service)).map(({ id, unseenMs }) => `${id} ${unseenMs}`)
    deepEqual(seen, ['w1 0', 'w3 1000', 'w2 2000'])
    deepEqual(
      (await list(service, 2)).map(({ id }) => id),
      ['w1', 'w3'],
    )
    deepEqual((await service.list({ appName: 'none', limit: 9 })).length, 0)
    await rejectsWith(service.list({ appName: 'shop', limit: 0 }), 'INVALID_REQUEST')
  })

  serviceTest('a system clock that is set does not make a worker look lost, or alive', async (service, clock) => {
    await service.report(reportOf('w1'))
    clock.offset = -86_400_000
    equal((await list(service))[0]?.unseenMs, 0)
    clock.offset = 86_400_000
    equal(await service.sweep({ appName: 'shop', unseenMs: 1_000 }), 0)
    clock.time += 5_000
    equal((await list(service))[0]?.unseenMs, 5_000)
  })

  serviceTest('a worker that ends is removed, and no other one', async (service) => {
    for (const id of ['w1', 'w2']) await service.report(reportOf(id))
    await service.report(reportOf('w1', { appName: 'bank' }))
    await service.remove({ appName: 'shop', id: 'w1' })
    await service.remove({ appName: 'shop', id: 'w1' })
    deepEqual(
      (await list(service)).map(({ id }) => id),
      ['w2'],
    )
    equal((await service.list({ appName: 'bank', limit: 9 })).length, 1)
  })

  serviceTest('workers that have not reported for long are swept, and no others', async (service, clock) => {
    await service.report(reportOf('dead'))
    await service.report(reportOf('dead', { appName: 'bank' }))
    clock.time += 1_000
    await service.report(reportOf('alive'))
    equal(await service.sweep({ appName: 'shop', unseenMs: 1_000 }), 0)
    clock.time += 1
    equal(await service.sweep({ appName: 'shop', unseenMs: 1_000 }), 1)
    deepEqual(
      (await list(service)).map(({ id }) => id),
      ['alive'],
    )
    equal((await service.list({ appName: 'bank', limit: 9 })).length, 1)
  })

  serviceTest('ids with any characters are kept apart', async (service) => {
    for (const id of HOSTILE_IDS) await service.report(reportOf(id, { label: id.slice(0, 50) }))
    const known = await list(service, 1_000)
    equal(known.length, HOSTILE_IDS.length)
    for (const { id, label } of known) equal(label, id.slice(0, 50))
  })

  serviceTest('a report that is not valid is refused', async (service) => {
    const broken: Partial<WorkerReport>[] = [
      { id: '' },
      { appName: '' },
      { engine: 'other' as never },
      { label: 'x'.repeat(201) },
      { running: -1 },
      { startedAt: Number.NaN },
      { recoveries: {} as never },
      { recoveries: [{ upToMs: '1' as never, count: 1 }] },
    ]
    for (const part of broken) await rejectsWith(service.report(reportOf('w1', part)), 'INVALID_REQUEST')
    deepEqual(await list(service), [])
  })
}

async function list(service: WorkerService, limit = 100): ReturnType<WorkerService['list']> {
  return await service.list({ appName: 'shop', limit })
}

function reportOf(id: string, part: Partial<WorkerReport> = {}): WorkerReport {
  const counts = { running: 0, continued: 0, crashes: 0, recoveries: [] }
  return { appName: 'shop', id, engine: 'store', version: '1.0.0', agents: 'a1b2', startedAt: 5, ...counts, ...part }
}
