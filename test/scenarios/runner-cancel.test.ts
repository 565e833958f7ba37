import { type Event, InMemorySessionService, LlmAgent, type Model, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { createDeferred, recordingLogger, responsesOf } from './kit.ts'

const key = { userId: 'ada', sessionId: 's1' }

/** Starts a run whose tool hangs. */
function hanging(options: { detach?: boolean; signal?: AbortSignal } = {}) {
  const begun = createDeferred<AbortSignal>()
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    run: (_, { signal }) => {
      begun.resolve(signal)
      return new Promise(() => {})
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'pay', id: 'p1' }] }, 'Here again.'])
  const runner = new Runner({
    appName: 'app',
    agent: new LlmAgent({ name: 'agent', model, tools: [pay] }),
    logger: recordingLogger(),
  })
  const { detach, signal } = options
  const run = runner.run({ ...key, message: 'Pay', signal, runConfig: { detach } })
  return { runner, run, begun: begun.promise, model }
}

async function drain(run: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of run) events.push(event)
  return events
}

const stored = async (runner: Runner) =>
  (await runner.sessionService.getSession({ appName: 'app', ...key }))?.events ?? []

/** Checks the events and the session of a cancelled run. */
async function expectCancelled(runner: Runner, signal: AbortSignal) {
  expect(signal.aborted).toBe(true)
  const events = await stored(runner)
  expect(events.map(({ content, errorCode }) => errorCode ?? content?.role)).toEqual([
    'user',
    'model',
    'tool',
    'CANCELLED',
  ])
  expect(responsesOf(events)).toEqual([
    {
      id: 'p1',
      name: 'pay',
      response: { status: 'unknown_outcome', error: expect.any(String), errorCode: 'UNKNOWN_OUTCOME' },
    },
  ])
  const next = await runner.complete({ ...key, message: 'Are you there?' })
  expect(next.text).toBe('Here again.')
}

test('run.cancel() cancels the run with a reason', async () => {
  const { runner, run, begun } = hanging()
  const all = drain(run)
  const signal = await begun
  await run.cancel('I changed my mind.')
  const events = await all
  expect(events.at(-1)).toMatchObject({ errorCode: 'CANCELLED', errorMessage: 'I changed my mind.' })
  await expectCancelled(runner, signal)
})

test("the caller's signal cancels the run", async () => {
  const controller = new AbortController()
  const { runner, run, begun } = hanging({ signal: controller.signal })
  const all = drain(run)
  const signal = await begun
  controller.abort()
  expect((await all).at(-1)?.errorCode).toBe('CANCELLED')
  await expectCancelled(runner, signal)
})

test("the caller's signal cancels complete()", async () => {
  const controller = new AbortController()
  const abort = () => {
    controller.abort()
    return new Promise<never>(() => {})
  }
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model: scriptedModel([abort]) }) })
  const done = await runner.complete({ ...key, message: 'Go', signal: controller.signal })
  expect(done.error?.code).toBe('CANCELLED')
})

test('breaking out of "for await" cancels the run and waits until the cancellation is recorded', async () => {
  const { runner, run } = hanging()
  for await (const _ of run) break
  const events = await stored(runner)
  expect(events.at(-1)?.errorCode).toBe('CANCELLED')
  expect((await runner.complete({ ...key, message: 'Are you there?' })).text).toBe('Here again.')
})

test('an error thrown inside "for await" cancels the run', async () => {
  const { runner, run } = hanging()
  await expect(async () => {
    for await (const _ of run) throw new Error('my own')
  }).rejects.toThrow('my own')
  expect((await stored(runner)).at(-1)?.errorCode).toBe('CANCELLED')
})

test('runner.cancel() cancels a running run', async () => {
  const { runner, run, begun } = hanging()
  const all = drain(run)
  const signal = await begun
  await runner.cancel(key)
  expect((await all).at(-1)?.errorCode).toBe('CANCELLED')
  await expectCancelled(runner, signal)
})

