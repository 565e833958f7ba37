import { describe, expect, test } from 'vitest'
import { tool } from '../tool/define-tool.ts'
import { cached } from './cached.ts'
import {
  type ContextOptions,
  createContext,
  createHeldBody,
  FakeClock,
  flushPromises,
  toolCaller,
} from './call-tool.test-kit.ts'

const callTool = toolCaller(({ tool, args, context }) => tool.run(args, context))

function counter(run: (n: number) => unknown = (n) => ({ n })) {
  let n = 0
  return tool({ name: 'count', description: 'd', run: () => run(++n) })
}

test('cached() answers an equal call from the cache, in any order of keys', async () => {
  const made = cached(counter())
  expect(await callTool(made, { a: 1, b: [2, { c: 3 }] })).toEqual({ n: 1 })
  expect(await callTool(made, { b: [2, { c: 3 }], a: 1 })).toEqual({ n: 1 })
  expect(await callTool(made, { a: 1, b: [2, { c: 4 }] })).toEqual({ n: 2 })
})

describe('the scope of cached()', () => {
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
  test.each(scopes)('%s: a call of %o shares the result: %s', async (scope, who, shares) => {
    const made = cached(counter(), { scope })
    await callTool(made)
    expect(await callTool(made, {}, createContext(who))).toEqual({ n: shares ? 1 : 2 })
  })

  test('separates users and apps whose names look like parts of a key', async () => {
    const made = cached(counter(), { scope: 'user' })
    await callTool(made, {}, createContext({ appName: 'a', userId: 'b","c' }))
    expect(await callTool(made, {}, createContext({ appName: 'a","b', userId: 'c' }))).toEqual({ n: 2 })
  })
})

test('cached() does not change the cached result when a caller changes the returned object', async () => {
  const made = cached(counter((n) => ({ list: [n] })))
  for (let i = 0; i < 3; i++) {
    const result = (await callTool(made)) as { list: number[] }
    expect(result).toEqual({ list: [1] })
    result.list.push(99)
  }
})

test('cached() caches only successful results', async () => {
  const throws = cached(
    counter((n) => {
      if (n === 1) throw new Error('once')
      return n
    }),
  )
  await expect(callTool(throws)).rejects.toThrow('once')
  expect(await callTool(throws)).toBe(2)

  const failing = cached(counter((n) => (n === 1 ? { error: 'no' } : { n })))
  expect(await callTool(failing)).toEqual({ error: 'no' })
  expect(await callTool(failing)).toEqual({ n: 2 })
})

test('cached() does not cache pending calls, transfers and values that are not JSON', async () => {
  const pending = cached(counter())
  await callTool(pending, {}, createContext({ longRunning: true }))
  expect(await callTool(pending)).toEqual({ n: 2 })

  const transfer = cached(counter())
  const context = createContext()
  context.actions.transferToAgent = 'other'
  await callTool(transfer, {}, context)
  expect(await callTool(transfer)).toEqual({ n: 2 })

  const date = cached(counter((n) => ({ at: new Date(n) })))
  await callTool(date)
  expect(await callTool(date)).toEqual({ at: new Date(2) })
})

test('cached() answers from the cache with a final result of a long-running tool', async () => {
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
    expect(await callTool(made, {}, context)).toBe('done')
    expect(context.longRunning).toBe(false)
  }
})

test('cached() does not cache calls whose arguments are not JSON', async () => {
  const made = cached(counter())
  await callTool(made, { at: new Date(1) })
  expect(await callTool(made, { at: new Date(2) })).toEqual({ n: 2 })
})

test('cached() shares one run between concurrent equal calls', async () => {
  const body = createHeldBody()
  const made = cached(tool({ name: 't', description: 'd', run: body.run }))
  const both = [callTool(made), callTool(made)]
  await flushPromises()
  expect(body.calls).toHaveLength(1)
  body.calls[0]?.finish({ a: [1] })
  const [first, second] = await Promise.all(both)
  expect(second).toEqual({ a: [1] })
  expect(second).not.toBe(first)
})

test('cached() shares the error of a run between concurrent equal calls', async () => {
  const body = createHeldBody()
  const made = cached(tool({ name: 't', description: 'd', run: body.run }))
  const both = Promise.allSettled([callTool(made), callTool(made)])
  await flushPromises()
  body.calls[0]?.fail(new Error('down'))
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(body.calls).toHaveLength(1)
})

test('cached() does not abort the shared run when a waiting call is aborted', async () => {
  const body = createHeldBody()
  const made = cached(tool({ name: 't', description: 'd', run: body.run }))
  const first = callTool(made)
  await flushPromises()
  const leaving = new AbortController()
  const second = callTool(made, {}, createContext({ signal: leaving.signal }))
  await flushPromises()
  leaving.abort(new Error('left'))
  await expect(second).rejects.toThrow('left')
  body.calls[0]?.finish(1)
  expect(await first).toBe(1)
})

test('cached() runs the body for a waiting call when the running call is aborted', async () => {
  const body = createHeldBody()
  const made = cached(tool({ name: 't', description: 'd', run: body.run }))
  const leaving = new AbortController()
  const first = callTool(made, {}, createContext({ signal: leaving.signal }))
  const others = [callTool(made), callTool(made)]
  await flushPromises()
  leaving.abort()
  body.calls[0]?.fail(new Error('aborted'))
  await expect(first).rejects.toThrow('aborted')
  await flushPromises()
  expect(body.calls).toHaveLength(2)
  body.calls[1]?.finish('done')
  expect(await Promise.all(others)).toEqual(['done', 'done'])
})

test('cached() removes expired results and the least recently used result', async () => {
  const clock = new FakeClock()
  const made = cached(counter(), { ttlMs: 100, maxEntries: 2 }, clock)
  await callTool(made, { k: 'a' })
  await clock.advance(99)
  expect(await callTool(made, { k: 'a' })).toEqual({ n: 1 })
  await clock.advance(1)
  expect(await callTool(made, { k: 'a' })).toEqual({ n: 2 })
  await callTool(made, { k: 'b' })
  await callTool(made, { k: 'a' })
  await callTool(made, { k: 'c' })
  expect(await callTool(made, { k: 'a' })).toEqual({ n: 2 })
  expect(await callTool(made, { k: 'b' })).toEqual({ n: 5 })
})

test('cached() rejects invalid options', () => {
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
