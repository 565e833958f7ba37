import { expect, test } from 'vitest'
import { tool } from '../tool/define.ts'
import { rateLimit } from './rate-limit.ts'
import { FakeClock, createContext, flushPromises, toolCaller } from './call-tool.test-kit.ts'

const through = toolCaller(({ tool, args, context }) => tool.run(args, context))

function recorded(clock: FakeClock) {
  const starts: [unknown, number][] = []
  const made = tool({
    name: 'search',
    description: 'd',
    parameters: { type: 'object', properties: { q: { type: 'string' } } },
    run: ({ q }) => starts.push([q, clock.now() - 1_000]),
  })
  return { made, starts }
}

test('no more than max start in any stretch of time, in the order they came', async () => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 2, perMs: 100 }, clock)
  const calls = ['a', 'b', 'c', 'd', 'e'].map((q) => through(limited, { q }))
  await flushPromises()
  expect(starts).toEqual([
    ['a', 0],
    ['b', 0],
  ])
  await clock.advance(250)
  await Promise.all(calls)
  expect(starts).toEqual([
    ['a', 0],
    ['b', 0],
    ['c', 100],
    ['d', 100],
    ['e', 200],
  ])
  expect(clock.timers).toBe(0)
})

test('a newcomer does not overtake those who wait', async () => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 1, perMs: 100 }, clock)
  const calls = [through(limited, { q: 'a' }), through(limited, { q: 'b' })]
  await clock.advance(100)
  calls.push(through(limited, { q: 'c' }))
  await clock.advance(100)
  await Promise.all(calls)
  expect(starts.map(([q]) => q)).toEqual(['a', 'b', 'c'])
})

test('one that is aborted leaves the line, and no timer stays behind', async () => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 1, perMs: 100 }, clock)
  await through(limited, { q: 'a' })
  const controller = new AbortController()
  const waiting = through(limited, { q: 'b' }, createContext({ signal: controller.signal }))
  await flushPromises()
  expect(clock.timers).toBe(1)
  controller.abort(new Error('cancelled'))
  await expect(waiting).rejects.toThrow('cancelled')
  expect(clock.timers).toBe(0)
  await expect(through(limited, { q: 'c' }, createContext({ signal: controller.signal }))).rejects.toThrow('cancelled')
  expect(clock.timers).toBe(0)
  expect(starts).toEqual([['a', 0]])
})

test('each key has its own count', async () => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 1, perMs: 100, key: ({ context }) => context.invocation.userId }, clock)
  await through(limited, { q: 'a' })
  await through(limited, { q: 'b' }, createContext({ userId: 'bob' }))
  expect(starts).toHaveLength(2)
})

test('many keys are forgotten when idle', async () => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 1, perMs: 100, key: ({ args }) => String((args as { q: string }).q) }, clock)
  for (let i = 0; i < 2_500; i++) {
    await through(limited, { q: `${i}` })
    if (i % 500 === 0) await clock.advance(200)
  }
  expect(starts).toHaveLength(2_500)
})

test('bad options are refused when built', () => {
  const { made } = recorded(new FakeClock())
  for (const options of [
    { max: 0, perMs: 1 },
    { max: 1, perMs: 0 },
    { max: 1, perMs: Number.POSITIVE_INFINITY },
  ])
    expect(() => rateLimit(made, options)).toThrow(/rateLimit\(\) of tool "search"/)
})

test.each([3_600_000, -3_600_000])('a clock set by %i ms neither lets calls through nor holds them up', async (ms) => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 1, perMs: 100 }, clock)
  const calls = [through(limited, { q: 'a' }), through(limited, { q: 'b' })]
  await flushPromises()
  clock.step(ms)
  await clock.advance(99)
  expect(starts).toHaveLength(1)
  await clock.advance(1)
  await Promise.all(calls)
  expect(starts).toHaveLength(2)
})
