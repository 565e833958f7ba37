// How many tool calls a live session runs, and that a model that calls without end blocks nothing else.
import type { FunctionResponse } from 'toolwright'
import { connectLive, type LiveEvent, type LiveOptions, type LiveSession } from 'toolwright/live'
import { scriptedLive } from 'toolwright/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createDeferred, plainTool } from './kit.ts'
import { nextResponse, startStrict } from './live-calls-kit.ts'

/** Talks to a session until it ends. */
async function talk(options: LiveOptions<LiveSession>): Promise<LiveEvent[]> {
  const session = await connectLive(options)
  onTestFinished(() => session.close())
  await session.send('Go.')
  const events: LiveEvent[] = []
  for await (const event of session) events.push(event)
  return events
}
const responsesIn = (events: readonly LiveEvent[]): FunctionResponse[] =>
  events.flatMap((event) => (event.type === 'toolResponse' ? event.responses : []))

describe('a live model that calls without end', () => {
  const endless = (call: { name: string; id?: string }) => scriptedLive(() => ({ calls: [call] }))

  test('gets an error result after maxToolCalls, and the session ends with a clear error', async () => {
    const run = vi.fn(() => ({ ok: true }))
    const model = endless({ name: 'look' })
    const events = await talk({ tools: [plainTool('look', run)], model, maxToolCalls: 3 })
    expect(run).toHaveBeenCalledTimes(3)
    expect(responsesIn(events).at(-1)?.response).toEqual({
      error: 'This call was not run: the session has used its 3 tool calls, and ends.',
      errorCode: 'CANCELLED',
      status: 'not_run',
    })
    const problem = 'The live session has used its 3 tool calls. Raise maxToolCalls of connectLive() to allow more.'
    expect(events.slice(-2)).toEqual([
      { type: 'error', errorCode: 'MAX_TOOL_CALLS', message: problem },
      { type: 'closed', reason: problem },
    ])
    const sent = model.connections[0]?.sent.filter(({ type }) => type === 'toolResponses')
    expect(sent).toHaveLength(4) // the last one says why
  })

  test.each([
    ['unknown tools', { name: 'nope' }],
    ['a call that it repeats', { name: 'look', id: 'c1' }],
  ])('is stopped by the default limit, also with %s', async (_, call) => {
    const events = await talk({ tools: [plainTool('look', () => ({}))], model: endless(call) })
    expect(events.at(-2)).toMatchObject({ type: 'error', errorCode: 'MAX_TOOL_CALLS' })
  })

  test('lets timers run', async () => {
    let hasRun = false
    setTimeout(() => {
      hasRun = true
    }, 0)
    let calls = 0
    const model = scriptedLive(() => (hasRun || ++calls === 20_000 ? 'Done.' : { calls: [{ name: 'nope' }] }))
    const session = await connectLive({ tools: [], model, maxToolCalls: 100_000, maxToolCallsPerMinute: 100_000 })
    await session.send('Go.')
    for await (const { type } of session) if (type === 'turnComplete') break
    expect(hasRun).toBe(true)
    expect(calls).toBeLessThan(20_000)
  })
})

test('calls that run when the limit is reached end with their results', async () => {
  const done = createDeferred()
  const slow = plainTool('slow', () => done.promise.then(() => ({ paid: true })))
  const { connection, event, events } = await startStrict({ tools: [slow], maxToolCalls: 1 })
  connection.call([
    { id: 'c1', name: 'slow' },
    { id: 'c2', name: 'slow' },
  ])
  expect(await nextResponse(connection)).toMatchObject({ id: 'c2', response: { status: 'not_run' } })
  done.resolve()
  await event('closed')
  expect(responsesIn(events).find(({ id }) => id === 'c1')?.response).toEqual({ paid: true })
})

test('a burst of calls over maxToolCallsPerMinute gets error results, and the session goes on', async () => {
  const run = vi.fn(() => ({ ok: true }))
  const calls = Array.from({ length: 5 }, () => ({ name: 'look' }))
  const model = scriptedLive([{ calls }, 'Done.'])
  const session = await connectLive({ tools: [plainTool('look', run)], model, maxToolCallsPerMinute: 2 })
  onTestFinished(() => session.close())
  await session.send('Go.')
  const events: LiveEvent[] = []
  for await (const event of session) {
    events.push(event)
    if (event.type === 'turnComplete') break
  }
  const errors = responsesIn(events).flatMap(({ response }) => (response.error ? [response.error] : []))
  expect(errors).toEqual(
    Array(3).fill('This call was not run: 2 calls a minute are allowed. Wait before you call a tool again.'),
  )
  expect(run).toHaveBeenCalledTimes(2)
})

test('connectLive() refuses a limit that is no whole number', async () => {
  const model = scriptedLive([])
  for (const limit of [{ maxToolCalls: 0 }, { maxToolCallsPerMinute: 1.5 }])
    await expect(connectLive({ tools: [], model, ...limit })).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
})
