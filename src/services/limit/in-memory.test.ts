import { InMemoryLimitService } from 'toolwright'
import { limitServiceSuite } from 'toolwright/testing'
import { expect, test } from 'vitest'

limitServiceSuite(test, ({ monotonicNow }) => new InMemoryLimitService({ monotonicNow }))

test('limits that nothing uses any more are forgotten', async () => {
  let now = 0
  const service = new InMemoryLimitService({ monotonicNow: () => now })
  const start = (name: string) =>
    service.take({ appName: 'shop', name, max: 1, slotId: `${name}-${now}`, holder: '', userId: 'ada', leaseMs: 10 })
  for (let at = 0; at < 5_000; at++) {
    now++
    expect(await start(`key-${at}`)).toEqual({ type: 'taken' })
  }
  expect(service.size).toBeLessThan(2_500)
})
