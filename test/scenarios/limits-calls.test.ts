// maxCallsPerReply: how many calls of one reply run; every call gets a response, and the work grows linearly.
import { type Tool, ToolError } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { finalResponses, sendMessage, startProcess, storedEvents, where } from './approvals-kit.ts'
import { type Call, FailingStore, plainTool, runScenario, type ScenarioResult } from './kit.ts'

const many = (count: number, name = 'work'): Call[] =>
  Array.from({ length: count }, (_, n) => ({ id: `c${n}x`, name, args: { n } }))

function callsOf({ events }: ScenarioResult): string[] {
  return events.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionCall?.id ?? []) ?? [])
}

test('the runner runs 128 of 200 calls in one reply and answers the others with not_run', async () => {
  const body = vi.fn(() => 'ok')
  const result = await runScenario({ tools: [plainTool('work', body)], calls: many(200) })
  expect(body).toHaveBeenCalledTimes(128)
  expect(result.responses.map(({ id }) => id)).toEqual(many(200).map(({ id }) => id))
  expect(result.responses[127]?.response).toEqual({ result: 'ok' })
  expect(result.responses[128]?.response).toEqual({
    status: 'not_run',
    error:
      'This call was not run: the reply has 200 calls, and at most 128 calls of one reply are run. Make the call again in a later reply.',
    errorCode: 'CANCELLED',
  })
  expect(result.text).toBe('done')
})

test('the runner runs calls in later replies after they were answered with not_run', async () => {
  const body = vi.fn(() => 'ok')
  const equal = Array.from({ length: 10 }, () => ({ name: 'poll', args: {} }))
  const steps = [{ calls: equal }, { calls: equal.slice(4) }, { calls: equal.slice(8) }, 'done']
  const result = await runScenario({ tools: [plainTool('poll', body)], steps, runner: { maxCallsPerReply: 4 } })
  expect(result.error).toBeUndefined()
  expect(body).toHaveBeenCalledTimes(10)
  expect(result.text).toBe('done')
})

test('a call that ran before a crash is answered with UNKNOWN_OUTCOME when maxCallsPerReply is lower after the restart', async () => {
  const store = new FailingStore()
  const body = vi.fn(() => 'ok')
  const pay = plainTool('pay', body, { effect: 'atMostOnce' })
  const steps = [
    {
      calls: [
        { id: 'c1', name: 'pay' },
        { id: 'c2', name: 'pay' },
      ],
    },
  ]
  await expect(sendMessage(startProcess(store, { tools: [pay], steps }).runner)).rejects.toMatchObject({
    code: 'STORAGE',
  })
  store.isFailing = false
  const { runner } = startProcess(store, { tools: [pay], steps: ['done'], runner: { maxCallsPerReply: 1 } })
  for await (const _ of runner.resume(where));
  expect(body).toHaveBeenCalledTimes(2) // before the crash
  expect(finalResponses(await storedEvents(store))).toMatchObject({
    c1: { errorCode: 'UNKNOWN_OUTCOME' },
    c2: { errorCode: 'UNKNOWN_OUTCOME' },
  })
})

test('the runner runs all 128 calls of one reply', async () => {
  const body = vi.fn(() => 'ok')
  await runScenario({ tools: [plainTool('work', body)], calls: many(128) })
  expect(body).toHaveBeenCalledTimes(128)
})

test('the runner records 1,024 of 100,000 calls in one reply, each with a response, and notes the limit in the reply', async () => {
  const result = await runScenario({ tools: [plainTool('work', () => 'ok')], calls: many(100_000) })
  expect(callsOf(result)).toHaveLength(1_024)
  expect(result.responses.map(({ id }) => id)).toEqual(callsOf(result))
  expect(result.events[0]?.content?.parts.at(-1)?.text).toContain('98976 of 100000 calls were left out')
  expect(result.text).toBe('done')
})

test('the runner yields no more calls in deltas than in the reply', async () => {
  const steps = [{ deltas: ['a'], calls: many(3_000) }, 'done']
  const result = await runScenario({ tools: [plainTool('work', () => 'ok')], steps, streaming: true })
  expect(callsOf(result)).toHaveLength(1_024)
})

describe('30,000 calls in one reply', () => {
  const count = 30_000
  const runner = { maxCallsPerReply: count }

  test.each<[string, Partial<Tool>, Tool['run']]>([
    ['that succeed', {}, () => 'ok'],
    ['with side effects', { effect: 'atMostOnce' }, () => 'ok'],
    [
      'that fail',
      {},
      () => {
        throw new ToolError('no')
      },
    ],
    ['with long-running results', { isLongRunning: true }, () => ({ status: 'started' })],
    ['with a confirmation each', { requiresConfirmation: true }, () => 'ok'],
  ])('%s take linear time', { timeout: 15_000 }, async (_, more, run) => {
    const result = await runScenario({ tools: [plainTool('work', run, more)], calls: many(count), runner })
    const confirmationIds = result.events.flatMap(({ longRunningToolIds }) => longRunningToolIds ?? [])
    expect(result.responses.length + (more.requiresConfirmation ? confirmationIds.length : 0)).toBe(count)
  })

  test('that are cancelled get one response each', { timeout: 15_000 }, async () => {
    const controller = new AbortController()
    const stop: Tool['run'] = () => {
      controller.abort()
      return new Promise(() => {})
    }
    const result = await runScenario({
      tools: [plainTool('work', stop)],
      calls: many(count),
      runner,
      signal: controller.signal,
    })
    expect(result.responses).toHaveLength(count)
    expect(result.error?.code).toBe('CANCELLED')
  })
})