test('runner.close() cancels the run and rejects later messages', async () => {
  const { runner, run, begun } = hanging()
  const all = drain(run)
  const signal = await begun
  await runner.close()
  expect((await all).at(-1)).toMatchObject({ errorCode: 'CANCELLED', errorMessage: expect.stringContaining('closed') })
  expect(signal.aborted).toBe(true)
  await expect(runner.complete({ ...key, message: 'Go' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})

test('runner.cancel() with another user or session does not cancel the run', async () => {
  const { runner, run, begun } = hanging()
  const all = drain(run)
  const signal = await begun
  await runner.cancel({ userId: 'bob', sessionId: 's1' })
  await runner.cancel({ userId: 'ada', sessionId: 's2' })
  expect(signal.aborted).toBe(false)
  await run.cancel()
  await all
})

test('cancelling a run twice or after its end records one cancellation', async () => {
  const { runner, run, begun } = hanging()
  const all = drain(run)
  await begun
  await Promise.all([run.cancel(), run.cancel(), runner.cancel(key)])
  await all
  await run.cancel()
  await runner.cancel(key)
  expect((await stored(runner)).filter(({ errorCode }) => errorCode === 'CANCELLED')).toHaveLength(1)
})

test('runner.cancel() of a completed run or an unknown session changes nothing', async () => {
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model: scriptedModel(['ok']) }) })
  await runner.cancel({ userId: 'ada', sessionId: 'unknown' })
  expect(
    await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 'unknown' }),
  ).toBeUndefined()
  await runner.complete({ ...key, message: 'Go' })
  await runner.cancel(key)
  expect(await stored(runner)).toHaveLength(2)
})

test('run.cancel() before the first iteration records nothing', async () => {
  const { runner, run, model } = hanging()
  await run.cancel()
  expect(await drain(run)).toEqual([])
  expect(model.requests).toHaveLength(0)
  expect(await stored(runner)).toEqual([])
})

test('a signal that is already aborted cancels the run before any body runs', async () => {
  const { runner, run } = hanging({ signal: AbortSignal.abort() })
  const events = await drain(run)
  expect(events.at(-1)?.errorCode).toBe('CANCELLED')
  expect(responsesOf(events)).toEqual([])
  expect((await stored(runner)).at(-1)?.errorCode).toBe('CANCELLED')
})

test('cancelling a run aborts the signal of the model and drops its late reply', async () => {
  const begun = createDeferred()
  let seen: AbortSignal | undefined
  const held = createDeferred()
  const model: Model = {
    name: 'stubborn',
    async *generate(_, { signal }) {
      seen = signal
      begun.resolve()
      await held.promise
      yield { content: { role: 'model', parts: [{ text: 'too late' }] } }
    },
  }
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model }) })
  const run = runner.run({ ...key, message: 'Go' })
  const all = drain(run)
  await begun.promise
  await run.cancel()
  expect(seen?.aborted).toBe(true)
  held.resolve()
  expect((await all).map(({ errorCode }) => errorCode)).toEqual(['CANCELLED'])
  expect(JSON.stringify(await stored(runner))).not.toContain('too late')
})

test('cancelling a run answers a call without side effects with CANCELLED', async () => {
  const begun = createDeferred()
  const look = tool({
    name: 'look',
    description: 'Looks',
    effect: 'none',
    run: () => {
      begun.resolve()
      return new Promise(() => {})
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'look' }] }])
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools: [look] }) })
  const run = runner.run({ ...key, message: 'Go' })
  const all = drain(run)
  await begun.promise
  await run.cancel()
  expect(responsesOf(await all)[0]?.response.errorCode).toBe('CANCELLED')
})

test('cancelling a paused run answers its long-running call and rejects a late result', async () => {
  const order = tool({ name: 'order', description: 'Orders', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const model = scriptedModel([{ calls: [{ name: 'order', id: 'o1' }] }, 'Anything else?'])
  const sessionService = new InMemorySessionService()
  const agent = new LlmAgent({ name: 'agent', model, tools: [order] })
  const runner = new Runner({ appName: 'app', agent, sessionService, whilePaused: 'reject' })
  const first = await runner.complete({ ...key, message: 'Order' })
  expect(first.pending).toHaveLength(1)
  await new Runner({ appName: 'app', agent, sessionService }).cancel({ ...key, invocationId: 'another' })
  await runner.cancel(key)
  await runner.cancel(key)
  const events = await stored(runner)
  expect(events.slice(3).map(({ errorCode, content }) => errorCode ?? content?.role)).toEqual(['tool', 'CANCELLED'])
  const message = [{ functionResponse: { id: 'o1', name: 'order', response: {} } }]
  await expect(runner.complete({ ...key, message })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect((await runner.complete({ ...key, message: 'Hello?' })).text).toBe('Anything else?')
})
