import { approve, InMemorySessionService, LlmAgent, type Model, Runner, tool } from 'toolwright'
import { expect, test } from 'vitest'
import type { Content } from '../../../core/content/content.ts'
import type { Checkpoint, HeldLog, Lease } from '../../../services/session/service.ts'
import { AgentTree } from '../../agent/agents/agent-tree.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import { toCheckpoint } from '../../agent/loop/view-checkpoint.ts'

type Damage = (checkpoint: Checkpoint) => Partial<Checkpoint>

/** Hands over a checkpoint after `cut` entries, and the entries after it. */
class CheckpointStore extends InMemorySessionService {
  cut: number | undefined
  damage: Damage = () => ({})
  readonly tree: AgentTree
  constructor(tree: AgentTree) {
    super()
    this.tree = tree
  }
  override async read(lease: Lease): Promise<HeldLog> {
    const { entries, state } = await super.read(lease)
    const { cut } = this
    if (cut === undefined || cut === 0 || cut > entries.length) return { entries: [...entries], state }
    const before = entries.slice(0, cut)
    const view = new SessionView(this.tree)
    view.catchUp(before)
    const entriesBefore = async () => structuredClone(before)
    const checkpoint = { seq: cut, state: JSON.parse(JSON.stringify(toCheckpoint(view, this.tree))), entriesBefore }
    return { entries: entries.slice(cut), state, checkpoint: { ...checkpoint, ...this.damage(checkpoint) } }
  }
}

/** A conversation with an approval in the second turn: what the model saw, and the kinds of the entries. */
async function converse(cut: number | undefined, damage: Damage = () => ({})): Promise<unknown> {
  const seen: (readonly Content[])[] = []
  const model: Model = {
    name: 'refunds',
    async *generate({ contents }) {
      seen.push(structuredClone(contents))
      const isAnswered = contents.at(-1)?.role === 'tool'
      const functionCall = { id: `call-${contents.length}`, name: 'refund', args: { n: contents.length } }
      yield { content: { role: 'model', parts: [isAnswered ? { text: 'Done.' } : { functionCall }] } }
    },
  }
  const refund = tool({
    name: 'refund',
    description: 'Refund',
    parameters: { type: 'object', properties: { n: { type: 'number' } } },
    requiresConfirmation: ({ n }) => Number(n) > 1,
    run: ({ n }) => ({ n: Number(n) }),
  })
  const agent = new LlmAgent({ name: 'clerk', model, tools: [refund] })
  const store = new CheckpointStore(new AgentTree(agent, { plugins: [], resolveModel: () => expect.fail('no names') }))
  store.damage = damage
  const where = { userId: 'ada', sessionId: 's1' }
  const start = (): Runner => new Runner({ appName: 'shop', agent, sessionService: store })
  await start().complete({ ...where, message: 'One.' })
  const { pending } = await start().complete({ ...where, message: 'Two.' })
  store.cut = cut
  const answer = pending.map((request) => approve(request))
  const { text } = await start().complete({ ...where, message: answer })
  const repeated = await start().complete({ ...where, message: answer })
  const third = await start().complete({ ...where, message: 'Three.' })
  const session = await store.getSession({ appName: 'shop', ...where })
  const log = session?.events.map(({ author, content, errorCode }) => [author, content?.role, errorCode])
  return { seen, text, repeated: repeated.text, asked: third.pending.length, log }
}

test('a run of a session that was read with a checkpoint is the same as with the whole log', async () => {
  const whole = await converse(undefined)
  expect(whole).toMatchObject({ text: 'Done.', repeated: 'Done.', asked: 1 })
  for (let cut = 1; cut <= 14; cut++) expect(await converse(cut), `checkpoint after entry ${cut}`).toEqual(whole)
})

test.each<[string, Damage]>([
  ['of another version', ({ state }) => ({ state: { ...state, version: 99 } })],
  ['of other agents', ({ state }) => ({ state: { ...state, agents: '["other"]' } })],
  ['without its folds', ({ state }) => ({ state: { ...state, open: null } })],
  ['of another entry', ({ seq }) => ({ seq: seq - 1 })],
])('a checkpoint %s is ignored, and the whole log is folded', async (_, damage) => {
  expect(await converse(8, damage)).toEqual(await converse(undefined))
})
