import { expect, test } from 'vitest'
import { plainTool, runScenario } from './kit.ts'

/** A tool that fails a given number of times and collects the arguments of its runs. */
function failing(times = Number.POSITIVE_INFINITY, more = {}) {
  const ran: unknown[] = []
  const tool = plainTool(
    'fetch',
    (args) => {
      ran.push(args)
      if (ran.length <= times) throw new Error('offline')
      return 'ok'
    },
    more,
  )
  return { tool, ran }
}
const fetch = (url = 'a') => ({ calls: [{ name: 'fetch', args: { url } }] })

test('the runner warns the model at the third equal failing call and ends the run at the fourth without running it', async () => {
  const { tool, ran } = failing()
  const result = await runScenario({ tools: [tool], steps: Array(5).fill(fetch()) })
  const responses = result.responses.map(({ response }) => response)
  expect(responses.slice(0, 2)).toEqual(Array(2).fill({ error: 'offline', errorCode: 'EXECUTION_FAILED' }))
  expect(responses[2]).toEqual({ error: expect.stringMatching(/^offline \(.*3 times/), errorCode: 'REPEATED_CALL' })
  expect(responses[3]).toMatchObject({ errorCode: 'REPEATED_CALL' })
  expect(responses).toHaveLength(4)
  expect(ran).toHaveLength(3)
  expect(result.error).toMatchObject({ code: 'REPEATED_CALL' })
  expect(result.model.requests).toHaveLength(4)
})

test('the runner counts equal arguments in a different key order as repeats', async () => {
  const { tool, ran } = failing()
  const calls = [
    { a: 1, b: { c: 1, d: 2 } },
    { b: { d: 2, c: 1 }, a: 1 },
  ].map((args) => ({ calls: [{ name: 'fetch', args }] }))
  const { error } = await runScenario({ tools: [tool], steps: [...calls, ...calls] })
  expect(error?.code).toBe('REPEATED_CALL')
  expect(ran).toHaveLength(3)
})

test('the runner does not limit a tool with mayRepeat', async () => {
  const { tool, ran } = failing(6, { mayRepeat: true })
  const { text, responses } = await runScenario({ tools: [tool], steps: [...Array(7).fill(fetch()), 'done'] })
  expect(text).toBe('done')
  expect(ran).toHaveLength(7)
  expect(responses.slice(0, 6).map(({ response }) => response.errorCode)).toEqual(Array(6).fill('EXECUTION_FAILED'))
})

test('the runner starts the count of equal failing calls again after a call with other arguments', async () => {
  const { tool, ran } = failing()
  const steps = [fetch(), fetch(), fetch('b'), fetch(), fetch(), 'done']
  const { text, responses } = await runScenario({ tools: [tool], steps })
  expect(text).toBe('done')
  expect(ran).toHaveLength(5)
  expect(responses.map(({ response }) => response.errorCode)).toEqual(Array(5).fill('EXECUTION_FAILED'))
})

test('the runner starts the count of equal failing calls again after a success', async () => {
  let count = 0
  const tool = plainTool('fetch', () => {
    if (++count === 3) return 'ok'
    throw new Error('offline')
  })
  const { text, responses } = await runScenario({ tools: [tool], steps: [...Array(5).fill(fetch()), 'done'] })
  expect(text).toBe('done')
  expect(responses.filter(({ response }) => response.errorCode === 'REPEATED_CALL')).toEqual([])
})

test('the runner does not limit equal calls that succeed', async () => {
  const { tool } = failing(0)
  const { text } = await runScenario({ tools: [tool], steps: [...Array(8).fill(fetch()), 'done'] })
  expect(text).toBe('done')
})

test('the runner counts a failing call as a repeat next to sibling calls that succeed', async () => {
  const { tool } = failing()
  const reply = { calls: [{ name: 'fetch' }, { name: 'fine' }] }
  const result = await runScenario({ tools: [tool, plainTool('fine', () => 1)], steps: Array(4).fill(reply) })
  expect(result.error?.code).toBe('REPEATED_CALL')
  expect(result.responses.at(-1)).toMatchObject({ name: 'fine', response: { result: 1 } })
})

test('the runner ends the run after repeated invalid arguments', async () => {
  const picky = plainTool('fetch', () => 1, { parse: () => ({ issues: [{ path: 'url', expected: 'string' }] }) })
  const { error, responses } = await runScenario({ tools: [picky], steps: Array(4).fill(fetch()) })
  expect(responses[2]?.response.errorCode).toBe('REPEATED_CALL')
  expect(error?.code).toBe('REPEATED_CALL')
})

test('the runner ends the run after repeated calls of an unknown tool', async () => {
  const { error, responses } = await runScenario({
    tools: [plainTool('other', () => 1)],
    steps: Array(5).fill(fetch()),
  })
  expect(responses[2]?.response.errorCode).toBe('REPEATED_CALL')
  expect(error?.code).toBe('REPEATED_CALL')
  expect(responses).toHaveLength(4)
})

test('the runner warns the model after three equal failing calls in one batch before the next one ends the run', async () => {
  const { tool } = failing()
  const [call] = fetch().calls
  const result = await runScenario({ tools: [tool], steps: [{ calls: [call, call, call] as never }, fetch()] })
  const codes = result.responses.map(({ response }) => response.errorCode)
  expect(codes).toEqual(['EXECUTION_FAILED', 'EXECUTION_FAILED', 'REPEATED_CALL', 'REPEATED_CALL'])
  expect(result.error?.code).toBe('REPEATED_CALL')
})

test('the runner starts the count of equal failing calls again with the next message', async () => {
  const { tool, ran } = failing(3)
  const steps = [...Array(4).fill(fetch()), fetch(), 'worked']
  const { runner, sessionId } = await runScenario({ tools: [tool], steps })
  const { text } = await runner.complete({ userId: 'ada', sessionId, message: 'try again' })
  expect(text).toBe('worked')
  expect(ran).toHaveLength(4)
})

test('the runner closes pending requests of the batch whose repeated calls end the run', async () => {
  const { tool } = failing()
  const ask = plainTool('ask', () => 'never', { requiresConfirmation: true })
  const ship = plainTool('ship', () => 'ticket', { isLongRunning: true })
  const both = { calls: [{ name: 'fetch', args: { url: 'a' } }, { name: 'ask' }, { name: 'ship' }] }
  const result = await runScenario({ tools: [tool, ask, ship], steps: [fetch(), fetch(), fetch(), both] })
  expect(result.error?.code).toBe('REPEATED_CALL')
  expect(result.responses.slice(3).map(({ response }) => response)).toEqual([
    expect.objectContaining({ errorCode: 'REPEATED_CALL' }),
    expect.objectContaining({ status: 'cancelled' }),
    expect.objectContaining({ status: 'cancelled' }),
  ])
  expect(await result.runner.pending()).toEqual([])
})
