import { type Event, tool } from 'toolwright'
import type { GeminiLiveConnection } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Random } from '../simulation/random.ts'
import { waitUntil } from './kit.ts'
import { liveRunner, storedEvents } from './live-calls-kit.ts'
import { type LiveTest, startLive } from './live-kit.ts'
import { RememberingModel } from './live-memory-kit.ts'

const DISCONNECTS = 100
/** The clock of the session runs faster: the model replies in milliseconds instead of half a second. */
const CLOCK = 20
/** Losses in a row without a turn between them. Ten end the session. */
const MAX_IN_A_ROW = 6

test.each([
  [1, 'that the model waits for', false],
  [2, 'that the model waits for', false],
  [3, 'in the background', true],
])(
  '100 random disconnects (seed %i): no turn is lost, and each call %s runs once',
  { timeout: 20_000, retry: 0 },
  async (seed, _how, isBackground) => {
    const random = new Random(seed)
    const model = new RememberingModel(random.fork('model'), isBackground)
    const runs: number[] = []
    const work = tool({
      name: 'work',
      description: 'Works',
      parameters: z.object({ n: z.number() }),
      run: async ({ n }) => {
        runs.push(n)
        await pause(random.int(12))
        return { n, done: true }
      },
    })
    const { runner } = liveRunner([work], { ports: { monotonicNow: () => performance.now() * CLOCK } })
    const live = await startLive({
      runner,
      server: model.serverOptions,
      background: isBackground ? { work: true } : {},
      reconnect: { delayMs: 2, maxDelayMs: 8 },
    })
    const { session, server, events } = live
    const sent = await talkWhile(disconnectOften(live, random.fork('faults')), live, random.fork('user'))
    await waitUntil(() => session.openCalls === 0 && repliesIn(events).size === sent)

    const log = await storedEvents(runner, session)
    await session.close()
    const numbers = Array.from({ length: sent }, (_, at) => at + 1)
    expect([...repliesIn(events)].sort((a, b) => a - b)).toEqual(numbers)
    expect(textsIn(log, 'user')).toEqual(numbers.map((n) => `m${n}`))
    const calls = log.flatMap((event) => event.content?.parts.flatMap(({ functionCall }) => functionCall ?? []) ?? [])
    const responses = log.flatMap((event) => event.content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [])
    const called = calls.map(({ args }) => args.n as number).sort((a, b) => a - b)
    expect(called).toEqual(numbers.filter((n) => n % 3 === 0))
    expect(runs.sort((a, b) => a - b)).toEqual(called)
    expect(responses.map(({ id }) => id).sort()).toEqual(calls.map(({ id }) => id).sort())
    expect(responses.every(({ response }) => response.done === true)).toBe(true)
    expect(model.problems).toEqual([])
    expect(server.problems.filter((problem) => !problem.endsWith('got another response after its last one.'))).toEqual(
      [],
    )
    await waitUntil(() => server.connections.every(({ isOpen }) => !isOpen))
    expect(events.filter(({ type }) => type === 'error')).toEqual([])
  },
)

/** Sends messages until the work is done. Returns how many. */
async function talkWhile(work: Promise<void>, { session }: LiveTest, random: Random): Promise<number> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  let sent = 0
  while (!isDone) {
    await session.send(`m${++sent}`)
    await pause(random.between(1, 25))
  }
  await done
  return sent
}

async function disconnectOften({ server, events }: LiveTest, random: Random): Promise<void> {
  const turns = (): number => events.filter(({ type }) => type === 'turnComplete').length
  let turnsBefore = 0
  let inARow = 0
  for (let lost = 0; lost < DISCONNECTS; lost++) {
    await pause(random.int(20))
    if (turns() > turnsBefore) inARow = 0
    turnsBefore = turns()
    if (++inARow > MAX_IN_A_ROW) await waitUntil(() => turns() > turnsBefore)
    await waitUntil(() => server.connections.at(-1)?.isOpen === true)
    await disconnect(server.connections.at(-1) as GeminiLiveConnection, random)
  }
}

async function disconnect(connection: GeminiLiveConnection, random: Random): Promise<void> {
  const how = random.weighted<number | 'drop' | 'goAway'>([
    [5, 'drop'],
    [2, 1011],
    [1, 1000],
    [1, 1001],
    [3, 'goAway'],
  ])
  if (how === 'drop') return connection.drop()
  if (how !== 'goAway') return connection.close(how)
  connection.goAway(random.pick(['0s', '1.01s', '1.05s']))
  await pause(random.int(30))
  if (connection.isOpen) connection.close(1001)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function repliesIn(events: LiveTest['events']): Set<number> {
  const texts = events.flatMap((event) => (event.type === 'text' ? event.text : []))
  return new Set(texts.flatMap((text) => [...text.matchAll(/re:m(\d+)/g)].map(([, n]) => Number(n))))
}

function textsIn(log: readonly Event[], author: string): string[] {
  const ofAuthor = log.filter((event) => event.author === author)
  return ofAuthor.flatMap((event) => event.content?.parts.flatMap(({ text }) => text ?? []) ?? [])
}
