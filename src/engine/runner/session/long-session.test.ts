import { type Content, LlmAgent, type Model, type Part, Runner, tool } from 'toolwright'
import { expect, test } from 'vitest'
import { entriesOf, keepingStore } from './checkpoint-store.test-kit.ts'

const where = { userId: 'ada', sessionId: 's1' }
const key = { appName: 'shop', ...where }

/** A model that calls the tool `look` once for each message, under the id that `idFor` makes. */
function lookingModel(idFor: (turn: number) => string, seen: (readonly Content[])[] = []): Model {
  let turns = 0
  return {
    name: 'looking',
    async *generate({ contents }) {
      seen.push(contents)
      const isAnswered = contents.at(-1)?.role === 'tool'
      const call: Part = { functionCall: { id: idFor(turns), name: 'look', args: { n: turns } } }
      if (!isAnswered) turns++
      yield { content: { role: 'model', parts: [isAnswered ? { text: 'Seen.' } : call] } }
    },
  }
}

function agentWith(model: Model, lastTurns: number | undefined): LlmAgent {
  const parameters = { type: 'object', properties: { n: { type: 'number' } } } as const
  const look = tool({
    name: 'look',
    description: 'Looks',
    effect: 'none',
    parameters,
    run: ({ n }) => ({ seen: Number(n) }),
  })
  return new LlmAgent({ name: 'desk', model, tools: [look], history: lastTurns ? { lastTurns } : undefined })
}

/** Sends messages, each to a process of its own. Returns how many entries each of them has read. */
async function send(count: number, agent: LlmAgent, { sessionService, reads }: ReturnType<typeof keepingStore>) {
  const perTurn: number[] = []
  for (let turn = 0; turn < count; turn++) {
    const before = reads.entries
    await new Runner({ appName: 'shop', agent, sessionService }).complete({ ...where, message: `Message ${turn}.` })
    perTurn.push(reads.entries - before)
  }
  return perTurn
}

test('a long session reads only its latest turns, and its checkpoints do not grow', { timeout: 60_000 }, async () => {
  const store = keepingStore()
  const seen: (readonly Content[])[] = []
  const agent = agentWith(
    lookingModel((turn) => `call_${turn}`, seen),
    5,
  )
  const perTurn = await send(700, agent, store)
  expect((await entriesOf(store.sessionService, key)).length).toBe(700 * 4)
  expect(Math.max(...perTurn.slice(40))).toBeLessThan(400) // the entries since a checkpoint
  expect(Math.max(...seen.map((contents) => contents.length))).toBe(4 * 5 - 1)
  const sizes = store.stored.map(({ text }) => text.length)
  expect(sizes.length).toBeGreaterThan(8)
  expect(Math.max(...sizes)).toBeLessThan(20_000)
  const written = sizes.reduce((sum, size) => sum + size, 0)
  const content = JSON.stringify(await entriesOf(store.sessionService, key)).length
  expect(written / content).toBeLessThan(0.15)
})

test('an agent that shows the whole conversation gets all of it after a checkpoint', async () => {
  const store = keepingStore()
  const seen: (readonly Content[])[] = []
  await send(
    100,
    agentWith(
      lookingModel((turn) => `call_${turn}`, seen),
      undefined,
    ),
    store,
  )
  expect(store.stored.length).toBeGreaterThan(1)
  expect(seen.at(-1)?.length).toBe(99 * 4 + 3)
})

test('a damaged checkpoint is replaced by the next append', async () => {
  const store = keepingStore()
  const agent = agentWith(
    lookingModel((turn) => `call_${turn}`),
    2,
  )
  await send(40, agent, store)
  const last = store.stored.at(-1) ?? expect.fail('there is no checkpoint')
  last.text = last.text.replace('"hasRepeats":false', '"hasRepeats":0')
  const [damaged, , repaired] = await send(3, agent, store)
  expect(damaged).toBeGreaterThan(150) // the whole log
  expect(store.stored.at(-1)?.seq).toBe(160)
  expect(repaired).toBeLessThan(20)
})

test.each([10, 550])(
  'call ids that a model repeats are replaced, also after %s turns and a checkpoint',
  {
    timeout: 60_000,
  },
  async (turns) => {
    const store = keepingStore()
    await send(
      turns,
      agentWith(
        lookingModel((turn) => `call_${turn}`),
        2,
      ),
      store,
    )
    await send(
      turns,
      agentWith(
        lookingModel((turn) => `call_${turn}`),
        2,
      ),
      store,
    ) // the same ids once more
    const entries = await entriesOf(store.sessionService, key)
    const ids = entries.flatMap(
      ({ event }) => event?.content?.parts.flatMap(({ functionCall }) => functionCall?.id ?? []) ?? [],
    )
    expect(ids).toHaveLength(2 * turns)
    expect(new Set(ids).size).toBe(2 * turns)
    expect(ids[0]).toBe('call_0')
    expect(ids.slice(0, Math.min(turns, 500)).every((id, at) => id === `call_${at}`)).toBe(true)
  },
)
