import { expect, test } from 'vitest'
import { bare, play } from './kit.ts'

/** A tool that fails as often as told, and counts. */
function failing(times = Number.POSITIVE_INFINITY, more = {}) {
  const ran: unknown[] = []
  const tool = bare(
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

test('the same failing call is warned the third time, and the fourth ends the run without being run', async () => {
  const { tool, ran } = failing()
  const told = await play({ tools: [tool], steps: Array(5).fill(fetch()) })
  const responses = told.responses.map(({ response }) => response)
  expect(responses.slice(0, 2)).toEqual(Array(2).fill({ error: 'offline', errorCode: 'EXECUTION_FAILED' }))
  expect(responses[2]).toEqual({ error: expect.stringMatching(/^offline \(.*3 times/), errorCode: 'REPEATED_CALL' })
  expect(responses[3]).toMatchObject({ errorCode: 'REPEATED_CALL' })
  expect(responses).toHaveLength(4)
  expect(ran).toHaveLength(3)
  expect(told.error).toMatchObject({ code: 'REPEATED_CALL' })
  expect(told.model.requests).toHaveLength(4)
})

test('the order of arguments makes no difference', async () => {
  const { tool, ran } = failing()
  const calls = [
    { a: 1, b: { c: 1, d: 2 } },
    { b: { d: 2, c: 1 }, a: 1 },
  ].map((args) => ({ calls: [{ name: 'fetch', args }] }))
  const { error } = await play({ tools: [tool], steps: [...calls, ...calls] })
  expect(error?.code).toBe('REPEATED_CALL')
  expect(ran).toHaveLength(3)
})

test('a polling tool may repeat itself', async () => {
  const { tool, ran } = failing(6, { mayRepeat: true })
  const { text, responses } = await play({ tools: [tool], steps: [...Array(7).fill(fetch()), 'done'] })
  expect(text).toBe('done')
  expect(ran).toHaveLength(7)
  expect(responses.slice(0, 6).map(({ response }) => response.errorCode)).toEqual(Array(6).fill('EXECUTION_FAILED'))
})

test('other arguments in between start the count again', async () => {
  const { tool, ran } = failing()
  const steps = [fetch(), fetch(), fetch('b'), fetch(), fetch(), 'done']
  const { text, responses } = await play({ tools: [tool], steps })
  expect(text).toBe('done')
  expect(ran).toHaveLength(5)
  expect(responses.map(({ response }) => response.errorCode)).toEqual(Array(5).fill('EXECUTION_FAILED'))
})

test('a success in between starts the count again', async () => {
  let count = 0
  const tool = bare('fetch', () => {
    if (++count === 3) return 'ok'
    throw new Error('offline')
  })
  const { text, responses } = await play({ tools: [tool], steps: [...Array(5).fill(fetch()), 'done'] })
  expect(text).toBe('done')
  expect(responses.filter(({ response }) => response.errorCode === 'REPEATED_CALL')).toEqual([])
})

test('equal calls that succeed may go on', async () => {
  const { tool } = failing(0)
  const { text } = await play({ tools: [tool], steps: [...Array(8).fill(fetch()), 'done'] })
  expect(text).toBe('done')
})

test('a failing call counts beside siblings that succeed', async () => {
  const { tool } = failing()
  const reply = { calls: [{ name: 'fetch' }, { name: 'fine' }] }
  const told = await play({ tools: [tool, bare('fine', () => 1)], steps: Array(4).fill(reply) })
  expect(told.error?.code).toBe('REPEATED_CALL')
  expect(told.responses.at(-1)).toMatchObject({ name: 'fine', response: { result: 1 } })
})

test('arguments that never fit end the run too', async () => {
  const picky = bare('fetch', () => 1, { parse: () => ({ issues: [{ path: 'url', expected: 'string' }] }) })
  const { error, responses } = await play({ tools: [picky], steps: Array(4).fill(fetch()) })
  expect(responses[2]?.response.errorCode).toBe('REPEATED_CALL')
  expect(error?.code).toBe('REPEATED_CALL')
})

test('a tool that is not there ends the run too, as the warning says', async () => {
  const { error, responses } = await play({ tools: [bare('other', () => 1)], steps: Array(5).fill(fetch()) })
  expect(responses[2]?.response.errorCode).toBe('REPEATED_CALL')
  expect(error?.code).toBe('REPEATED_CALL')
  expect(responses).toHaveLength(4)
})

test('three equal failing calls in one reply are warned before the next one ends the run', async () => {
  const { tool } = failing()
  const [call] = fetch().calls
  const told = await play({ tools: [tool], steps: [{ calls: [call, call, call] as never }, fetch()] })
  const codes = told.responses.map(({ response }) => response.errorCode)
  expect(codes).toEqual(['EXECUTION_FAILED', 'EXECUTION_FAILED', 'REPEATED_CALL', 'REPEATED_CALL'])
  expect(told.error?.code).toBe('REPEATED_CALL')
})

test('the next message may try again', async () => {
  const { tool, ran } = failing(3)
  const steps = [...Array(4).fill(fetch()), fetch(), 'worked']
  const { runner, sessionId } = await play({ tools: [tool], steps })
  const { text } = await runner.complete({ userId: 'ada', sessionId, message: 'try again' })
  expect(text).toBe('worked')
  expect(ran).toHaveLength(4)
})

test('questions asked beside the call that ends the run are closed with it', async () => {
  const { tool } = failing()
  const ask = bare('ask', () => 'never', { requiresConfirmation: true })
  const ship = bare('ship', () => 'ticket', { isLongRunning: true })
  const both = { calls: [{ name: 'fetch', args: { url: 'a' } }, { name: 'ask' }, { name: 'ship' }] }
  const told = await play({ tools: [tool, ask, ship], steps: [fetch(), fetch(), fetch(), both] })
  expect(told.error?.code).toBe('REPEATED_CALL')
  expect(told.responses.slice(3).map(({ response }) => response)).toEqual([
    expect.objectContaining({ errorCode: 'REPEATED_CALL' }),
    expect.objectContaining({ status: 'cancelled' }),
    expect.objectContaining({ status: 'cancelled' }),
  ])
  expect(await told.runner.pending()).toEqual([])
})
