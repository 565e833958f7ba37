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

test.each([0, 64_000_000])(
  'other work goes on while a long log is read, with a cache of %i bytes',
  async (cacheBytes) => {
    const services = sqlite(':memory:', { cacheBytes })
    const { sessionService } = services
    const events = Array.from({ length: 50 }, (_, n) => event(n))
    await sessionService.createSession({ ...key, events: events as never })
    const lease = await sessionService.claim(key)
    let turns = 0
    let isReading = true
    const count = (): void => {
      turns++
      if (isReading) setImmediate(count)
    }
    setImmediate(count)
    const reads = await Promise.all([sessionService.read(lease), sessionService.read(lease)])
    isReading = false
    expect(turns).toBeGreaterThan(5)
    for (const { entries } of reads) {
      expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1))
      expect(entries.map(({ event }) => event?.id)).toEqual(Array.from({ length: 50 }, (_, n) => `e${n}`))
    }
    expect((await sessionService.read(lease)).entries).toHaveLength(50)
    services.close()
  },
)
