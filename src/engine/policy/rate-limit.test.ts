import { expect, test } from 'vitest'
import { tool } from '../tool/define-tool.ts'
import { createContext, FakeClock, flushPromises, toolCaller } from './call-tool.test-kit.ts'
import { rateLimit } from './rate-limit.ts'

const callTool = toolCaller(({ tool, args, context }) => tool.run(args, context))

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

test('rateLimit() starts at most max calls in any period, in order', async () => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 2, perMs: 100 }, clock)
  const calls = ['a', 'b', 'c', 'd', 'e'].map((q) => callTool(limited, { q }))
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

test('rateLimit() lets no new call overtake waiting calls', async () => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 1, perMs: 100 }, clock)
  const calls = [callTool(limited, { q: 'a' }), callTool(limited, { q: 'b' })]
  await clock.advance(100)
  calls.push(callTool(limited, { q: 'c' }))
  await clock.advance(100)
  await Promise.all(calls)
  expect(starts.map(([q]) => q)).toEqual(['a', 'b', 'c'])
})

test('rateLimit() removes an aborted call from the queue and clears the timer', async () => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 1, perMs: 100 }, clock)
  await callTool(limited, { q: 'a' })
  const controller = new AbortController()
  const waiting = callTool(limited, { q: 'b' }, createContext({ signal: controller.signal }))
  await flushPromises()
  expect(clock.timers).toBe(1)
  controller.abort(new Error('cancelled'))
  await expect(waiting).rejects.toThrow('cancelled')
  expect(clock.timers).toBe(0)
  await expect(callTool(limited, { q: 'c' }, createContext({ signal: controller.signal }))).rejects.toThrow('cancelled')
  expect(clock.timers).toBe(0)
  expect(starts).toEqual([['a', 0]])
})

test('rateLimit() limits each key separately', async () => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 1, perMs: 100, key: ({ context }) => context.invocation.userId }, clock)
  await callTool(limited, { q: 'a' })
  await callTool(limited, { q: 'b' }, createContext({ userId: 'bob' }))
  expect(starts).toHaveLength(2)
})

test('rateLimit() removes idle keys', async () => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 1, perMs: 100, key: ({ args }) => String((args as { q: string }).q) }, clock)
  for (let i = 0; i < 2_500; i++) {
    await callTool(limited, { q: `${i}` })
    if (i % 500 === 0) await clock.advance(200)
  }
  expect(starts).toHaveLength(2_500)
})

test('rateLimit() rejects invalid options', () => {
  const { made } = recorded(new FakeClock())
  for (const options of [
    { max: 0, perMs: 1 },
    { max: 1, perMs: 0 },
    { max: 1, perMs: Number.POSITIVE_INFINITY },
  ])
    expect(() => rateLimit(made, options)).toThrow(/rateLimit\(\) of tool "search"/)
})

test.each([3_600_000, -3_600_000])('rateLimit() is not affected by a wall clock change of %i ms', async (ms) => {
  const clock = new FakeClock()
  const { made, starts } = recorded(clock)
  const limited = rateLimit(made, { max: 1, perMs: 100 }, clock)
  const calls = [callTool(limited, { q: 'a' }), callTool(limited, { q: 'b' })]
  await flushPromises()
  clock.step(ms)
  await clock.advance(99)
  expect(starts).toHaveLength(1)
  await clock.advance(1)
  await Promise.all(calls)
  expect(starts).toHaveLength(2)
})
