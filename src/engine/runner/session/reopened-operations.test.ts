import { type Agent, createEvent, type Event, LlmAgent, Runner, tool } from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { AgentTree } from '../../agent/agents/agent-tree.ts'
import { type CutStore, cutStore, entriesOf } from './checkpoint-store.test-kit.ts'

const where = { userId: 'ada', sessionId: 's1' }
const key = { appName: 'shop', ...where }

/** A session of ten turns, with a checkpoint after entry 16 of 20. Its agent shows one turn. */
async function longSession(
  steps: readonly ScriptedStep[],
  look = tool({ name: 'look', description: 'Looks', run: () => ({}) }),
): Promise<{ store: CutStore; runner: Runner }> {
  const model = scriptedModel([...Array.from({ length: 10 }, (_, turn) => `Answer ${turn}.`), ...steps])
  const agent = new LlmAgent({ name: 'desk', model, tools: [look], history: { lastTurns: 1 } })
  const store = cutStore(new AgentTree(agent, { plugins: [], resolveModel: () => expect.fail('no names') }))
  const { sessionService } = store
  const runner = new Runner({ appName: 'shop', agent, sessionService })
  for (let turn = 0; turn < 10; turn++) await runner.complete({ ...where, message: `Message ${turn}.` })
  store.cut = 16
  return { store, runner }
}

test('copies the whole log of a session that was read with a checkpoint', async () => {
  const { store, runner } = await longSession(['Later.'])
  const last = (await entriesOf(store.sessionService, key)).at(-2)?.event?.id ?? ''
  const { sessionId } = await runner.fork({ ...where, before: last })
  expect(await entriesOf(store.sessionService, { ...key, sessionId })).toHaveLength(18)
})

test('a client that reconnects gets all events after the last one it has, also those before the checkpoint', async () => {
  const gate = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const look = tool({
    name: 'look',
    description: 'Looks',
    run: async () => {
      started.resolve()
      await gate.promise
      return {}
    },
  })
  const { store, runner } = await longSession([{ calls: [{ name: 'look' }] }, 'Seen.'], look)
  const second = (await entriesOf(store.sessionService, key))[1]?.event?.id ?? ''
  const running = runner.complete({ ...where, message: 'Look.' })
  await started.promise
  const texts: (string | undefined)[] = []
  const following = (async () => {
    for await (const event of runner.follow({ ...where, afterEventId: second })) texts.push(textIn(event))
  })()
  gate.resolve()
  await Promise.all([running, following])
  expect(texts.filter(Boolean)).toEqual([...Array.from({ length: 9 }, (_, at) => `Answer ${at + 1}.`), 'Seen.'])
})

const textIn = ({ content }: Event): string | undefined => content?.parts[0]?.text

test.each([undefined, 16])('agents see the events of the turns that are shown (checkpoint: %s)', async (cut) => {
  const model = scriptedModel(Array.from({ length: 11 }, () => 'So.'))
  const desk = new LlmAgent({ name: 'desk', model, history: { lastTurns: 2 } })
  let texts: string[] = []
  const reader: Agent = {
    name: 'reader',
    subAgents: [desk],
    async *run(context) {
      texts = context.invocation.session.events.flatMap((event) => textIn(event) ?? [])
      yield* desk.run(context)
    },
  }
  const store = cutStore(new AgentTree(reader, { plugins: [], resolveModel: () => expect.fail('no names') }))
  const runner = new Runner({ appName: 'shop', agent: reader, sessionService: store.sessionService })
  for (let turn = 0; turn < 10; turn++) await runner.complete({ ...where, message: `Message ${turn}.` })
  expect(texts).toEqual(['Message 8.', 'So.', 'Message 9.'])
  store.cut = cut
  await runner.complete({ ...where, message: 'Message 10.' })
  expect(texts).toEqual(['Message 9.', 'So.', 'Message 10.'])
})

test('a session of imported events shows its latest turns', async () => {
  const model = scriptedModel(['Now.'])
  const agent = new LlmAgent({ name: 'desk', model, history: { lastTurns: 2 } })
  const runner = new Runner({ appName: 'shop', agent })
  const said = (author: string, text: string): Event => {
    return createEvent({ author, content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] } })
  }
  const events = [said('user', 'One.'), said('desk', 'So.'), said('user', 'Two.'), said('desk', 'Well.')]
  await runner.sessionService.createSession({ ...key, events })
  await runner.complete({ ...where, message: 'Three.' })
  expect(model.requests[0]?.contents.map(({ parts }) => parts[0]?.text)).toEqual(['Two.', 'Well.', 'Three.'])
})
