import { approve, InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import type { RunnerLimits } from '../run/limit-options.ts'

const ADA = { userId: 'ada', sessionId: 's1' }
const HOUR = 3_600_000

function shop(
  sessionService = new InMemorySessionService(),
  { now = Date.now, gate = Promise.resolve(), limits = {} as RunnerLimits } = {},
) {
  const charged: string[] = []
  const charge = tool({
    name: 'charge',
    description: 'Charges a customer',
    requiresConfirmation: true,
    run: async (_, { invocation }) => {
      charged.push(invocation.session.id)
      await gate
      return { ok: true }
    },
  })
  const model = scriptedModel(({ contents }) =>
    contents.at(-1)?.parts[0]?.functionResponse ? 'Done.' : { calls: [{ name: 'charge', args: {} }] },
  )
  const agent = new LlmAgent({ name: 'desk', model, tools: [charge] })
  const logger = { warn: () => {}, error: () => {} }
  const runner = new Runner({ appName: 'shop', agent, sessionService, logger, ports: { now }, limits })
  onTestFinished(() => runner.close())
  const wake = (signal = new AbortController().signal, scheduleId?: string) =>
    runner.internals.wakeSession(ADA, { signal, takeOver: 'fleet', maxCrashes: 5, scheduleId })
  return { runner, charged, wake, sessionService }
}

test('runs what was submitted, says when its request expires, and continues what was answered', async () => {
  const now = 1_700_000_000_000
  const { runner, wake, charged } = shop(undefined, { now: () => now })
  await runner.submit({ ...ADA, message: 'Charge.' })
  expect(await wake()).toEqual({ type: 'waits', until: now + 24 * HOUR })
  expect(await wake()).toEqual({ type: 'waits', until: now + 24 * HOUR })
  const message = (await runner.pending(ADA)).map((request) => approve(request))
  await runner.answer({ ...ADA, message })
  expect(await wake()).toEqual({ type: 'idle' })
  expect(charged).toEqual(['s1'])
})

test('denies a request that has expired, and completes the run', async () => {
  let now = 1_700_000_000_000
  const { runner, wake, charged } = shop(undefined, { now: () => now })
  await runner.submit({ ...ADA, message: 'Charge.' })
  await wake()
  now += 30 * 24 * HOUR
  expect(await wake()).toEqual({ type: 'idle' })
  expect(charged).toEqual([])
  expect(await runner.pending(ADA)).toEqual([])
})

test('is idle for a session that does not exist, and busy while a caller runs it', async () => {
  const gate = Promise.withResolvers<void>()
  const { runner, wake, sessionService } = shop(undefined, { gate: gate.promise })
  expect(await wake()).toEqual({ type: 'idle' })
  const { pending } = await runner.complete({ ...ADA, message: 'Charge.' })
  const running = runner.complete({ ...ADA, message: pending.map((request) => approve(request)) })
  await expect
    .poll(() => sessionService.claim({ appName: 'shop', ...ADA }).catch(({ code }) => code))
    .toBe('SESSION_BUSY')
  expect(await wake()).toEqual({ type: 'busy' })
  gate.resolve()
  await running
})

test('takes the session over from a worker that lives, which stops without a result', async () => {
  const sessionService = new InMemorySessionService()
  const gate = Promise.withResolvers<void>()
  const first = shop(sessionService, { gate: gate.promise })
  const { pending } = await first.runner.complete({ ...ADA, message: 'Charge.' })
  await first.runner.answer({ ...ADA, message: pending.map((request) => approve(request)) })
  const stalled = first.wake()
  stalled.catch(() => {})
  await expect.poll(() => first.charged).toEqual(['s1'])
  const second = shop(sessionService)
  expect(await second.wake()).toEqual({ type: 'idle' })
  gate.resolve()
  await expect(stalled).rejects.toMatchObject({ code: 'LEASE_LOST' })
  expect(second.charged).toEqual([]) // at most once: the first body may have taken effect
  const session = await sessionService.getSession({ appName: 'shop', ...ADA })
  expect(JSON.stringify(session?.events)).toContain('unknown_outcome')
})

test('leaves the run interrupted when its signal aborts, and another worker continues it', async () => {
  const sessionService = new InMemorySessionService()
  const gate = Promise.withResolvers<void>()
  const { runner, wake, charged } = shop(sessionService, { gate: gate.promise })
  await runner.submit({ ...ADA, message: 'Charge.' })
  await wake()
  await runner.answer({ ...ADA, message: (await runner.pending(ADA)).map((request) => approve(request)) })
  const stop = new AbortController()
  const woken = wake(stop.signal)
  await expect.poll(() => charged).toEqual(['s1'])
  stop.abort()
  gate.resolve()
  expect(await woken).toEqual({ type: 'interrupted' })
  expect(await wake(stop.signal)).toEqual({ type: 'interrupted' })
  expect(await shop(sessionService).wake()).toEqual({ type: 'idle' })
})

test('starts the tick of a schedule that is due, once, and none that is not', async () => {
  let now = 1_700_000_000_000
  const { runner, wake, sessionService } = shop(undefined, { now: () => now })
  await sessionService.createSession({ appName: 'shop', ...ADA })
  const { id } = await runner.schedule({ ...ADA, message: 'Charge.', at: new Date(now + HOUR) })
  const { signal } = new AbortController()
  expect(await wake(signal, id)).toEqual({ type: 'idle' })
  now += HOUR
  expect(await wake(signal, id)).toMatchObject({ type: 'waits' })
  expect(await wake(signal, id)).toMatchObject({ type: 'waits' })
  expect(await runner.pending(ADA)).toHaveLength(1)
  expect(await wake(signal, 'no schedule')).toMatchObject({ type: 'waits' })
})

test('leaves a session for later while its user has as many runs as it may have', async () => {
  const gate = Promise.withResolvers<void>()
  const { runner, wake, charged, sessionService } = shop(undefined, {
    gate: gate.promise,
    limits: { runs: { perUser: 1 } },
  })
  const other = { userId: 'ada', sessionId: 's2' }
  const { pending } = await runner.complete({ ...other, message: 'Charge.' })
  const running = runner.complete({ ...other, message: pending.map((request) => approve(request)) })
  await expect.poll(() => charged).toEqual(['s2'])
  await runner.submit({ ...ADA, message: 'Charge.' })
  expect(await wake()).toEqual({ type: 'limited', retryAfterMs: 1_000 })
  expect(await sessionService.withInbox({ appName: 'shop', limit: 9 })).toEqual([{ appName: 'shop', ...ADA }])
  gate.resolve()
  await running
  expect(await wake()).toMatchObject({ type: 'waits' })
})
