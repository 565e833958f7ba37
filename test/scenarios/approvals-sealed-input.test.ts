// Input requests with data that only the body gets back, with an own expiry, and that may be declined.
import { deny, respond, type ToolContext, ToolError, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { finalResponses, requestFor, sendMessage, startProcess, storedEvents, stores, where } from './approvals-kit.ts'
import { runScenario } from './kit.ts'

const call = { calls: [{ id: 'c1', name: 'book', args: {} }] }

function book(run: (context: ToolContext) => unknown) {
  return tool({ name: 'book', description: 'Book', run: (_args, context) => run(context) })
}

/** Asks once, with the state of a server as sealed data, and returns what the body got back. */
function asking(mayDecline: boolean) {
  return book((context) => {
    const answered = context.answeredInputs()
    if (answered.length) return { answered }
    context.requestInput({ key: 'room', message: 'Which room?', sealed: { state: 'canary-7' }, mayDecline })
    return undefined
  })
}

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test('returns sealed data with the answer to the body in another process', async () => {
    const store = newStore()
    const { pending } = await sendMessage(startProcess(store, { tools: [asking(false)], steps: [call] }).runner)
    const { runner } = startProcess(store, { tools: [asking(false)], steps: ['booked'] })
    await sendMessage(runner, [respond(requestFor(pending), 'blue')])
    expect(finalResponses(await storedEvents(store))).toMatchObject({
      c1: { answered: [{ key: 'room', value: 'blue', sealed: { state: 'canary-7' } }] },
    })
  })

  test('answeredInputs() returns the value that requestInput() returns, not the answer as sent', async () => {
    const room = z.object({ name: z.string().trim(), beds: z.number().default(2) })
    const both = book((context) => {
      const given = context.answeredInputs({ room })
      const asked = context.requestInput({ key: 'room', message: 'Which room?', schema: room })
      return asked && { given, asked, after: context.answeredInputs() }
    })
    const store = newStore()
    const { pending } = await sendMessage(startProcess(store, { tools: [both], steps: [call] }).runner)
    const { runner } = startProcess(store, { tools: [both], steps: ['booked'] })
    await sendMessage(runner, [respond(requestFor(pending), { name: ' blue ', isAdmin: true })])
    const value = { name: 'blue', beds: 2 }
    expect(finalResponses(await storedEvents(store))).toEqual({
      c1: { given: [{ key: 'room', value }], asked: value, after: [{ key: 'room', value }] },
    })
  })

  test('answeredInputs() applies the recorded schema when the body gives none', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' }, beds: { type: 'number', default: 2 } } }
    const plain = book((context) => {
      const answered = context.answeredInputs()
      if (answered.length) return { answered }
      context.requestInput({ key: 'room', message: 'Which room?', schema })
      return undefined
    })
    const store = newStore()
    const { runner } = startProcess(store, { tools: [plain], steps: [call, 'booked'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [respond(requestFor(pending), { name: 'blue' })])
    expect(finalResponses(await storedEvents(store))).toEqual({
      c1: { answered: [{ key: 'room', value: { name: 'blue', beds: 2 } }] },
    })
  })

  test('shows sealed data neither in events nor in pending requests', async () => {
    const store = newStore()
    const { runner } = startProcess(store, { tools: [asking(false)], steps: [call] })
    const { pending, events } = await sendMessage(runner)
    const shown = JSON.stringify([pending, events, await runner.pending(where), await storedEvents(store)])
    expect(shown).toContain('Which room?')
    expect(shown).not.toContain('canary-7')
  })

  test('runs the body again after a declined input that may be declined', async () => {
    const store = newStore()
    const { runner } = startProcess(store, { tools: [asking(true)], steps: [call, 'ok'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [deny(requestFor(pending))])
    expect(finalResponses(await storedEvents(store))).toMatchObject({
      c1: { answered: [{ key: 'room', declined: true }] },
    })
  })

  test('ends the call after a declined input that may not be declined', async () => {
    const store = newStore()
    const { runner } = startProcess(store, { tools: [asking(false)], steps: [call, 'ok'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [deny(requestFor(pending))])
    expect(finalResponses(await storedEvents(store))).toMatchObject({ c1: { errorCode: 'CANCELLED' } })
  })

  test('takes deny() as a denial when the schema of the input has no required properties', async () => {
    const store = newStore()
    const open = book((context) => {
      const room = context.requestInput({ key: 'room', message: 'Which?', schema: { type: 'object', properties: {} } })
      return room === undefined ? undefined : { room }
    })
    const { runner } = startProcess(store, { tools: [open], steps: [call, 'ok'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [deny(requestFor(pending), { reason: 'no' })])
    expect(finalResponses(await storedEvents(store))).toMatchObject({ c1: { errorCode: 'CANCELLED' } })
  })

  test('expires an input request at its own time', async () => {
    const store = newStore()
    const brief = book((context) => {
      context.requestInput({ key: 'room', message: 'Which room?', expiresInMs: 5_000 })
    })
    const { pending } = await sendMessage(startProcess(store, { tools: [brief], steps: [call] }).runner)
    const { createdAt = 0, expiresAt = 0 } = requestFor(pending)
    expect(expiresAt - createdAt).toBeCloseTo(5, 3)
  })
})

test('rejects sealed data that is too large', async () => {
  const large = book((context) => {
    context.requestInput({ key: 'room', message: 'Which room?', sealed: 'x'.repeat(300_000) })
  })
  const { response } = await runScenario({ tools: [large], calls: [{ name: 'book' }] })
  expect(response).toMatchObject({ errorCode: 'EXECUTION_FAILED', error: expect.stringContaining('sealed data') })
})

test('a body that throws UNKNOWN_OUTCOME gets a response with the status unknown_outcome', async () => {
  const lost = book(() => {
    throw new ToolError('The server went away.', { code: 'UNKNOWN_OUTCOME' })
  })
  const { response } = await runScenario({ tools: [lost], calls: [{ name: 'book' }] })
  expect(response).toEqual({
    status: 'unknown_outcome',
    error: 'The server went away.',
    errorCode: 'UNKNOWN_OUTCOME',
  })
})
