// kill -9 at each point of a call's walk, for each effect a tool can have: real processes, a SQLite file, and an outside
// world that counts. What is expected here is the table of docs/concepts/guarantees.md.
import type { Effect, JsonObject } from 'toolwright'
import { expect, test, vi } from 'vitest'
import { answersPerCall, goOn, look, setUp } from './kill/kit.ts'
import { where } from './kill/program.ts'

vi.setConfig({ testTimeout: 30_000 })

const unknown = { status: 'unknown_outcome', errorCode: 'UNKNOWN_OUTCOME' }
const paid = { paid: true, isNew: true }
const again = { paid: true, isNew: false }

/** How often the body came to its effect in both processes together, how often that was applied, and what is recorded. */
interface Outcome {
  readonly tried: number
  readonly applied: number
  readonly response: JsonObject
  readonly reconciled?: number
}
const once: Outcome = { tried: 1, applied: 1, response: paid }
const never: Outcome = { tried: 0, applied: 0, response: unknown }

const table: readonly [point: (effect: Effect) => string, what: string, { [effect in Effect]: Outcome }][] = [
  [
    () => 'desk is asked',
    'while the model thinks',
    { none: once, idempotent: once, reconcilable: once, atMostOnce: once },
  ],
  [
    (effect) => `prepare ${effect}`,
    'before the intent is stored',
    { none: once, idempotent: once, reconcilable: once, atMostOnce: once },
  ],
  [
    (effect) => `before ${effect}`,
    'in the body before its effect',
    { none: once, idempotent: once, reconcilable: { ...once, reconciled: 1 }, atMostOnce: never },
  ],
  [
    (effect) => `effect ${effect}`,
    'between the effect and its record',
    {
      none: { tried: 2, applied: 1, response: again },
      idempotent: { tried: 2, applied: 1, response: again },
      reconcilable: { tried: 1, applied: 1, response: { paid: 'found' }, reconciled: 1 },
      atMostOnce: { tried: 1, applied: 1, response: unknown },
    },
  ],
  [
    () => 'desk is told',
    'after the response is stored',
    { none: once, idempotent: once, reconcilable: once, atMostOnce: once },
  ],
]

const cases = table.flatMap(([point, what, row]) =>
  Object.entries(row).map(([effect, outcome]) => ({ what, effect: effect as Effect, point, outcome })),
)

test.each(cases)('killed $what: $effect', async ({ effect, point, outcome }) => {
  const { world, killed, runner } = await setUp({ calls: [effect] })
  await killed('send', world.hold(point(effect)))

  const { events, responses, pending } = await goOn(runner())
  const tries = world.keysAt(`effect ${effect}`)
  expect({ tried: tries.length, applied: world.applied.size }).toEqual({
    tried: outcome.tried,
    applied: outcome.applied,
  })
  expect(responses[effect]).toMatchObject(outcome.response)
  expect(answersPerCall(events)).toEqual({ [effect]: 1 })
  expect(world.keysAt(`reconcile ${effect}`)).toHaveLength(outcome.reconciled ?? 0)

  const keys = [`before ${effect}`, `effect ${effect}`, `reconcile ${effect}`].flatMap((one) => world.keysAt(one))
  expect(new Set(keys).size, 'every attempt has the same key').toBeLessThanOrEqual(1)
  expect(events.at(-1)?.content?.parts, 'the model goes on').toEqual([{ text: 'done' }])
  expect(pending).toEqual([])
})

test('what cannot find out what became of it says so, and is not run again', async () => {
  const { world, killed, runner } = await setUp({ calls: ['reconcilable'] })
  world.reconciled = 'unknown'
  await killed('send', world.hold('effect reconcilable'))
  const { responses } = await goOn(runner())
  expect(responses.reconcilable).toMatchObject(unknown)
  expect(world.keysAt('effect reconcilable')).toHaveLength(1)
  expect(world.keysAt('reconcile reconcilable')).toHaveLength(1)
})

