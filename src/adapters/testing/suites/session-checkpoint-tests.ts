import type { SessionService } from '../../../services/session/service.ts'
import { deepEqual, equal, ok, rejectsWith } from './assert.ts'
import type { ServiceTest } from './service-test.ts'
import { entryOf, HOME, intentOf } from './session-fixtures.ts'

/** Tests of checkpoints: `read` returns the whole log, or the latest checkpoint and what follows it. Stores may ignore checkpoints. */
export function checkpointTests(serviceTest: ServiceTest<SessionService>): void {
  serviceTest('a checkpoint and the entries after it are the whole log', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1'), intentOf('c1')])
    await service.append(lease, 2, [entryOf('e2')], { checkpoint: { upTo: 2 } })
    await service.append(lease, 3, [entryOf('e3')], { checkpoint: { upTo: 3 } })
    const { entries, checkpoint } = await service.read(lease)
    const before = (await checkpoint?.entriesBefore()) ?? []
    deepEqual(
      [...before, ...entries],
      [
        { seq: 1, ...entryOf('e1') },
        { seq: 2, ...intentOf('c1') },
        { seq: 3, ...entryOf('e2') },
        { seq: 4, ...entryOf('e3') },
      ],
    )
    if (!checkpoint) return
    ok(service.keepsCheckpoints === true, 'a store that returns checkpoints says so')
    deepEqual([checkpoint.seq, checkpoint.state], [3, { upTo: 3 }], 'the latest one')
    deepEqual(
      (await checkpoint.entriesBefore({ fromSeq: 2 })).map(({ seq }) => seq),
      [3],
    )
    deepEqual(await checkpoint.entriesBefore({ fromSeq: 3 }), [])
  })

  serviceTest('readCheckpoint returns the latest checkpoint of a session without a lease', async (service) => {
    if (!service.readCheckpoint) return
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1')])
    equal(await service.readCheckpoint(HOME), undefined)
    await service.append(lease, 1, [entryOf('e2')], { checkpoint: { upTo: 1 } })
    deepEqual(await service.readCheckpoint(HOME), { seq: 1, state: { upTo: 1 } })
    equal(await service.readCheckpoint({ ...HOME, userId: 'bob' }), undefined)
    await service.deleteSession(HOME)
    equal(await service.readCheckpoint(HOME), undefined)
  })

  serviceTest('an append that fails or is repeated stores no checkpoint', async (service) => {
    await service.createSession(HOME)
    const lease = await service.claim(HOME)
    await service.append(lease, 0, [entryOf('e1')])
    await service.append(lease, 1, [entryOf('e2')], { checkpoint: { upTo: 1 } })
    await rejectsWith(service.append(lease, 1, [entryOf('e3')], { checkpoint: { upTo: 9 } }), 'STALE_APPEND')
    equal(await service.append(lease, 0, [entryOf('e1')], { checkpoint: { upTo: 9 } }), 1)
    const { checkpoint } = await service.read(lease)
    if (checkpoint) deepEqual([checkpoint.seq, checkpoint.state], [1, { upTo: 1 }])
  })
}
