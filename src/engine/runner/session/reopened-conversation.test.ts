import type { LlmAgent } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { AgentTree } from '../../agent/agents/agent-tree.ts'
import { cutStore, type Damage, entriesOf } from './checkpoint-store.test-kit.ts'
import { converse, deskWith } from './reopened-conversation.test-kit.ts'

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }

const treeOf = (agent: LlmAgent): AgentTree =>
  new AgentTree(agent, { plugins: [], resolveModel: () => expect.fail('no names here') })

/** All that models and clients see of a conversation. `cut`: after which entry there is a checkpoint. */
async function observe(lastTurns: number | undefined, cut?: number, damage: Damage = () => ({})) {
  const seen: unknown[] = []
  const agent = deskWith(lastTurns === undefined ? undefined : { lastTurns }, seen)
  const store = cutStore(treeOf(agent))
  store.cut = cut
  store.damage = damage
  const shown = await converse(agent, store.sessionService)
  const entries = await entriesOf(store.sessionService, key)
  const log = entries.map(
    ({ event, record }) => record?.type ?? [event?.author, event?.content?.role, event?.errorCode],
  )
  return { seen: JSON.parse(hidingIds(seen)), shown, log }
}

/** Requests have random ids. */
const hidingIds = (value: unknown): string => JSON.stringify(value).replaceAll(/adk-\w+/g, 'adk-id')

describe.each([1, 2, 3, 50, undefined])('with the last %s turns', (lastTurns) => {
  test('a session that is continued from a checkpoint is the same as with the whole log', {
    timeout: 60_000,
  }, async () => {
    const whole = await observe(lastTurns)
    expect(whole.seen.length).toBeGreaterThan(15)
    for (let cut = 1; cut <= whole.log.length; cut++) {
      expect(await observe(lastTurns, cut), `checkpoint after entry ${cut}`).toEqual(whole)
    }
  })
})

test('the model sees the last turns, with an open call of an earlier turn and the result that arrived for it', async () => {
  const { seen } = await observe(2)
  const contents = seen.at(-1) as { role: string; parts: { text?: string; functionCall?: { id: string } }[] }[]
  expect(contents.map(({ role, parts }) => [role, parts[0]?.text ?? parts[0]?.functionCall?.id])).toEqual([
    ['user', '(The conversation begins here.)'],
    ['model', 'job-2'],
    ['tool', undefined],
    ['user', 'Nine.'],
    ['model', 'Done after 8 contents.'],
    ['user', 'The result of job (job-2) has arrived.'],
    ['model', 'Done after 10 contents.'],
    ['user', 'Ten.'],
  ])
  expect(JSON.stringify(contents[2])).toContain('"done":2')
})

const CUT = 30

const changed = (change: (state: Record<string, unknown>) => object): Damage => {
  return ({ state }) => ({ state: { ...state, ...change(structuredClone(state)) } as never })
}

test.each<[string, Damage]>([
  ['of another version', changed(() => ({ version: 0 }))],
  ['of other agents', changed(() => ({ agents: '[["other",["llm",true],[]],2]' }))],
  ['of agents that show other turns', changed(({ agents }) => ({ agents: String(agents).replace(/2\]$/, '3]') }))],
  ['that is no object', () => ({ state: 'damaged' as never })],
  ['that is empty', () => ({ state: {} })],
  ['with another member', changed(() => ({ more: 1 }))],
  ['without its invocations', changed(() => ({ open: null }))],
  ['with a flag that is a text', changed(() => ({ hasWaited: 'yes' }))],
  ['with ids that are numbers', changed(() => ({ earlierIds: [1] }))],
  [
    'with calls of another type',
    changed(({ open }) => ({ open: (open as object[]).map((one) => ({ ...one, calls: [{}] })) })),
  ],
  ['with turns after its end', changed(() => ({ turns: { calls: [], starts: [[999, 1]] } }))],
  [
    'with turns that are no messages',
    changed(() => ({
      turns: {
        calls: [],
        starts: [
          [3, 1],
          [4, 2],
        ],
      },
    })),
  ],
  [
    'with an open call that it does not have',
    changed(() => ({
      turns: {
        calls: [],
        starts: [
          [1, 0, 7],
          [5, 2, 7],
        ],
      },
    })),
  ],
  ['with too few events', changed(() => ({ events: 3 }))],
  ['of an earlier entry than it says', ({ seq }) => ({ seq: seq - 1 })],
  ['of a later entry than it says', ({ seq }) => ({ seq: seq + 1 })],
  ['beyond the end of the log', changed(() => ({ seq: 5_000 }))],
])('a checkpoint %s is ignored, and the whole log is read', async (_, damage) => {
  expect(await observe(2, CUT, damage)).toEqual(await observe(2))
})

test('a checkpoint is ignored if the store once leaves out an entry before it', async () => {
  const damage: Damage = ({ entriesBefore }) => {
    let missing = 1
    return { entriesBefore: async (options) => (await entriesBefore(options)).filter((_, at) => at !== missing--) }
  }
  expect(await observe(2, CUT, damage)).toEqual(await observe(2))
})

test('a log with a missing entry before its checkpoint is reported, and no call runs', async () => {
  const damage: Damage = ({ entriesBefore }) => ({
    entriesBefore: async (options) => (await entriesBefore(options)).filter(({ seq }) => seq !== CUT - 2),
  })
  await expect(observe(2, CUT, damage)).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('The event log has a missing or repeated entry: entry 29 follows entry 27.'),
  })
})
