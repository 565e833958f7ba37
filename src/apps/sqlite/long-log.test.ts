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

test('other work goes on between the large messages and files of one user', async () => {
  const services = sqlite(':memory:')
  const { sessionService, artifactService } = services
  const keys = Array.from({ length: 10 }, (_, n) => ({ appName: 'shop', userId: 'eve', sessionId: `s${n}` }))
  for (const one of keys) await sessionService.createSession(one)
  await sessionService.createSession(key)
  const done: string[] = []
  const append = async (one: typeof key, text: string): Promise<void> => {
    const lease = await sessionService.claim(one)
    const large = { ...event(1), content: { role: 'user', parts: [{ text }] } }
    await sessionService.append(lease, 0, [{ event: large as never }])
    done.push(one.userId)
    expect((await sessionService.getSession(one))?.events[0]?.content?.parts).toEqual([{ text }])
  }
  const save = async (one: typeof key): Promise<void> => {
    const artifact = { inlineData: { mimeType: 'image/png', data: 'abcd'.repeat(200_000) } }
    await artifactService.saveArtifact({ ...one, filename: 'a.png', artifact })
    done.push(one.userId)
    expect(await artifactService.loadArtifact({ ...one, filename: 'a.png' })).toEqual(artifact)
  }
  const large = keys.map((one, n) => (n % 2 ? save(one) : append(one, `${n}`.padEnd(1_000_000, 'x'))))
  await Promise.all([...large, append(key, 'Hi')])
  expect(done.indexOf('ada')).toBeLessThan(2) // ada came last
  services.close()
})

test('an entry with large parts of no valid shape is refused like a small one', async () => {
  const services = sqlite(':memory:')
  const { sessionService } = services
  await sessionService.createSession(key)
  const lease = await sessionService.claim(key)
  const text = 'x'.repeat(1_000_000)
  for (const parts of [[{ text }, null], [{ text }, { text: 5 }], { text }]) {
    const bad = { ...event(1), content: { role: 'user', parts } }
    await expect(sessionService.append(lease, 0, [{ event: bad as never }])).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    })
  }
  services.close()
})
