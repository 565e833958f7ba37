// A live session of an agent that shows only its latest turns, on a long log.
import { type Content, LlmAgent, type Model, Runner, tool } from 'toolwright'
import { scriptedLive } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { entriesOf, keepingStore } from '../../engine/runner/session/checkpoint-store.test-kit.ts'
import { InMemorySessionService } from '../../services/session/in-memory.ts'
import { connectLive } from './connect-live.ts'
import type { LiveSession } from './session/live-session.ts'

const where = { userId: 'ada', sessionId: 's1' }
const key = { appName: 'shop', ...where }

const look = tool({ name: 'look', description: 'Looks', effect: 'none', run: () => ({ seen: true }) })

/** A model that calls the tool once for each message. */
function lookingModel(): Model {
  return {
    name: 'looking',
    async *generate({ contents }) {
      const isAnswered = contents.at(-1)?.role === 'tool'
      yield {
        content: {
          role: 'model',
          parts: [isAnswered ? { text: 'Seen.' } : { functionCall: { name: 'look', args: {} } }],
        },
      }
    },
  }
}

const deskWith = (lastTurns: number | undefined): LlmAgent =>
  new LlmAgent({ name: 'desk', model: lookingModel(), tools: [look], history: lastTurns ? { lastTurns } : undefined })

async function untilTurnComplete(session: LiveSession): Promise<void> {
  for await (const { type } of session) if (type === 'turnComplete') return
}

/** What a new connection gets, one line for each message. */
const linesOf = (contents: readonly Content[]): string[] =>
  contents.map(({ role, parts }) => `${role}: ${parts.map(({ text }) => text).join()}`)

test('a live session on a long log reads what its latest turns need, and tells the model only these', {
  timeout: 60_000,
}, async () => {
  const store = keepingStore()
  const { sessionService, reads } = store
  const agent = deskWith(2)
  for (let turn = 0; turn < 300; turn++)
    await new Runner({ appName: 'shop', agent, sessionService }).complete({ ...where, message: `Message ${turn}.` })
  expect(await entriesOf(sessionService, key)).toHaveLength(1200)
  const before = reads.entries
  const model = scriptedLive(['Hello again.'])
  const runner = new Runner({ appName: 'shop', agent, sessionService })
  await using session = await connectLive({ model, runner, ...where })
  await session.send('Go on.')
  await untilTurnComplete(session)
  expect(reads.entries - before).toBeLessThan(400) // those since a checkpoint, and the turns
  const { contents } = await (await model.nextConnection()).next('content')
  expect(linesOf(contents)).toEqual([
    ...['user: Message 298.', 'model: [Called look with {}]', 'user: [Result of look: {"seen":true}]', 'model: Seen.'],
    ...['user: Message 299.', 'model: [Called look with {}]', 'user: [Result of look: {"seen":true}]', 'model: Seen.'],
  ])
})

test('an agent that shows everything tells the model the whole conversation', async () => {
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'shop', agent: deskWith(undefined), sessionService })
  for (let turn = 0; turn < 5; turn++) await runner.complete({ ...where, message: `Message ${turn}.` })
  const model = scriptedLive(['Hello again.'])
  await using session = await connectLive({ model, runner, ...where })
  await session.send('Go on.')
  await untilTurnComplete(session)
  const { contents } = await (await model.nextConnection()).next('content')
  expect(linesOf(contents)).toHaveLength(20)
})

test('a call that is still open when its turn is cut away is sent with what it is, before the latest turn', async () => {
  const started = Promise.withResolvers<void>()
  const slow = tool({
    name: 'slow',
    description: 'Takes long',
    run: (_, { signal }) => {
      started.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  const agent = new LlmAgent({ name: 'desk', model: lookingModel(), tools: [slow], history: { lastTurns: 1 } })
  const model = scriptedLive((input) => (input.type === 'text' ? `Heard: ${input.text}` : undefined), {
    capabilities: { resumption: false },
  })
  const runner = new Runner({ appName: 'shop', agent })
  await using session = await connectLive({ model, runner, ...where, background: { slow: true } })
  const first = await model.nextConnection()
  const events = session[Symbol.asyncIterator]()
  const untilSaid = async (text: string): Promise<void> => {
    for (;;) {
      const { value } = await events.next()
      if (value?.event?.content?.parts[0]?.text === text && value.event.author === 'desk') return
    }
  }
  await session.send('Begin.')
  await untilSaid('Heard: Begin.')
  first.emit({ type: 'toolCall', calls: [{ id: 'c1', name: 'slow', args: {} }] }, { type: 'turnComplete' })
  await started.promise
  for (const text of ['One.', 'Two.', 'Three.']) {
    await session.send(text)
    await untilSaid(`Heard: ${text}`)
  }
  first.lose()
  const { contents } = await (await model.nextConnection()).next('content')
  expect(linesOf(contents)).toEqual([
    'user: (The conversation begins here.)',
    'model: [Called slow with {}]',
    'user: [slow is still running. Its result follows.]',
    'user: Three.',
    'model: Heard: Three.',
  ])
})
