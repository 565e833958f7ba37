// Policies in a live session, one by one and in any nesting.
import {
  background,
  cached,
  concurrency,
  confirm,
  type JsonObject,
  rateLimit,
  redact,
  retry,
  type Tool,
  ToolError,
  timeout,
} from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { createDeferred, ManualTimers, plainTool, waitUntil } from './kit.ts'
import { callTool, collectResponses, liveRunner, nextResponse, startStrict } from './live-calls-kit.ts'

describe('in a live session, timeout()', () => {
  test('is shorter or longer than the default, and the shortest of several applies', async () => {
    const slow = (name: string, ms: number) =>
      plainTool(name, () => new Promise((resolve) => setTimeout(resolve, ms, { done: true })))
    const { runner } = liveRunner(
      [timeout(slow('longer', 60), 5_000), timeout(timeout(slow('nested', 5_000), 5_000), 10), slow('default', 5_000)],
      { toolTimeoutMs: 20 },
    )
    const { connection } = await startStrict({ runner })
    expect(await callTool(connection, 'longer')).toEqual({ done: true })
    expect(await callTool(connection, 'nested')).toMatchObject({ error: expect.stringContaining('after 10 ms') })
    expect(await callTool(connection, 'default')).toMatchObject({ error: expect.stringContaining('after 20 ms') })
  })
})

describe('in a live session, retry()', () => {
  test('runs a failing tool again, and the writes of failed attempts are dropped', async () => {
    let attempts = 0
    const flaky = plainTool('flaky', (_, { state }) => {
      state.set(`attempt${++attempts}`, true)
      if (attempts < 3) throw new Error('busy')
      return { attempts }
    })
    const { connection, session } = await startStrict({ tools: [retry(flaky, { attempts: 3, delayMs: 0 })] })
    expect(await callTool(connection, 'flaky')).toEqual({ attempts: 3 })
    expect(session.state.keys()).toEqual(['attempt3'])
  })

  test('ends with the last error, and stops when the call is cancelled', async () => {
    const run = vi.fn(() => {
      throw new ToolError('still busy')
    })
    const waiting = plainTool('waiting', run)
    const { connection, session, event } = await startStrict({
      tools: [
        retry(plainTool('busy', run), { attempts: 2, delayMs: 0 }),
        retry(waiting, { attempts: 9, delayMs: 60_000 }),
      ],
    })
    expect(await callTool(connection, 'busy')).toMatchObject({ error: 'still busy' })
    expect(run).toHaveBeenCalledTimes(2)
    connection.call([{ id: 'c1', name: 'waiting' }])
    await waitUntil(() => run.mock.calls.length === 3)
    connection.cancelCalls(['c1'])
    await event('toolCancelled')
    await waitUntil(() => session.openCalls === 0)
    expect(run).toHaveBeenCalledTimes(3)
  })
})

describe('in a live session, rateLimit() and concurrency()', () => {
  test('rateLimit() lets further calls wait, and the wait does not count against the timeout', async () => {
    let now = 0
    const timers = new ManualTimers()
    const ports = { ...timers.ports, monotonicNow: () => now }
    const get = timeout(
      plainTool('get', (args: JsonObject) => args),
      30,
    )
    const { connection } = await startStrict({ tools: [rateLimit(get, { max: 1, perMs: 1_000 }, ports)] })
    connection.call([1, 2].map((n) => ({ id: `r${n}`, name: 'get', args: { n } })))
    expect(await nextResponse(connection)).toMatchObject({ id: 'r1', response: { n: 1 } })
    await new Promise((resolve) => setTimeout(resolve, 40)) // longer than the timeout of the tool
    now = 1_000
    await timers.fire(1_000)
    expect(await nextResponse(connection)).toMatchObject({ id: 'r2', response: { n: 2 } })
  })

  test('concurrency() limits the calls of one message', async () => {
    let running = 0
    let most = 0
    const work = plainTool('work', async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return {}
    })
    const { connection } = await startStrict({ tools: [concurrency(work, 2)] })
    connection.call(Array.from({ length: 6 }, (_, n) => ({ id: `w${n}x`, name: 'work' })))
    await collectResponses(connection, 6)
    expect(most).toBe(2)
  })
})

test('in a live session, redact() hides parts of the result from the model, the log and hooks', async () => {
  const seen: JsonObject[] = []
  const { connection, event } = await startStrict({
    tools: [
      redact(
        plainTool('customer', () => ({ name: 'Ada', ssn: '123', cards: [{ number: '4111' }] })),
        ['ssn', 'cards[].number'],
      ),
    ],
    beforeToolResponse: ({ responses }) => {
      seen.push(...responses.map(({ response }) => response))
      return responses
    },
  })
  const redacted = { name: 'Ada', ssn: '[redacted]', cards: [{ number: '[redacted]' }] }
  expect(await callTool(connection, 'customer')).toEqual(redacted)
  expect(seen).toEqual([redacted])
  expect(await event('toolResponse')).toMatchObject({ responses: [{ response: redacted }] })
})

