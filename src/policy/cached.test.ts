import { describe, expect, test } from 'vitest'
import { tool } from '../tool/define.ts'
import { cached } from './cached.ts'
import { FakeClock, createContext, createHeldBody, flushPromises, toolCaller, type ContextOptions } from './call-tool.test-kit.ts'

const through = toolCaller(({ tool, args, context }) => tool.run(args, context))

function counter(run: (n: number) => unknown = (n) => ({ n })) {
  let n = 0
  return tool({ name: 'count', description: 'd', run: () => run(++n) })
}

test('an equal call is answered from memory, whatever the order of its keys', async () => {
  const made = cached(counter())
  expect(await through(made, { a: 1, b: [2, { c: 3 }] })).toEqual({ n: 1 })
  expect(await through(made, { b: [2, { c: 3 }], a: 1 })).toEqual({ n: 1 })
  expect(await through(made, { a: 1, b: [2, { c: 4 }] })).toEqual({ n: 2 })
})

describe('never across users or apps', () => {
  const scopes: ['invocation' | 'session' | 'user', ContextOptions, boolean][] = [
    ['user', { userId: 'bob' }, false],
    ['user', { appName: 'other' }, false],
    ['user', { sessionId: 's2' }, true],
    ['session', { userId: 'bob' }, false],
    ['session', { appName: 'other' }, false],
    ['session', { sessionId: 's2' }, false],
    ['session', { invocationId: 'i2' }, true],
    ['invocation', { invocationId: 'i2' }, false],
    ['invocation', {}, true],
  ]
  test.each(scopes)('scope %s, %o shares: %s', async (scope, who, shares) => {
    const made = cached(counter(), { scope })
    await through(made)
    expect(await through(made, {}, createContext(who))).toEqual({ n: shares ? 1 : 2 })
  })

  test('names that look like parts of a key do not meet', async () => {
    const made = cached(counter(), { scope: 'user' })
    await through(made, {}, createContext({ appName: 'a', userId: 'b","c' }))
    expect(await through(made, {}, createContext({ appName: 'a","b', userId: 'c' }))).toEqual({ n: 2 })
  })
})

test('changing what was returned does not change what is kept', async () => {
  const made = cached(counter((n) => ({ list: [n] })))
  for (let i = 0; i < 3; i++) {
    const result = (await through(made)) as { list: number[] }
    expect(result).toEqual({ list: [1] })
    result.list.push(99)
  }
})

test('only successes are kept', async () => {
  const throws = cached(
    counter((n) => {
      if (n === 1) throw new Error('once')
      return n
    }),
  )
  await expect(through(throws)).rejects.toThrow('once')
  expect(await through(throws)).toBe(2)

  const failing = cached(counter((n) => (n === 1 ? { error: 'no' } : { n })))
  expect(await through(failing)).toEqual({ error: 'no' })
  expect(await through(failing)).toEqual({ n: 2 })
})

test('a pending call, a transfer, and what JSON cannot hold are not kept', async () => {
  const pending = cached(counter())
  await through(pending, {}, createContext({ longRunning: true }))
  expect(await through(pending)).toEqual({ n: 2 })

  const transfer = cached(counter())
  const context = createContext()
  context.actions.transferToAgent = 'other'
  await through(transfer, {}, context)
  expect(await through(transfer)).toEqual({ n: 2 })

  const date = cached(counter((n) => ({ at: new Date(n) })))
  await through(date)
  expect(await through(date)).toEqual({ at: new Date(2) })
})

test('a long-running tool that finished at once is finished from memory too', async () => {
  const made = cached(
    tool({
      name: 'job',
      description: 'd',
      isLongRunning: true,
      run: (_, context) => {
        context.longRunning = false
        return 'done'
      },
    }),
  )
  for (let i = 0; i < 2; i++) {
    const context = createContext({ longRunning: true })
    expect(await through(made, {}, context)).toBe('done')
    expect(context.longRunning).toBe(false)
  }
})

test('arguments that are more than JSON are not confused with each other', async () => {
  const made = cached(counter())
  await through(made, { at: new Date(1) })
  expect(await through(made, { at: new Date(2) })).toEqual({ n: 2 })
})

test('concurrent equal calls share one run', async () => {
  const body = createHeldBody()
  const made = cached(tool({ name: 't', description: 'd', run: body.run }))
  const both = [through(made), through(made)]
  await flushPromises()
  expect(body.calls).toHaveLength(1)
  body.calls[0]?.finish({ a: [1] })
  const [first, second] = await Promise.all(both)
  expect(second).toEqual({ a: [1] })
  expect(second).not.toBe(first)
})

test('they share its error too', async () => {
  const body = createHeldBody()
  const made = cached(tool({ name: 't', description: 'd', run: body.run }))
  const both = Promise.allSettled([through(made), through(made)])
  await flushPromises()
  body.calls[0]?.fail(new Error('down'))
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(body.calls).toHaveLength(1)
})

test('a waiter that is aborted only leaves', async () => {
  const body = createHeldBody()
  const made = cached(tool({ name: 't', description: 'd', run: body.run }))
  const first = through(made)
  await flushPromises()
  const leaving = new AbortController()
  const second = through(made, {}, createContext({ signal: leaving.signal }))
  await flushPromises()
  leaving.abort(new Error('left'))
  await expect(second).rejects.toThrow('left')
  body.calls[0]?.finish(1)
  expect(await first).toBe(1)
})

test('when the one that runs is aborted, one of the others runs it', async () => {
  const body = createHeldBody()
  const made = cached(tool({ name: 't', description: 'd', run: body.run }))
  const leaving = new AbortController()
  const first = through(made, {}, createContext({ signal: leaving.signal }))
  const others = [through(made), through(made)]
  await flushPromises()
  leaving.abort()
  body.calls[0]?.fail(new Error('aborted'))
  await expect(first).rejects.toThrow('aborted')
  await flushPromises()
  expect(body.calls).toHaveLength(2)
  body.calls[1]?.finish('done')
  expect(await Promise.all(others)).toEqual(['done', 'done'])
})

test('entries end after their time, and the least recently used is pushed out', async () => {
  const clock = new FakeClock()
  const made = cached(counter(), { ttlMs: 100, maxEntries: 2 }, clock)
  await through(made, { k: 'a' })
  await clock.advance(99)
  expect(await through(made, { k: 'a' })).toEqual({ n: 1 })
  await clock.advance(1)
  expect(await through(made, { k: 'a' })).toEqual({ n: 2 })
  await through(made, { k: 'b' })
  await through(made, { k: 'a' })
  await through(made, { k: 'c' })
  expect(await through(made, { k: 'a' })).toEqual({ n: 2 })
  expect(await through(made, { k: 'b' })).toEqual({ n: 5 })
})

test('bad options are refused when built', () => {
  const bad = [
    { ttlMs: 0 },
    { ttlMs: Number.NaN },
    { maxEntries: 0 },
    { maxEntries: 1.5 },
    { scope: 'world' as 'user' },
  ]
  for (const options of bad) expect(() => cached(counter(), options)).toThrow(/cached\(\) of tool "count"/)
  expect(() => cached({} as never)).toThrow(/takes a tool/)
})
