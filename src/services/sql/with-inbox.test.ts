// The list of sessions whose inbox no holder drains.
import { expect, onTestFinished, test } from 'vitest'
import { HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { delayedDatabase } from '../../apps/sqlite/delayed-database.test-kit.ts'
import { sqlite } from '../../apps/sqlite/sqlite.ts'
import type { SqlSessionService } from './session-service.ts'

const LEASE_MS = 15_000

const STORES: [string, (now: () => number) => SqlSessionService][] = [
  ['SQLite', (now) => sqlite(':memory:', { now }).sessionService as SqlSessionService],
  [
    'a database that answers later',
    (now) => {
      const { process, close } = delayedDatabase({ now, monotonicNow: now })
      onTestFinished(close)
      return process().sessionService
    },
  ],
]

test.each(STORES)(
  'sessions with answers that no holder drains are listed on %s, the longest waiting first',
  async (_on, open) => {
    const clock = { time: 1_700_000_000_000 }
    const service = open(() => clock.time)
    const keyOf = (n: number) => ({ ...HOME, sessionId: `s${n}` })
    for (const n of [1, 2, 3, 4]) await service.createSession(keyOf(n))
    for (const n of [3, 1, 2]) await service.post(keyOf(n), { id: 'i1', type: 'cancel' })
    const lease = await service.claim(keyOf(1))
    const list = async (limit = 10): Promise<string[]> =>
      (await service.withInbox({ appName: HOME.appName, limit })).map(({ sessionId }) => sessionId)
    expect(await list(), 's1 has a holder').toEqual(['s3', 's2'])
    expect(await list(1)).toEqual(['s3'])
    clock.time += LEASE_MS
    expect(await list(), 'the holder died').toEqual(['s3', 's1', 's2'])
    expect(await list(2), 'a dead lease counts').toEqual(['s3', 's1'])
    await service.append(lease, 0, [], { drained: ['i1'] })
    await service.release(lease)
    expect(await list()).toEqual(['s3', 's2'])
    expect(await service.withInbox({ appName: 'bank', limit: 10 })).toEqual([])
    for (const limit of [0, -1, 1.5, Number.NaN])
      await expect(list(limit)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await service.deleteSession(keyOf(3))
    expect(await list()).toEqual(['s2'])
  },
)