test('killed again and again, the same call keeps its key and the outside world applies it once', async () => {
  const { world, killed, runner } = await setUp({ calls: ['idempotent'] })
  await killed('send', world.hold('effect idempotent'))
  for (let kill = 0; kill < 3; kill++) await killed('resume', world.hold('effect idempotent'))
  const { responses } = await goOn(runner())
  expect(world.keysAt('effect idempotent')).toHaveLength(5)
  expect([...world.applied.keys()]).toEqual([...new Set(world.keysAt('effect idempotent'))])
  expect(responses.idempotent).toMatchObject(again)
})

test.each<[Effect, string, counts: { before: number; after: number }]>([
  ['atMostOnce', 'prepare', { before: 2, after: 1 }],
  ['idempotent', 'prepare', { before: 2, after: 1 }],
  ['none', 'effect', { before: 2, after: 1 }],
  ['atMostOnce', 'effect', { before: 1, after: 0 }],
  ['idempotent', 'effect', { before: 1, after: 1 }],
  ['atMostOnce', 'finish', { before: 1, after: 1 }],
  ['idempotent', 'finish', { before: 1, after: 2 }],
])('callbacks around a call (%s) that was killed at "%s"', async (effect, point, counts) => {
  const { world, killed, runner } = await setUp({ calls: [effect] })
  await killed('send', world.hold(`${point} ${effect}`))
  await goOn(runner())
  expect({
    before: world.keysAt(`prepare ${effect}`).length,
    after: world.keysAt(`finish ${effect}`).length,
  }).toEqual(counts)
})

test.each([
  ['before its intent', 'prepare', { errorCode: 'CANCELLED' }],
  ['after its effect', 'effect', unknown],
])('a call that was killed %s can be cancelled instead: nothing runs, and the session goes on', async (_, at, told) => {
  const { world, killed, runner } = await setUp({ calls: ['atMostOnce'] })
  await killed('send', world.hold(`${at} atMostOnce`))
  const second = runner()
  const tried = world.keysAt('effect atMostOnce').length
  await second.cancel(where)
  const { events, responses } = await look(second)
  expect(responses.atMostOnce).toMatchObject(told)
  expect(events.at(-1)).toMatchObject({ errorCode: 'CANCELLED' })
  expect(world.keysAt('effect atMostOnce')).toHaveLength(tried)
  expect((await second.complete({ ...where, message: 'go' })).text).toBe('done')
})

test('two calls with equal arguments have different keys', async () => {
  const { world, killed, runner } = await setUp({ calls: ['idempotent', 'idempotent'] })
  await killed('send', world.hold('desk is told'))
  await goOn(runner())
  expect(new Set(world.keysAt('effect idempotent')).size).toBe(2)
})

test('all four in one reply, killed when every effect was done and none recorded: each by its own rule', async () => {
  const calls = ['none', 'idempotent', 'reconcilable', 'atMostOnce'] as const
  const { world, killed, runner } = await setUp({ calls })
  await killed('send', Promise.all(calls.map((effect) => world.hold(`effect ${effect}`))))
  const { events, responses } = await goOn(runner())
  expect(responses).toMatchObject({
    none: again,
    idempotent: again,
    reconcilable: { paid: 'found' },
    atMostOnce: unknown,
  })
  expect(answersPerCall(events)).toEqual({ none: 1, idempotent: 1, reconcilable: 1, atMostOnce: 1 })
  expect(world.applied.size).toBe(4)
})

test('of a reply that was half recorded the finished siblings are kept and not run again', async () => {
  const calls = ['none', 'idempotent', 'reconcilable', 'atMostOnce'] as const
  const { world, killed, runner } = await setUp({ calls })
  const recorded = world.saw(({ point }) => point === 'shown tool')
  await killed('send', Promise.all([world.hold('effect idempotent'), recorded]))
  const { events, responses } = await goOn(runner())
  expect(responses).toMatchObject({ none: paid, idempotent: again, reconcilable: paid, atMostOnce: paid })
  expect(answersPerCall(events)).toEqual({ none: 1, idempotent: 1, reconcilable: 1, atMostOnce: 1 })
  expect(calls.map((effect) => world.keysAt(`effect ${effect}`).length)).toEqual([1, 2, 1, 1])
  expect(world.keysAt('reconcile reconcilable')).toEqual([])
})
