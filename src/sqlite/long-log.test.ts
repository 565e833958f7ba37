import { expect, test } from 'vitest'
import { sqlite } from './sqlite.ts'

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }
const event = (n: number): object => ({
  id: `e${n}`,
  invocationId: 'i1',
  author: 'user',
  timestamp: n,
  actions: {},
  content: { role: 'user', parts: [{ text: `${n}`.padEnd(300_000, 'x') }] },
})

/** Counts the turns of the event loop until the returned function is called. */
function countTurns(): () => number {
  let turns = 0
  let isCounting = true
  const count = (): void => {
    turns++
    if (isCounting) setImmediate(count)
  }
  setImmediate(count)
  return () => {
    isCounting = false
    return turns
  }
}

test.each([0, 64_000_000])(
  'other work goes on while a long log is read, with a cache of %i bytes',
  async (cacheBytes) => {
    const services = sqlite(':memory:', { cacheBytes })
    const { sessionService } = services
    const events = Array.from({ length: 50 }, (_, n) => event(n))
    await sessionService.createSession({ ...key, events: events as never })
    const lease = await sessionService.claim(key)
    const endTurns = countTurns()
    const reads = await Promise.all([sessionService.read(lease), sessionService.read(lease)])
    expect(endTurns()).toBeGreaterThan(5)
    for (const { entries } of reads) {
      expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1))
      expect(entries.map(({ event }) => event?.id)).toEqual(Array.from({ length: 50 }, (_, n) => `e${n}`))
    }
    expect((await sessionService.read(lease)).entries).toHaveLength(50)
    services.close()
  },
)

test('a user with many long logs does not make others wait for all of them', async () => {
  const services = sqlite(':memory:')
  const { sessionService } = services
  const events = Array.from({ length: 7 }, (_, n) => event(n)) as never // two pieces
  const keys = Array.from({ length: 20 }, (_, n) => ({ appName: 'shop', userId: 'eve', sessionId: `s${n}` }))
  const all = [...keys.flatMap((one) => [one, { ...one, sessionId: `${one.sessionId}b` }]), key]
  for (const one of all) await sessionService.createSession({ ...one, events })
  const leases = new Map(await Promise.all(all.map(async (one) => [one, await sessionService.claim(one)] as const)))
  const endTurns = countTurns()
  const done: string[] = []
  await Promise.all(
    all.map(async (one, n) => {
      // half of them with a lease, as runs do, and half without, as streams do
      if (n % 2 === 0) expect((await sessionService.read(leases.get(one) as never)).entries).toHaveLength(7)
      else expect((await sessionService.readLog?.(one))?.entries).toHaveLength(7)
      done.push(one.userId)
    }),
  )
  expect(endTurns()).toBeGreaterThan(all.length) // at least one after each piece
  expect(done.indexOf('ada')).toBeLessThan(8) // ada came last
  services.close()
})
