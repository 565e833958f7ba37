// kill -9 around a human's yes: asked and not yet answered, answered and not yet run, run and not yet recorded.
import { approve, deny, type Effect, type Event } from 'toolwright'
import { expect, test, vi } from 'vitest'
import { effects } from './kill/desk.ts'
import { answersPerCall, goOn, look, setUp } from './kill/kit.ts'
import { where } from './kill/program.ts'

vi.setConfig({ testTimeout: 30_000 })

const unknown = { status: 'unknown_outcome', errorCode: 'UNKNOWN_OUTCOME' }
/** How many questions were put in all. */
function questions(events: readonly Event[]): number {
  const calls = events.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionCall ?? []) ?? [])
  return calls.filter(({ name }) => name === 'adk_request_confirmation').length
}

test('killed when the question was stored: any process lists the same one, and a yes runs the body once', async () => {
  const { world, killed, runner } = await setUp({ calls: ['atMostOnce'], isGated: true })
  await killed('send', world.hold('shown question'))
  const [asked, ...others] = await runner().pending(where)
  expect(others).toEqual([])
  expect(asked).toMatchObject({ kind: 'confirmation', tool: 'atMostOnce', args: {} })
  expect(world.visits.filter(({ shown }) => shown)).not.toEqual([]) // the dead one had shown it

  const second = runner()
  const before = await goOn(second)
  expect(
    before.pending.map(({ id }) => id),
    'going on asks nothing new',
  ).toEqual([asked?.id])
  expect(questions(before.events)).toBe(1)

  await second.complete({ ...where, message: before.pending.map((request) => approve(request)) })
  const { responses, pending } = await look(second)
  expect(responses.atMostOnce).toEqual({ paid: true, isNew: true })
  expect([world.keysAt('effect atMostOnce').length, pending]).toEqual([1, []])
})

test('killed when the question was stored, and a no is a no', async () => {
  const { world, killed, runner } = await setUp({ calls: ['atMostOnce'], isGated: true })
  await killed('send', world.hold('shown question'))
  const second = runner()
  const [asked] = await second.pending(where)
  if (!asked) throw new Error('Nothing was asked.')
  await second.complete({ ...where, message: [deny(asked, { reason: 'no' })] })
  expect((await look(second)).responses.atMostOnce).toMatchObject({ errorCode: 'CANCELLED' })
  expect(world.applied.size).toBe(0)
})

test.each(effects)(
  'killed between the yes and the body (%s): it runs once, and nobody is asked again',
  async (effect) => {
    const { world, killed, runner } = await setUp({ calls: [effect], isGated: true })
    await runner().complete({ ...where, message: 'go' })
    await killed('approve', world.hold(`prepare ${effect}`))

    const { events, responses, pending } = await goOn(runner())
    expect(responses[effect]).toEqual({ paid: true, isNew: true })
    expect(world.keysAt(`effect ${effect}`)).toHaveLength(1)
    expect({ questions: questions(events), pending }).toEqual({ questions: 1, pending: [] })
  },
)

test.each<[Effect, object, tried: number]>([
  ['none', { paid: true }, 2],
  ['idempotent', { paid: true }, 2],
  ['reconcilable', { paid: 'found' }, 1],
  ['atMostOnce', unknown, 1],
])('killed between an approved effect and its record: %s', async (effect, response, tried) => {
  const { world, killed, runner } = await setUp({ calls: [effect], isGated: true })
  await runner().complete({ ...where, message: 'go' })
  await killed('approve', world.hold(`effect ${effect}`))

  const { events, responses, pending } = await goOn(runner())
  expect(responses[effect]).toMatchObject(response)
  expect(world.keysAt(`effect ${effect}`)).toHaveLength(tried)
  expect(world.applied.size).toBe(1)
  expect({ questions: questions(events), pending }).toEqual({ questions: 1, pending: [] })
})

test('the yes of a dead process, sent again after its effect, goes on with what was left, and runs nothing again', async () => {
  const { world, killed, runner } = await setUp({ calls: ['atMostOnce'], isGated: true })
  const { pending } = await runner().complete({ ...where, message: 'go' })
  await killed('approve', world.hold('effect atMostOnce'))
  const second = runner()
  const { text } = await second.complete({ ...where, message: pending.map((request) => approve(request)) })
  expect(text).toBe('done')
  const { events, responses } = await look(second)
  expect(responses.atMostOnce).toMatchObject(unknown)
  expect(answersPerCall(events)).toEqual({ atMostOnce: 1 })
  expect(world.keysAt('effect atMostOnce')).toHaveLength(1)
})

test('a gated agent tool, killed before its agent began: it begins once, and nobody is asked again', async () => {
  const { world, killed, runner } = await setUp({ calls: ['atMostOnce'], isGated: true, isNested: true })
  await runner().complete({ ...where, message: 'go' })
  await killed('approve', world.hold('clerk is asked'))
  const { events, responses, pending } = await goOn(runner())
  expect(responses).toMatchObject({ atMostOnce: { paid: true, isNew: true }, clerk: { text: 'done' } })
  expect(answersPerCall(events)).toEqual({ atMostOnce: 1, clerk: 1 })
  expect({ questions: questions(events), pending }).toEqual({ questions: 1, pending: [] })
})

test('a gated agent tool, killed between an effect inside it and its record: told honestly, and it goes on', async () => {
  const { world, killed, runner } = await setUp({ calls: ['atMostOnce'], isGated: true, isNested: true })
  await runner().complete({ ...where, message: 'go' })
  await killed('approve', world.hold('effect atMostOnce'))
  const { events, responses, pending } = await goOn(runner())
  expect(responses).toMatchObject({ atMostOnce: unknown, clerk: { text: 'done' } })
  expect(world.keysAt('effect atMostOnce')).toHaveLength(1)
  expect({ questions: questions(events), pending }).toEqual({ questions: 1, pending: [] })
})

test('four approved calls of one reply, killed in one of them: the others are kept, each was asked about once', async () => {
  const { world, killed, runner } = await setUp({ calls: effects, isGated: true })
  await runner().complete({ ...where, message: 'go' })
  const recorded = world.saw(({ point }) => point === 'shown tool')
  await killed('approve', Promise.all([world.hold('effect atMostOnce'), recorded]))
  const { events, responses, pending } = await goOn(runner())
  const paid = { paid: true, isNew: true }
  expect(responses).toMatchObject({ none: paid, idempotent: paid, reconcilable: paid, atMostOnce: unknown })
  expect(effects.map((effect) => world.keysAt(`effect ${effect}`).length)).toEqual([1, 1, 1, 1])
  expect(answersPerCall(events)).toEqual({ none: 1, idempotent: 1, reconcilable: 1, atMostOnce: 1 })
  expect({ questions: questions(events), pending }).toEqual({ questions: 4, pending: [] })
})
