// kill -9 around an approval: while the request is pending, before the approved body runs, before its response is recorded.
import { approve, deny, type Effect, type Event } from 'toolwright'
import { expect, test, vi } from 'vitest'
import { countResponses, readSession, resumeSession, setUpKillScenario } from './kill/kill-scenario.ts'
import { effects } from './kill/payment-agent.ts'
import { session } from './kill/victim-process.ts'

vi.setConfig({ testTimeout: 30_000 })

const unknown = { status: 'unknown_outcome', errorCode: 'UNKNOWN_OUTCOME' }

/** Counts the confirmation requests in the log. */
function countConfirmations(events: readonly Event[]): number {
  const calls = events.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionCall ?? []) ?? [])
  return calls.filter(({ name }) => name === 'adk_request_confirmation').length
}

test('the runner lists the same pending confirmation after kill -9, and an approval runs the body once', async () => {
  const { server, killDuring, createRunner } = await setUpKillScenario({ calls: ['atMostOnce'], isGated: true })
  await killDuring('send', server.holdAt('yielded confirmation'))
  const [request, ...others] = await createRunner().pending(session)
  expect(others).toEqual([])
  expect(request).toMatchObject({ kind: 'confirmation', tool: 'atMostOnce', args: {} })
  expect(server.reports.filter(({ yieldedEvent }) => yieldedEvent)).not.toEqual([]) // the killed process had yielded it

  const second = createRunner()
  const before = await resumeSession(second)
  expect(
    before.pending.map(({ id }) => id),
    'resuming adds no confirmation',
  ).toEqual([request?.id])
  expect(countConfirmations(before.events)).toBe(1)

  await second.complete({ ...session, message: before.pending.map((pendingRequest) => approve(pendingRequest)) })
  const { responses, pending } = await readSession(second)
  expect(responses.atMostOnce).toEqual({ paid: true, isNew: true })
  expect([server.keysAt('effect atMostOnce').length, pending]).toEqual([1, []])
})

test('the runner runs nothing when a confirmation is denied after kill -9', async () => {
  const { server, killDuring, createRunner } = await setUpKillScenario({ calls: ['atMostOnce'], isGated: true })
  await killDuring('send', server.holdAt('yielded confirmation'))
  const second = createRunner()
  const [request] = await second.pending(session)
  if (!request) throw new Error('No confirmation is pending.')
  await second.complete({ ...session, message: [deny(request, { reason: 'no' })] })
  expect((await readSession(second)).responses.atMostOnce).toMatchObject({ errorCode: 'CANCELLED' })
  expect(server.appliedPayments.size).toBe(0)
})

test.each(effects)(
  'the runner runs an approved call with effect %s once after kill -9 before its body, without a second confirmation',
  async (effect) => {
    const { server, killDuring, createRunner } = await setUpKillScenario({ calls: [effect], isGated: true })
    await createRunner().complete({ ...session, message: 'go' })
    await killDuring('approve', server.holdAt(`beforeTool ${effect}`))

    const { events, responses, pending } = await resumeSession(createRunner())
    expect(responses[effect]).toEqual({ paid: true, isNew: true })
    expect(server.keysAt(`effect ${effect}`)).toHaveLength(1)
    expect({ confirmations: countConfirmations(events), pending }).toEqual({ confirmations: 1, pending: [] })
  },
)

test.each<[Effect, object, tried: number]>([
  ['none', { paid: true }, 2],
  ['idempotent', { paid: true }, 2],
  ['reconcilable', { paid: 'found' }, 1],
  ['atMostOnce', unknown, 1],
])(
  'the runner treats an approved call by its effect after kill -9 before its response: %s',
  async (effect, response, tried) => {
    const { server, killDuring, createRunner } = await setUpKillScenario({ calls: [effect], isGated: true })
    await createRunner().complete({ ...session, message: 'go' })
    await killDuring('approve', server.holdAt(`effect ${effect}`))

    const { events, responses, pending } = await resumeSession(createRunner())
    expect(responses[effect]).toMatchObject(response)
    expect(server.keysAt(`effect ${effect}`)).toHaveLength(tried)
    expect(server.appliedPayments.size).toBe(1)
    expect({ confirmations: countConfirmations(events), pending }).toEqual({ confirmations: 1, pending: [] })
  },
)

test('the runner completes the session without a second effect when an approval is sent again after kill -9', async () => {
  const { server, killDuring, createRunner } = await setUpKillScenario({ calls: ['atMostOnce'], isGated: true })
  const { pending } = await createRunner().complete({ ...session, message: 'go' })
  await killDuring('approve', server.holdAt('effect atMostOnce'))
  const second = createRunner()
  const { text } = await second.complete({
    ...session,
    message: pending.map((pendingRequest) => approve(pendingRequest)),
  })
  expect(text).toBe('done')
  const { events, responses } = await readSession(second)
  expect(responses.atMostOnce).toMatchObject(unknown)
  expect(countResponses(events)).toEqual({ atMostOnce: 1 })
  expect(server.keysAt('effect atMostOnce')).toHaveLength(1)
})

test('the runner starts the agent of an approved agent tool once after kill -9, without a second confirmation', async () => {
  const { server, killDuring, createRunner } = await setUpKillScenario({
    calls: ['atMostOnce'],
    isGated: true,
    isNested: true,
  })
  await createRunner().complete({ ...session, message: 'go' })
  await killDuring('approve', server.holdAt('clerk model'))
  const { events, responses, pending } = await resumeSession(createRunner())
  expect(responses).toMatchObject({ atMostOnce: { paid: true, isNew: true }, clerk: { text: 'done' } })
  expect(countResponses(events)).toEqual({ atMostOnce: 1, clerk: 1 })
  expect({ confirmations: countConfirmations(events), pending }).toEqual({ confirmations: 1, pending: [] })
})

test('the runner answers UNKNOWN_OUTCOME inside an approved agent tool after kill -9, and completes', async () => {
  const { server, killDuring, createRunner } = await setUpKillScenario({
    calls: ['atMostOnce'],
    isGated: true,
    isNested: true,
  })
  await createRunner().complete({ ...session, message: 'go' })
  await killDuring('approve', server.holdAt('effect atMostOnce'))
  const { events, responses, pending } = await resumeSession(createRunner())
  expect(responses).toMatchObject({ atMostOnce: unknown, clerk: { text: 'done' } })
  expect(server.keysAt('effect atMostOnce')).toHaveLength(1)
  expect({ confirmations: countConfirmations(events), pending }).toEqual({ confirmations: 1, pending: [] })
})

test('the runner keeps the recorded responses of four approved calls after kill -9, with one confirmation each', async () => {
  const { server, killDuring, createRunner } = await setUpKillScenario({ calls: effects, isGated: true })
  await createRunner().complete({ ...session, message: 'go' })
  const recorded = server.waitForReport(({ step }) => step === 'yielded tool')
  await killDuring('approve', Promise.all([server.holdAt('effect atMostOnce'), recorded]))
  const { events, responses, pending } = await resumeSession(createRunner())
  const paid = { paid: true, isNew: true }
  expect(responses).toMatchObject({ none: paid, idempotent: paid, reconcilable: paid, atMostOnce: unknown })
  expect(effects.map((effect) => server.keysAt(`effect ${effect}`).length)).toEqual([1, 1, 1, 1])
  expect(countResponses(events)).toEqual({ none: 1, idempotent: 1, reconcilable: 1, atMostOnce: 1 })
  expect({ confirmations: countConfirmations(events), pending }).toEqual({ confirmations: 4, pending: [] })
})
