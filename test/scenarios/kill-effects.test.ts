// kill -9 at each step of a tool call, for each effect of a tool: real processes, a SQLite file, and a payment server
// that counts. The expected outcomes are the table in docs/concepts/guarantees.md.
import type { Effect, JsonObject } from 'toolwright'
import { expect, test, vi } from 'vitest'
import { countResponses, readSession, resumeSession, setUpKillScenario } from './kill/kill-scenario.ts'
import { session } from './kill/victim-process.ts'

vi.setConfig({ testTimeout: 30_000 })

const unknown = { status: 'unknown_outcome', errorCode: 'UNKNOWN_OUTCOME' }
const paid = { paid: true, isNew: true }
const paidBefore = { paid: true, isNew: false }

/** What both processes together do. */
interface Outcome {
  /** How often the body reached its effect. */
  readonly tried: number
  /** How often the payment server applied it. */
  readonly applied: number
  /** The recorded response. */
  readonly response: JsonObject
  /** How often `reconcile` was called. Default 0. */
  readonly reconciled?: number
}
const once: Outcome = { tried: 1, applied: 1, response: paid }
const never: Outcome = { tried: 0, applied: 0, response: unknown }

const table: readonly [step: (effect: Effect) => string, moment: string, { [effect in Effect]: Outcome }][] = [
  [() => 'desk model', 'during the model call', { none: once, idempotent: once, reconcilable: once, atMostOnce: once }],
  [
    (effect) => `beforeTool ${effect}`,
    'before the intent is stored',
    { none: once, idempotent: once, reconcilable: once, atMostOnce: once },
  ],
  [
    (effect) => `body ${effect}`,
    'in the body before its effect',
    { none: once, idempotent: once, reconcilable: { ...once, reconciled: 1 }, atMostOnce: never },
  ],
  [
    (effect) => `effect ${effect}`,
    'between the effect and its record',
    {
      none: { tried: 2, applied: 1, response: paidBefore },
      idempotent: { tried: 2, applied: 1, response: paidBefore },
      reconcilable: { tried: 1, applied: 1, response: { paid: 'found' }, reconciled: 1 },
      atMostOnce: { tried: 1, applied: 1, response: unknown },
    },
  ],
  [
    () => 'desk model with results',
    'after the response is stored',
    { none: once, idempotent: once, reconcilable: once, atMostOnce: once },
  ],
]

const cases = table.flatMap(([step, moment, row]) =>
  Object.entries(row).map(([effect, outcome]) => ({ moment, effect: effect as Effect, step, outcome })),
)

test.each(cases)(
  'after kill -9 $moment, a call with effect $effect has the documented outcome',
  async ({ effect, step, outcome }) => {
    const { server, killDuring, createRunner } = await setUpKillScenario({ calls: [effect] })
    await killDuring('send', server.holdAt(step(effect)))

    const { events, responses, pending } = await resumeSession(createRunner())
    const tries = server.keysAt(`effect ${effect}`)
    expect({ tried: tries.length, applied: server.appliedPayments.size }).toEqual({
      tried: outcome.tried,
      applied: outcome.applied,
    })
    expect(responses[effect]).toMatchObject(outcome.response)
    expect(countResponses(events)).toEqual({ [effect]: 1 })
    expect(server.keysAt(`reconcile ${effect}`)).toHaveLength(outcome.reconciled ?? 0)

    const keys = [`body ${effect}`, `effect ${effect}`, `reconcile ${effect}`].flatMap((name) => server.keysAt(name))
    expect(new Set(keys).size, 'every attempt has the same idempotency key').toBeLessThanOrEqual(1)
    expect(events.at(-1)?.content?.parts, 'the model continues').toEqual([{ text: 'done' }])
    expect(pending).toEqual([])
  },
)

test('the runner answers UNKNOWN_OUTCOME and does not run again when reconcile returns unknown after kill -9', async () => {
  const { server, killDuring, createRunner } = await setUpKillScenario({ calls: ['reconcilable'] })
  server.reconcileAnswer = 'unknown'
  await killDuring('send', server.holdAt('effect reconcilable'))
  const { responses } = await resumeSession(createRunner())
  expect(responses.reconcilable).toMatchObject(unknown)
  expect(server.keysAt('effect reconcilable')).toHaveLength(1)
  expect(server.keysAt('reconcile reconcilable')).toHaveLength(1)
})

