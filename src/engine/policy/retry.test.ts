import { expect, test } from 'vitest'
import { ToolError, ToolwrightError } from '../../core/error/error.ts'
import { tool } from '../tool/define-tool.ts'
import type { Effect, Reconciled } from '../tool/tool.ts'
import { createContext, FakeClock, flushPromises, toolCaller } from './call-tool.test-kit.ts'
import { retry } from './retry.ts'

const callTool = toolCaller(({ tool, args, context }) => tool.run(args, context))

function failing(
  errors: unknown[],
  options: { effect?: Effect; reconcile?: () => Reconciled } = { effect: 'idempotent' },
) {
  let runs = 0
  const made = tool({
    name: 'flaky',
    description: 'd',
    ...options,
    run: () => {
      const error = errors[runs++]
      if (error) throw error
      return { runs }
    },
  })
  return { made, runs: () => runs }
}

test('retry() retries until the body succeeds, with increasing delays', async () => {
  const clock = new FakeClock()
  const { made, runs } = failing([new Error('1'), new Error('2')])
  const call = callTool(retry(made, { attempts: 3, delayMs: 100, jitter: false }, clock))
  await clock.advance(99)
  expect(runs()).toBe(1)
  await clock.advance(1)
  expect(runs()).toBe(2)
  await clock.advance(199)
  expect(runs()).toBe(2)
  await clock.advance(1)
  expect(await call).toEqual({ runs: 3 })
})

test('retry() reports each retry as progress, without the error', async () => {
  const clock = new FakeClock()
  const seen: unknown[] = []
  const { made } = failing([new Error('key=s3cret'), new Error('key=s3cret')])
  const context = createContext({ progress: (value) => seen.push(value) })
  const call = callTool(retry(made, { attempts: 3, delayMs: 10, jitter: false }, clock), {}, context)
  await clock.advance(10)
  await clock.advance(20)
  await call
  expect(seen).toEqual([
    { message: 'Attempt 1 of 3 failed. Trying again.', attempt: 1, attempts: 3 },
    { message: 'Attempt 2 of 3 failed. Trying again.', attempt: 2, attempts: 3 },
  ])
})

test('retry() throws the last error after limited delays with jitter', async () => {
  const clock = new FakeClock()
  const { made } = failing([new Error('1'), new Error('2'), new Error('3')])
  const call = callTool(retry(made, { attempts: 3, delayMs: 1000, maxDelayMs: 1000 }, clock))
  const outcome = expect(call).rejects.toThrow('3')
  await clock.advance(750)
  await clock.advance(750)
  await outcome
})

test.each([
  new ToolError('which?', { code: 'INVALID_ARGS' }),
  new ToolError('none', { code: 'NOT_FOUND' }),
  new ToolError('stop', { code: 'CANCELLED' }),
  new ToolwrightError('LEASE_LOST', 'gone'),
])('retry() does not retry %s', async (error) => {
  const { made, runs } = failing([error])
  await expect(callTool(retry(made, { attempts: 3, delayMs: 0 }))).rejects.toBe(error)
  expect(runs()).toBe(1)
})

test('retry() retries only when `when` returns true, and not when it throws', async () => {
  for (const when of [
    () => false,
    () => 'yes' as unknown as boolean,
    () => {
      throw new Error('when')
    },
  ]) {
    const { made, runs } = failing([new Error('boom')])
    await expect(callTool(retry(made, { attempts: 3, delayMs: 0, when }))).rejects.toThrow('boom')
    expect(runs()).toBe(1)
  }
  const { made } = failing([new Error('boom')])
  expect(await callTool(retry(made, { attempts: 2, delayMs: 0, when: () => true }))).toEqual({ runs: 2 })
})

test('retry() ends the delay of an aborted call and clears the timer', async () => {
  const clock = new FakeClock()
  const controller = new AbortController()
  const { made, runs } = failing([new Error('1')])
  const call = callTool(retry(made, { attempts: 3 }, clock), {}, createContext({ signal: controller.signal }))
  await flushPromises()
  expect(clock.timers).toBe(1)
  controller.abort(new Error('cancelled'))
  await expect(call).rejects.toThrow('cancelled')
  expect(clock.timers).toBe(0)
  expect(runs()).toBe(1)
})

test('retry() rejects a tool with effect atMostOnce', () => {
  for (const options of [{}, { effect: 'atMostOnce' as const }])
    expect(() => retry(failing([], options).made, { attempts: 2 })).toThrow(/atMostOnce/)
})

test('retry() reconciles a reconcilable tool after a failed attempt', async () => {
  const answers: [Reconciled, unknown, number][] = [
    [{ status: 'done', result: 'paid' }, 'paid', 1],
    [{ status: 'not-done' }, { runs: 2 }, 2],
  ]
  for (const [answer, result, count] of answers) {
    const { made, runs } = failing([new Error('lost')], { effect: 'reconcilable', reconcile: () => answer })
    expect(await callTool(retry(made, { attempts: 2, delayMs: 0 }))).toEqual(result)
    expect(runs()).toBe(count)
  }
  const { made, runs } = failing([new Error('lost')], {
    effect: 'reconcilable',
    reconcile: () => ({ status: 'unknown' }),
  })
  await expect(callTool(retry(made, { attempts: 2, delayMs: 0 }))).rejects.toThrow('lost')
  expect(runs()).toBe(1)
})

test('retry() rejects invalid options', () => {
  const { made } = failing([])
  const bad = [
    { attempts: 0 },
    { attempts: 2.5 },
    { attempts: 2, delayMs: -1 },
    { attempts: 2, factor: 0 },
    { attempts: 2, maxDelayMs: 0 },
  ]
  for (const options of bad) expect(() => retry(made, options)).toThrow(ToolwrightError)
  expect(() => retry(made, undefined as never)).toThrow(/attempts/)
})
