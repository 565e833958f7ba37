import type { SessionService } from '../../../services/session/service.ts'
import { equal, rejectsWith } from './assert.ts'
import { HOSTILE_IDS } from './hostile-ids.ts'
import type { ServiceTest } from './service-test.ts'

const SHOP = { appName: 'shop' }

/** Tests of pins: hashes of definitions that an app trusts. */
export function pinTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('a pin is undefined until it is set, and can be replaced', async (service) => {
    equal(await service.pins.get(SHOP, 'files'), undefined)
    equal(await service.pins.set(SHOP, 'files', 'a1'), true)
    equal(await service.pins.get(SHOP, 'files'), 'a1')
    equal(await service.pins.set(SHOP, 'files', 'b2'), true)
    equal(await service.pins.get(SHOP, 'files'), 'b2')
  })

  serviceTest('a pin with an expectation is stored only if the stored pin is the expected one', async (service) => {
    equal(await service.pins.set(SHOP, 'files', 'a1', { expected: 'other' }), false)
    equal(await service.pins.set(SHOP, 'files', 'a1', { expected: null }), true)
    equal(await service.pins.set(SHOP, 'files', 'b2', { expected: null }), false)
    equal(await service.pins.get(SHOP, 'files'), 'a1')
    equal(await service.pins.set(SHOP, 'files', 'b2', { expected: 'a1' }), true)
    equal(await service.pins.get(SHOP, 'files'), 'b2')
  })

  serviceTest('of two writers that expect the same pin, one stores its pin', async (service) => {
    const writers = Array.from({ length: 8 }, (_, at) =>
      service.pins.set(SHOP, 'files', `by ${at}`, { expected: null }),
    )
    const stored = (await Promise.all(writers)).flatMap((isStored, at) => (isStored ? [`by ${at}`] : []))
    equal(stored.length, 1)
    equal(await service.pins.get(SHOP, 'files'), stored[0])
  })

  serviceTest('apps have separate pins, and hostile names are stored separately', async (service) => {
    for (const [at, name] of HOSTILE_IDS.entries()) await service.pins.set(SHOP, name, `pin ${at}`)
    for (const [at, name] of HOSTILE_IDS.entries()) {
      equal(await service.pins.get(SHOP, name), `pin ${at}`)
      equal(await service.pins.get({ appName: 'bank' }, name), undefined)
    }
  })

  serviceTest('a pin with an empty name, no string or too many characters is rejected', async (service) => {
    await rejectsWith(service.pins.set(SHOP, '', 'a1'), 'INVALID_REQUEST')
    await rejectsWith(service.pins.set(SHOP, 'files', 5 as never), 'INVALID_REQUEST')
    await rejectsWith(service.pins.set(SHOP, 'files', 'x'.repeat(1_000_001)), 'INVALID_REQUEST')
    await rejectsWith(service.pins.get({ appName: '' }, 'files'), 'INVALID_REQUEST')
  })
}