describe('in a live session, cached()', () => {
  function counting(options: Parameters<typeof cached>[1] = {}, ports: Parameters<typeof cached>[2] = {}) {
    const run = vi.fn((args: JsonObject) => {
      if (args.fail) throw new Error('no')
      return { run: run.mock.calls.length }
    })
    return { run, tool: cached(plainTool('get', run), options, ports) }
  }

  test('finds a result by its arguments, whatever the order of their keys', async () => {
    const { tool, run } = counting()
    const { connection } = await startStrict({ tools: [tool] })
    expect(await callTool(connection, 'get', { a: 1, b: { c: 2, d: [3, 4] } }, 'c1')).toEqual({ run: 1 })
    expect(await callTool(connection, 'get', { b: { d: [3, 4], c: 2 }, a: 1 }, 'c2')).toEqual({ run: 1 })
    expect(await callTool(connection, 'get', { a: 1, b: { c: 2, d: [4, 3] } }, 'c3')).toEqual({ run: 2 })
    expect(run).toHaveBeenCalledTimes(2)
  })

  test('keeps no failures', async () => {
    const { tool, run } = counting()
    const { connection } = await startStrict({ tools: [tool] })
    await callTool(connection, 'get', { fail: true }, 'c1')
    await callTool(connection, 'get', { fail: true }, 'c2')
    expect(run).toHaveBeenCalledTimes(2)
  })

  test('forgets results after their time and above its size', async () => {
    let now = 0
    const { tool } = counting({ ttlMs: 1_000, maxEntries: 2 }, { monotonicNow: () => now })
    const { connection } = await startStrict({ tools: [tool] })
    const get = (n: number, id: string) => callTool(connection, 'get', { n }, id)
    expect([await get(1, 'c1'), await get(2, 'c2'), await get(1, 'c3')]).toEqual([{ run: 1 }, { run: 2 }, { run: 1 }])
    expect([await get(3, 'c4'), await get(2, 'c5')]).toEqual([{ run: 3 }, { run: 4 }]) // 2 was used least recently
    now = 2_000
    expect(await get(3, 'c6')).toEqual({ run: 5 })
  })

  test('runs equal calls of one message once, and a cancelled one does not fail the other', async () => {
    const gate = createDeferred()
    const run = vi.fn(() => gate.promise.then(() => ({ ok: true })))
    const { connection, session } = await startStrict({ tools: [cached(plainTool('get', run))] })
    connection.call(['a', 'b', 'c'].map((id) => ({ id, name: 'get' })))
    await waitUntil(() => run.mock.calls.length === 1)
    await session.cancelCalls(['a']) // the one that runs the body
    const cancelled = await collectResponses(connection, 1)
    expect(cancelled.get('a')).toMatchObject([{ errorCode: 'CANCELLED' }])
    gate.resolve()
    const others = await collectResponses(connection, 2)
    expect([others.get('b'), others.get('c')]).toEqual([[{ ok: true }], [{ ok: true }]])
  })
})

type Policy = (tool: Tool) => Tool
const policies: Record<string, Policy> = {
  timeout: (tool) => timeout(tool, 5_000),
  retry: (tool) => retry(tool, { attempts: 2, delayMs: 0 }),
  rateLimit: (tool) => rateLimit(tool, { max: 100, perMs: 1_000 }),
  concurrency: (tool) => concurrency(tool, 1),
  redact: (tool) => redact(tool, ['secret']),
  cached: (tool) => cached(tool),
  background: (tool) => background(tool, { scheduling: 'INTERRUPT' }),
  confirm: (tool) => confirm(tool, 'Sure?'),
}
const names = Object.keys(policies)
const orders = [
  names,
  names.toReversed(),
  ...names.map((_, at) => [...names.slice(at), ...names.slice(0, at)].toSorted(byNth(at))),
]

/** A fixed shuffle for each number. */
function byNth(seed: number): (a: string, b: string) => number {
  const rank = (name: string): number => (name.charCodeAt(0) * (seed + 3) * 31 + name.length * 17) % 101
  return (a, b) => rank(a) - rank(b)
}

test.each(orders.map((order) => [order.join(' > '), order] as const))(
  'all policies hold when nested as %s',
  async (_, order) => {
    let attempts = 0
    const run = plainTool('work', () => {
      if (++attempts === 1) throw new Error('first attempt')
      return { attempts, secret: 'x' }
    })
    const tool = order.reduceRight((inner, name) => (policies[name] as Policy)(inner), run)
    const asked = vi.fn(() => ({ confirmed: true }))
    const { connection } = await startStrict({ tools: [tool], confirmationProvider: asked })
    for (const id of ['c1', 'c2']) {
      connection.call([{ id, name: 'work' }])
      expect(await nextResponse(connection)).toMatchObject({ response: { status: 'running' }, scheduling: 'SILENT' })
      expect(await nextResponse(connection)).toMatchObject({
        response: { status: 'completed', result: { attempts: 2, secret: '[redacted]' } },
        scheduling: 'INTERRUPT',
        willContinue: false,
      })
    }
    expect(attempts).toBe(2) // the second call has a cached result, and was confirmed too
    expect(asked).toHaveBeenCalledTimes(2)
  },
)