test('the runner keeps the idempotency key of a call over four kills, so the payment is applied once', async () => {
  const { server, killDuring, createRunner } = await setUpKillScenario({ calls: ['idempotent'] })
  await killDuring('send', server.holdAt('effect idempotent'))
  for (let kill = 0; kill < 3; kill++) await killDuring('resume', server.holdAt('effect idempotent'))
  const { responses } = await resumeSession(createRunner())
  expect(server.keysAt('effect idempotent')).toHaveLength(5)
  expect([...server.appliedPayments.keys()]).toEqual([...new Set(server.keysAt('effect idempotent'))])
  expect(responses.idempotent).toMatchObject(paidBefore)
})

test.each<[Effect, string, counts: { before: number; after: number }]>([
  ['atMostOnce', 'beforeTool', { before: 2, after: 1 }],
  ['idempotent', 'beforeTool', { before: 2, after: 1 }],
  ['none', 'effect', { before: 2, after: 1 }],
  ['atMostOnce', 'effect', { before: 1, after: 0 }],
  ['idempotent', 'effect', { before: 1, after: 1 }],
  ['atMostOnce', 'afterTool', { before: 1, after: 1 }],
  ['idempotent', 'afterTool', { before: 1, after: 2 }],
])(
  'the runner runs beforeTool and afterTool as documented for a call with effect %s killed at %s',
  async (effect, step, counts) => {
    const { server, killDuring, createRunner } = await setUpKillScenario({ calls: [effect] })
    await killDuring('send', server.holdAt(`${step} ${effect}`))
    await resumeSession(createRunner())
    expect({
      before: server.keysAt(`beforeTool ${effect}`).length,
      after: server.keysAt(`afterTool ${effect}`).length,
    }).toEqual(counts)
  },
)

test.each([
  ['before its intent', 'beforeTool', { errorCode: 'CANCELLED' }],
  ['after its effect', 'effect', unknown],
])(
  'the runner cancels a call that was killed %s: nothing runs, and the session accepts new messages',
  async (_, step, response) => {
    const { server, killDuring, createRunner } = await setUpKillScenario({ calls: ['atMostOnce'] })
    await killDuring('send', server.holdAt(`${step} atMostOnce`))
    const second = createRunner()
    const tried = server.keysAt('effect atMostOnce').length
    await second.cancel(session)
    const { events, responses } = await readSession(second)
    expect(responses.atMostOnce).toMatchObject(response)
    expect(events.at(-1)).toMatchObject({ errorCode: 'CANCELLED' })
    expect(server.keysAt('effect atMostOnce')).toHaveLength(tried)
    expect((await second.complete({ ...session, message: 'go' })).text).toBe('done')
  },
)

test('the runner uses different idempotency keys for two calls with equal arguments', async () => {
  const { server, killDuring, createRunner } = await setUpKillScenario({ calls: ['idempotent', 'idempotent'] })
  await killDuring('send', server.holdAt('desk model with results'))
  await resumeSession(createRunner())
  expect(new Set(server.keysAt('effect idempotent')).size).toBe(2)
})

test('the runner treats each call of a batch by its own effect after kill -9 with no response recorded', async () => {
  const calls = ['none', 'idempotent', 'reconcilable', 'atMostOnce'] as const
  const { server, killDuring, createRunner } = await setUpKillScenario({ calls })
  await killDuring('send', Promise.all(calls.map((effect) => server.holdAt(`effect ${effect}`))))
  const { events, responses } = await resumeSession(createRunner())
  expect(responses).toMatchObject({
    none: paidBefore,
    idempotent: paidBefore,
    reconcilable: { paid: 'found' },
    atMostOnce: unknown,
  })
  expect(countResponses(events)).toEqual({ none: 1, idempotent: 1, reconcilable: 1, atMostOnce: 1 })
  expect(server.appliedPayments.size).toBe(4)
})

test('the runner keeps the recorded responses of a batch after kill -9 and runs only the rest again', async () => {
  const calls = ['none', 'idempotent', 'reconcilable', 'atMostOnce'] as const
  const { server, killDuring, createRunner } = await setUpKillScenario({ calls })
  const recorded = server.waitForReport(({ step }) => step === 'yielded tool')
  await killDuring('send', Promise.all([server.holdAt('effect idempotent'), recorded]))
  const { events, responses } = await resumeSession(createRunner())
  expect(responses).toMatchObject({ none: paid, idempotent: paidBefore, reconcilable: paid, atMostOnce: paid })
  expect(countResponses(events)).toEqual({ none: 1, idempotent: 1, reconcilable: 1, atMostOnce: 1 })
  expect(calls.map((effect) => server.keysAt(`effect ${effect}`).length)).toEqual([1, 2, 1, 1])
  expect(server.keysAt('reconcile reconcilable')).toEqual([])
})
