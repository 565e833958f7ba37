// Replies with many calls: only so many run, each call has its response, and the work grows with their number.
import { type Tool, ToolError } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { finals, process, say, stored, where } from './approvals-kit.ts'
import { bare, type Call, FailingStore, play, type Told } from './kit.ts'

const many = (count: number, name = 'work'): Call[] =>
  Array.from({ length: count }, (_, n) => ({ id: `c${n}x`, name, args: { n } }))

function callsOf({ events }: Told): string[] {
  return events.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionCall?.id ?? []) ?? [])
}

test('of 200 calls in one reply 128 run, and the others are answered that they did not', async () => {
  const body = vi.fn(() => 'ok')
  const told = await play({ tools: [bare('work', body)], calls: many(200) })
  expect(body).toHaveBeenCalledTimes(128)
  expect(told.responses.map(({ id }) => id)).toEqual(many(200).map(({ id }) => id))
  expect(told.responses[127]?.response).toEqual({ result: 'ok' })
  expect(told.responses[128]?.response).toEqual({
    status: 'not_run',
    error: 'The reply has 200 calls, at most 128 of one reply are run. This one was not run: make it in a later reply.',
    errorCode: 'CANCELLED',
  })
  expect(told.text).toBe('done')
})

test('calls that were not run can be made in later replies, also when they are all equal', async () => {
  const body = vi.fn(() => 'ok')
  const equal = Array.from({ length: 10 }, () => ({ name: 'poll', args: {} }))
  const steps = [{ calls: equal }, { calls: equal.slice(4) }, { calls: equal.slice(8) }, 'done']
  const told = await play({ tools: [bare('poll', body)], steps, runner: { maxCallsPerReply: 4 } })
  expect(told.error).toBeUndefined()
  expect(body).toHaveBeenCalledTimes(10)
  expect(told.text).toBe('done')
})

test('a call that ran before a crash is not answered as not run, although the limit is lower after the restart', async () => {
  const store = new FailingStore()
  const body = vi.fn(() => 'ok')
  const pay = bare('pay', body, { effect: 'atMostOnce' })
  const steps = [
    {
      calls: [
        { id: 'c1', name: 'pay' },
        { id: 'c2', name: 'pay' },
      ],
    },
  ]
  await expect(say(process(store, { tools: [pay], steps }).runner)).rejects.toMatchObject({ code: 'STORAGE' })
  store.isFailing = false
  const { runner } = process(store, { tools: [pay], steps: ['done'], runner: { maxCallsPerReply: 1 } })
  for await (const _ of runner.resume(where));
  expect(body).toHaveBeenCalledTimes(2) // before the crash
  expect(finals(await stored(store))).toMatchObject({
    c1: { errorCode: 'UNKNOWN_OUTCOME' },
    c2: { errorCode: 'UNKNOWN_OUTCOME' },
  })
})

test('128 calls of one reply all run', async () => {
  const body = vi.fn(() => 'ok')
  await play({ tools: [bare('work', body)], calls: many(128) })
  expect(body).toHaveBeenCalledTimes(128)
})

test('of 100,000 calls in one reply 1,024 are recorded, each with a response, and the reply says so', async () => {
  const told = await play({ tools: [bare('work', () => 'ok')], calls: many(100_000) })
  expect(callsOf(told)).toHaveLength(1_024)
  expect(told.responses.map(({ id }) => id)).toEqual(callsOf(told))
  expect(told.events[0]?.content?.parts.at(-1)?.text).toContain('98976 of 100000 calls were left out')
  expect(told.text).toBe('done')
})

test('deltas of a reply hold no more calls than the reply', async () => {
  const steps = [{ deltas: ['a'], calls: many(3_000) }, 'done']
  const told = await play({ tools: [bare('work', () => 'ok')], steps, streaming: true })
  expect(callsOf(told)).toHaveLength(1_024)
})

describe('30,000 calls in one reply', () => {
  const count = 30_000
  const runner = { maxCallsPerReply: count }

  test.each<[string, Partial<Tool>, Tool['run']]>([
    ['that succeed', {}, () => 'ok'],
    ['with effects', { effect: 'atMostOnce' }, () => 'ok'],
    [
      'that fail',
      {},
      () => {
        throw new ToolError('no')
      },
    ],
    ['with long-running results', { isLongRunning: true }, () => ({ status: 'started' })],
    ['with a question each', { requiresConfirmation: true }, () => 'ok'],
  ])('%s are handled in time that grows with their number', { timeout: 15_000 }, async (_, more, run) => {
    const told = await play({ tools: [bare('work', run, more)], calls: many(count), runner })
    const asks = told.events.flatMap(({ longRunningToolIds }) => longRunningToolIds ?? [])
    expect(told.responses.length + (more.requiresConfirmation ? asks.length : 0)).toBe(count)
  })

  test('that are cancelled get one response each', { timeout: 15_000 }, async () => {
    const controller = new AbortController()
    const stop: Tool['run'] = () => {
      controller.abort()
      return new Promise(() => {})
    }
    const told = await play({ tools: [bare('work', stop)], calls: many(count), runner, signal: controller.signal })
    expect(told.responses).toHaveLength(count)
    expect(told.error?.code).toBe('CANCELLED')
  })
})
